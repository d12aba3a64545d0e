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
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from everwhen.errors import NotFound, UsageError
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


class KeyStore:
    """The keys of a home folder. Several processes may use it: a key that one revokes is void in all at once."""

    def __init__(self, folder: Path) -> None:
        self._sql = private_database(folder / FILE, _SCHEMA)
        self._lock = threading.Lock()

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
        with self._lock:
            self._sql.execute(
                "INSERT INTO keys (id, name, scope, banks, digest, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                (key.id, name, scope, json.dumps(patterns), digest(token), key.created_at.isoformat()),
            )
        return key, token

    def find(self, token: str) -> Key | None:
        """The key of a token, unless there is none or it was revoked. Takes the same time for all wrong ones."""
        match = _TOKEN.fullmatch(token)
        with self._lock:
            row = self._sql.execute(
                "SELECT id, name, scope, banks, created_at, revoked_at, digest FROM keys WHERE id = ?",
                (match[1] if match else "",),
            ).fetchone()
        right = hmac.compare_digest(digest(token), row[6] if row else _NOBODY)
        return _key(row) if row and right and row[5] is None else None

    def all(self) -> list[Key]:
        with self._lock:
            rows = self._sql.execute(
                "SELECT id, name, scope, banks, created_at, revoked_at FROM keys ORDER BY created_at, id"
            ).fetchall()
        return [_key(row) for row in rows]

    def revoke(self, id_: str) -> Key:
        """Make a key void, from now on and for good."""
        with self._lock:
            row = self._sql.execute(
                "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? "
                "RETURNING id, name, scope, banks, created_at, revoked_at",
                (datetime.now(UTC).isoformat(), id_),
            ).fetchone()
        if row is None:
            raise NotFound(f"there is no key '{id_}'; `everwhen server keys list` shows their ids")
        return _key(row)

    def close(self) -> None:
        with self._lock:
            self._sql.close()


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _key(row: tuple[str, ...]) -> Key:
    id_, name, scope, banks, created_at, revoked_at = row[:6]
    return Key(
        id_,
        name,
        scope,  # type: ignore[arg-type]  # written by `create` alone
        tuple(json.loads(banks)),
        datetime.fromisoformat(created_at),
        datetime.fromisoformat(revoked_at) if revoked_at else None,
    )
