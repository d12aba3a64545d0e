"""API keys: who may do what in which banks. Of a key only its digest is kept.

A key is `ew_<id>_<secret>`. The secret is 256 bits of chance, so that one round of SHA-256 is enough: there is
nothing to guess. What may be done is one scope (read, write, admin; each includes the one before) in the banks that
one of the patterns names (`*` stands for any characters).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from everwhen.errors import NotFound, Unavailable, UsageError
from everwhen.store.answers import Shared
from everwhen.store.files.private import private_database

Scope: TypeAlias = Literal["read", "write", "admin"]
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
