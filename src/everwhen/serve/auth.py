"""Who may do what: API keys and the banks that they are for, the key of a request, and how often it may ask.

A key is `ew_<id>_<secret>`, and only its digest is kept. The secret is 256 bits of chance, so that one round of SHA-256
is enough: there is nothing to guess. What may be done is one scope (read, write, admin; each includes the one before)
in the banks that one of the patterns names (`*` stands for any characters).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from everwhen.api.operations.base import Scope
from everwhen.errors import NotFound, Unavailable, UsageError
from everwhen.serve.responses import Problem
from everwhen.serve.server_settings import RunningServer
from everwhen.store.answers import Shared
from everwhen.store.files.private import private_database

# Keys

SCOPES: tuple[Scope, ...] = get_args(Scope)
FILE = "keys.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, scope TEXT NOT NULL, banks TEXT NOT NULL,
  digest BLOB NOT NULL, created_at TEXT NOT NULL, revoked_at TEXT
) STRICT;
"""
_COLUMNS = "id, name, scope, banks, created_at, revoked_at"
_PATTERN = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._@+*-]{0,127}")
_TOKEN = re.compile(r"ew_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NOBODY = bytes(32)
"""Compared with when there is no such key, so that the answer takes as long."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    name: str
    scope: Scope
    banks: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None = None

    def reaches(self, bank: str) -> bool:
        """Whether the bank is one of those the key is for."""
        return any(fnmatchcase(bank, pattern) for pattern in self.banks)

    def allows(self, scope: Scope, bank: str) -> bool:
        return self.reaches(bank) and SCOPES.index(self.scope) >= SCOPES.index(scope)


class KeyFile:
    """The table of keys in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._sql = private_database(folder / FILE, _SCHEMA)
        self._lock = threading.Lock()

    def run(self, text: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._sql.execute(text, values or {}).fetchall()

    def close(self) -> None:
        with self._lock:
            self._sql.close()


class KeyStore:
    """The keys of a home folder, or of a database. Several processes, and the servers of a database, may use it: a key
    that one revokes is void in all at once."""

    def __init__(self, folder: Path, shared: Shared | None = None) -> None:
        self.is_shared = shared is not None
        self._file = KeyFile(folder) if shared is None or (folder / FILE).exists() else None
        self._run = shared.run if shared is not None else self._file.run  # type: ignore[union-attr]
        if (
            shared is not None and self._file is not None
        ):  # a server that had its keys in a file brings them along
            with suppress(Unavailable):
                for row in self._file.run(f"SELECT {_COLUMNS}, digest FROM keys"):
                    self._put(dict(zip((*_COLUMNS.split(", "), "digest"), row, strict=True)))

    def create(self, scope: str, banks: str, name: str = "") -> tuple[Key, str]:
        """A new key and its token, which is shown this once. `banks` are patterns, parted by commas."""
        if scope not in SCOPES:
            raise UsageError(f"unknown scope {scope!r}; use one of {', '.join(SCOPES)}")
        patterns = tuple(part.strip() for part in banks.split(","))
        for pattern in patterns:
            if not _PATTERN.fullmatch(pattern):
                raise UsageError(
                    f"{pattern!r} names no bank; use a bank's name or a pattern such as 'team-*'"
                )
        key = Key(secrets.token_hex(6), name, scope, patterns, datetime.now(UTC))
        token = f"ew_{key.id}_{secrets.token_urlsafe(32)}"
        written = {
            "banks": json.dumps(patterns),
            "created_at": key.created_at.isoformat(),
            "revoked_at": None,
        }
        self._put({"id": key.id, "name": name, "scope": scope, "digest": digest(token), **written})
        return key, token

    def find(self, token: str) -> Key | None:
        """The key of a token, unless there is none or it was revoked. Takes the same time for all wrong ones."""
        match = _TOKEN.fullmatch(token)
        asked = f"SELECT {_COLUMNS}, digest FROM keys WHERE id = :id"
        row = next(iter(self._run(asked, {"id": match[1] if match else ""})), None)
        right = hmac.compare_digest(digest(token), row[6] if row else _NOBODY)
        return _key(row) if row and right and row[5] is None else None

    def all(self) -> list[Key]:
        return [_key(row) for row in self._run(f"SELECT {_COLUMNS} FROM keys ORDER BY created_at, id")]

    def revoke(self, id_: str) -> Key:
        """Make a key void, from now on and for good."""
        rows = self._run(
            f"UPDATE keys SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id RETURNING {_COLUMNS}",
            {"now": datetime.now(UTC).isoformat(), "id": id_},
        )
        if not rows:
            raise NotFound(f"there is no key '{id_}'; `everwhen server keys list` shows their ids")
        return _key(rows[0])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _put(self, row: Mapping[str, Any]) -> None:
        """Write a key; one that is there already is only revoked, if that is what the row says."""
        self._run(
            f"INSERT INTO keys ({_COLUMNS}, digest) "
            "VALUES (:id, :name, :scope, :banks, :created_at, :revoked_at, :digest) "
            "ON CONFLICT (id) DO UPDATE SET revoked_at = coalesce(keys.revoked_at, excluded.revoked_at)",
            row,
        )


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _key(row: tuple[Any, ...]) -> Key:
    id_, name, scope, banks, created_at, revoked_at = row[:6]
    return Key(
        id_,
        name,
        scope,
        tuple(json.loads(banks)),
        datetime.fromisoformat(created_at),
        datetime.fromisoformat(revoked_at) if revoked_at else None,
    )


# The key of a request

_START = datetime.now(UTC)
ANYBODY = Key("anybody", "loopback without a key", "admin", ("*",), _START)
"""Whoever asks a server that was started without keys, which it can be on loopback only."""
LOCAL = Key("local", "a process of this machine's user", "admin", ("*",), _START)
"""Whoever has read the note of the running server."""


@dataclass
class Authenticator:
    """Decides who a caller is."""

    keys: KeyStore
    auth: bool
    announced: RunningServer | None = None

    def caller(self, headers: Headers) -> Key:
        """The key that a request came with; raises a problem when it is none."""
        if not self.auth:
            self._same_machine(headers)
        token = _bearer(headers)
        if token is None:
            if not self.auth:
                return ANYBODY
            raise _unknown(
                "a key is needed: send `Authorization: Bearer <key>` (`everwhen server keys create`)"
            )
        if self.announced and hmac.compare_digest(
            token.encode("utf-8", "replace"), self.announced.token.encode()
        ):
            return LOCAL
        key = self.keys.find(token)
        if key is None:
            raise _unknown(
                "this key is not known, or was revoked; `everwhen server keys list` shows those that are"
            )
        return key

    @staticmethod
    def _same_machine(headers: Headers) -> None:
        """Without keys, a web page of somebody else must not reach us through the user's browser."""
        origin = headers.get("origin")
        for host in (headers.get("host", ""), urlsplit(origin).netloc if origin is not None else None):
            if host is not None and not is_loopback(_without_port(host)):
                raise Problem(403, "this server answers to this machine only; ask it as localhost")


def admit(key: Key, scope: Scope, bank: str) -> None:
    """Raise a problem unless the key has the scope in the bank. What is in the bank is not looked at."""
    if not key.reaches(bank):
        raise Problem(403, "this key is for other banks")
    if not key.allows(scope, bank):
        raise Problem(403, f"this key may only {key.scope}; this needs the scope {scope}")


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _bearer(headers: Headers) -> str | None:
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unknown("the key belongs into `Authorization: Bearer <key>`")
    return token.strip()


def _unknown(sentence: str) -> Problem:
    return Problem(401, sentence, headers={"WWW-Authenticate": "Bearer"})


MOST_KEYS = 10_000
"""Buckets that are remembered; the one used longest ago goes first, and would be full again by then."""


@dataclass
class RateLimits:
    """`tokens = min(burst, tokens + rate * seconds)`; a request takes one. Used from the event loop alone.

    Processes that share a load share the rate: each allows its part (`processes` says how many there are now).
    """

    rate: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    processes: Callable[[], int] = lambda: 1
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, key: str) -> float:
        """0 when the request may go on, else the seconds after which the next one may."""
        now = self.clock()
        processes = self.processes()
        rate, burst = self.rate / processes, max(1.0, self.burst / processes)
        level, since = self._levels.pop(key, (burst, now))
        level = min(burst, level + rate * (now - since))
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, now)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / rate
