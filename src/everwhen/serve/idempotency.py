"""Idempotency keys: a write that is sent again gets the answer of the first time, and is not done twice.

Kept on disk, since the time to ask again is after a crash; by key, bank and route, so that nobody reads another's.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from everwhen.serve.private import private_database
from everwhen.serve.problems import Problem

FILE = "answers.sqlite"
LONGEST = 255
"""Characters of an idempotency key."""
MOST = 100_000
"""Answers that are kept; the oldest go first."""
EVERY = 500
"""Answers between two looks at how many there are."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  asked TEXT PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL,
  status INTEGER, media TEXT, body BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS answers_at ON answers (at);
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was given."""

    status: int
    media: str
    body: bytes


class Answers:
    """What was answered to which idempotency key."""

    def __init__(self, folder: Path, hours: float, most: int = MOST) -> None:
        self._sql = private_database(folder / FILE, _SCHEMA, durable=False)
        self._sql.execute(
            "PRAGMA secure_delete = ON"
        )  # what is dropped is overwritten: answers have words in them
        self._lock = threading.Lock()
        self._seconds = hours * 3600
        self._most = most
        self._running: set[str] = set()
        self._finished = 0

    def begin(self, asked: str, body: bytes) -> Kept | None:
        """The answer of the first time; None when this is the first time, which `finish` or `abandon` ends."""
        digest = hashlib.sha256(body).digest()
        with self._lock:
            self._sql.execute("DELETE FROM answers WHERE at < ?", (time.time() - self._seconds,))
            row = self._sql.execute(
                "SELECT digest, status, media, body FROM answers WHERE asked = ?", (asked,)
            ).fetchone()
            if row is not None and row[0] != digest:
                raise Problem(
                    422, "this Idempotency-Key was used for another request; take a new one", "UsageError"
                )
            if row is not None and row[1] is not None:
                return Kept(row[1], row[2], row[3])
            if asked in self._running:
                raise Problem(
                    409,
                    "the first request with this Idempotency-Key is still being answered; ask again later",
                    headers={"Retry-After": "1"},
                )
            self._running.add(asked)
            self._sql.execute(
                "INSERT INTO answers (asked, digest, at) VALUES (?, ?, ?) "
                "ON CONFLICT (asked) DO UPDATE SET at = excluded.at",
                (asked, digest, time.time()),
            )
        return None

    def finish(self, asked: str, answer: Kept) -> None:
        """Keep the answer."""
        with self._lock:
            self._running.discard(asked)
            self._sql.execute(
                "UPDATE answers SET status = ?, media = ?, body = ? WHERE asked = ?",
                (answer.status, answer.media, answer.body, asked),
            )
            self._finished += 1
            if self._finished % EVERY == 1:
                self._sql.execute(
                    "DELETE FROM answers WHERE at < "
                    "(SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET ?)",
                    (self._most - 1,),
                )

    def abandon(self, asked: str) -> None:
        """It failed for now: the same key may try again."""
        with self._lock:
            self._running.discard(asked)
            self._sql.execute("DELETE FROM answers WHERE asked = ?", (asked,))

    def forget(self, bank: str) -> None:
        """Drop the answers about a bank, down to the bytes: they may have words in them that are forgotten now."""
        with self._lock:
            self._sql.execute(
                "DELETE FROM answers WHERE status IS NOT NULL AND (instr(asked, ?) OR instr(asked, ?))",
                (f"\n/v1/banks/{bank}\n", f"\n/v1/banks/{bank}/"),
            )
            self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with self._lock:
            self._sql.close()
