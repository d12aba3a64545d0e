"""Idempotency keys: a write that is sent again gets the answer of the first time, and is not done twice.

Kept on disk, since the time to ask again is after a crash; by key, bank and route, so that nobody reads another's.
A write that is being done is claimed there too, so that the workers of one server do not both do it. A claim is a
lease that its process renews: the claims of a process that died end by themselves.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from pathlib import Path
from typing import Protocol

from everwhen.files.private import DatabaseBusy, private_database
from everwhen.serve.problems import Problem
from everwhen.store.answers import StoredAnswer

FILE = "answers.sqlite"
LONGEST = 255
"""Characters of an idempotency key."""
MOST = 100_000
"""Answers that are kept; the oldest go first."""
EVERY = 500
"""Answers between two looks at how many there are."""
LEASE = 10.0
"""Seconds that a claim is good for unless it is renewed, which is done three times as often."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  asked TEXT PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL,
  status INTEGER, media TEXT, body BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS answers_at ON answers (at);
CREATE TABLE IF NOT EXISTS claims (
  asked TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL
) STRICT;
"""


class IdempotencyKeys(Protocol):
    """What was answered to which idempotency key. Above: the routes that write. Below: a file, or a database."""

    def begin(self, asked: str, body: bytes) -> StoredAnswer | None:
        """The answer of the first time; None when this is the first time, which `finish` or `abandon` ends."""
        ...

    def finish(self, asked: str, answer: StoredAnswer) -> None:
        """Keep the answer."""
        ...

    def abandon(self, asked: str) -> None:
        """It failed for now: the same key may try again."""
        ...

    def forget(self, bank: str) -> None:
        """Drop the answers about a bank: they may have words in them that are forgotten now."""
        ...

    def close(self) -> None: ...


def another_request() -> Problem:
    return Problem(422, "this Idempotency-Key was used for another request; take a new one", "UsageError")


def still_answered() -> Problem:
    return Problem(
        409,
        "the first request with this Idempotency-Key is still being answered; ask again later",
        headers={"Retry-After": "1"},
    )


class IdempotencyStore:
    """The `IdempotencyKeys` of a folder, for one server and its workers."""

    def __init__(self, folder: Path, hours: float, most: int = MOST, lease: float = LEASE) -> None:
        self._sql = private_database(folder / FILE, _SCHEMA, durable=False)
        self._sql.execute(
            "PRAGMA secure_delete = ON"
        )  # what is dropped is overwritten: answers have words in them
        self._lock = threading.Lock()
        self._seconds = hours * 3600
        self._most = most
        self._lease = lease
        self._owner = uuid.uuid4().hex
        self._claimed: set[str] = set()
        self._finished = 0
        self._closing = threading.Event()
        threading.Thread(target=self._renew, name="everwhen-claims", daemon=True).start()

    def begin(self, asked: str, body: bytes) -> StoredAnswer | None:
        """The answer of the first time; None when this is the first time, which `finish` or `abandon` ends."""
        digest = hashlib.sha256(body).digest()
        with self._lock, self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            now = time.time()
            self._sql.execute("DELETE FROM answers WHERE at < ?", (now - self._seconds,))
            row = self._sql.execute(
                "SELECT digest, status, media, body FROM answers WHERE asked = ?", (asked,)
            ).fetchone()
            if row is not None and row[0] != digest:
                raise another_request()
            if row is not None and row[1] is not None:
                return StoredAnswer(row[1], row[2], row[3])
            claim = "SELECT 1 FROM claims WHERE asked = ? AND until >= ?"
            if self._sql.execute(claim, (asked, now)).fetchone():
                raise still_answered()
            self._sql.execute(
                "INSERT INTO answers (asked, digest, at) VALUES (?, ?, ?) "
                "ON CONFLICT (asked) DO UPDATE SET at = excluded.at",
                (asked, digest, now),
            )
            self._sql.execute(
                "INSERT OR REPLACE INTO claims (asked, owner, until) VALUES (?, ?, ?)",
                (asked, self._owner, now + self._lease),
            )
            self._claimed.add(asked)
        return None

    def finish(self, asked: str, answer: StoredAnswer) -> None:
        """Keep the answer."""
        with self._lock, self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            if self._release(asked):
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
        with self._lock, self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            if self._release(asked):
                self._sql.execute("DELETE FROM answers WHERE asked = ?", (asked,))

    def _release(self, asked: str) -> bool:
        """Give up a claim; False where it ran out meanwhile and another process has taken the write up."""
        self._claimed.discard(asked)
        mine = "DELETE FROM claims WHERE asked = ? AND owner = ?"
        return self._sql.execute(mine, (asked, self._owner)).rowcount > 0

    def _renew(self) -> None:
        """Keep the claims of this process good for as long as it lives."""
        while not self._closing.wait(self._lease / 3):
            try:
                with self._lock:
                    if self._claimed and not self._closing.is_set():
                        renewed = (time.time() + self._lease, self._owner)
                        self._sql.execute("UPDATE claims SET until = ? WHERE owner = ?", renewed)
            except DatabaseBusy:  # the next round may do it
                continue

    def forget(self, bank: str) -> None:
        """Drop the answers about a bank, down to the bytes: they may have words in them that are forgotten now."""
        with self._lock:
            self._sql.execute(
                "DELETE FROM answers WHERE status IS NOT NULL AND (instr(asked, ?) OR instr(asked, ?))",
                (f"\n/v1/banks/{bank}\n", f"\n/v1/banks/{bank}/"),
            )
            self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            self._sql.execute("DELETE FROM claims WHERE owner = ? OR until < ?", (self._owner, time.time()))
            self._sql.close()
