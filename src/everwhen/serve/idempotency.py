"""Idempotency keys: a write that is sent again gets the answer of the first time, and is not done twice.

Kept on disk, since the time to ask again is after a crash; by key, bank and route, so that nobody reads another's.
A write that is being done is claimed there too, so that two workers of one server, or two servers over one database, do
not both do it. A claim is a lease that its process renews: the claims of a process that died end by themselves.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from everwhen.errors import EverwhenError, Unavailable
from everwhen.serve.responses import Problem
from everwhen.serve.telemetry import say
from everwhen.store.answers import Answers, Refusal, StoredAnswer
from everwhen.store.files.private import DatabaseBusy, private_database

FILE = "answers.sqlite"
LONGEST = 255
"""Characters of an idempotency key."""
MOST = 100_000
"""Answers that are kept; the oldest go first."""
EVERY = 500
"""Answers between two looks at how many there are."""
LEASE = 10.0
"""Seconds that a claim is good for unless it is renewed, which is done three times as often."""
LAST_ROUND = 1.0
"""Seconds that closing waits for a renewal that is under way: a database that is away does not hold a server up."""

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


class IdempotencyKeys:
    """What was answered to which idempotency key. Used by: the routes that write. Uses: a file, or a database."""

    def __init__(self, answers: Answers, lease: float = LEASE) -> None:
        self._answers = answers
        self._lease = lease
        self._lock = threading.Lock()
        self._claims: dict[str, str] = {}
        self._unkept: dict[str, tuple[str, StoredAnswer]] = {}
        self._finished = 0
        self._name = uuid.uuid4().hex
        self.servers = 1
        """Server processes over the same database, this one included."""
        self._closing = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="everwhen-claims", daemon=True)
        self._renewing.start()

    def begin(self, asked: str, body: bytes) -> StoredAnswer | None:
        """The answer of the first time; None when this is the first time, which `finish` or `abandon` ends."""
        claim = uuid.uuid4().hex
        found = self._answers.claim(asked, hashlib.sha256(body).digest(), claim, self._lease)
        if found == "other":
            raise Problem(
                422, "this Idempotency-Key was used for another request; take a new one", "UsageError"
            )
        if found == "busy":
            said = "the first request with this Idempotency-Key is still being answered; ask again later"
            raise Problem(409, said, headers={"Retry-After": "1"})
        if found is None:
            with self._lock:
                self._claims[asked] = claim
        return found

    def finish(self, asked: str, answer: StoredAnswer) -> None:
        """Keep the answer. Where the database is away the write is answered all the same, and kept when it is back."""
        with self._lock:
            claim = self._claims.pop(asked, None)
            self._finished += 1
            trims = self._finished % EVERY == 1
            if claim is not None:
                self._unkept[asked] = (claim, answer)
        try:
            self._keep(asked)
            if trims:
                self._answers.trim(MOST)
        except (Unavailable, DatabaseBusy) as error:
            say("an answer could not be kept yet", logging.WARNING, error=str(error))

    def abandon(self, asked: str) -> None:
        """It failed for now: the same key may try again."""
        with self._lock:
            claim = self._claims.pop(asked, None)
        if claim is not None:
            try:
                self._answers.release(asked, claim)
            except (Unavailable, DatabaseBusy) as error:  # it ends by itself
                say("a claim could not be given up", logging.WARNING, error=str(error))

    def forget(self, bank: str) -> None:
        """Drop the answers about a bank: they may have words in them that are forgotten now. Also those that wait for
        their database."""
        with self._lock:
            waiting = [one for one in self._unkept if any(part in one for part in _addresses(bank))]
            for asked in waiting:
                del self._unkept[asked]
        self._answers.forget(bank)

    def close(self) -> None:
        self._closing.set()
        self._renewing.join(LAST_ROUND)
        for asked in list(self._claims):
            self.abandon(asked)
        with suppress(EverwhenError, DatabaseBusy):  # it ends by itself
            self._answers.leave(self._name)

    def _keep(self, asked: str) -> None:
        with self._lock:
            waiting = self._unkept.get(asked)
        if waiting is not None:
            self._answers.keep(asked, *waiting)
            with self._lock:
                self._unkept.pop(asked, None)

    def _renew(self) -> None:
        """Keep the claims of this process good for as long as it lives, and the answers that could not be kept; and
        say that it lives."""
        pause = 0.0
        while not self._closing.wait(pause):
            pause = self._lease / 3
            with self._lock:
                unkept = list(self._unkept)
                claims = [*self._claims.values(), *(claim for claim, _ in self._unkept.values())]
            try:
                self.servers = self._answers.present(self._name, self._lease)
                if claims:
                    self._answers.renew(claims, self._lease)
                for asked in unkept:
                    self._keep(asked)
            except (EverwhenError, DatabaseBusy):  # the next round may do it
                continue


class FolderAnswers:
    """The `Answers` of a folder, for one server and its workers."""

    def __init__(self, folder: Path, hours: float) -> None:
        self._sql = private_database(folder / FILE, _SCHEMA, durable=False)
        self._sql.execute("PRAGMA secure_delete = ON")  # answers have words in them
        self._lock = threading.Lock()
        self._is_open = True
        self._seconds = hours * 3600

    def claim(self, asked: str, digest: bytes, claim: str, lease: float) -> StoredAnswer | Refusal | None:
        with self._writing():
            now = time.time()
            self._sql.execute("DELETE FROM answers WHERE at < ?", (now - self._seconds,))
            known = "SELECT digest, status, media, body FROM answers WHERE asked = ?"
            row = self._sql.execute(known, (asked,)).fetchone()
            if row is not None and row[0] != digest:
                return "other"
            if row is not None and row[1] is not None:
                return StoredAnswer(row[1], row[2], row[3])
            # One that ran out is taken over here alone: until then its process may still finish.
            held = "SELECT 1 FROM claims WHERE asked = ? AND owner <> ? AND until >= ?"
            if self._sql.execute(held, (asked, claim, now)).fetchone():
                return "busy"
            self._sql.execute(
                "INSERT INTO answers (asked, digest, at) VALUES (?, ?, ?) "
                "ON CONFLICT (asked) DO UPDATE SET at = excluded.at",
                (asked, digest, now),
            )
            self._sql.execute(
                "INSERT OR REPLACE INTO claims (asked, owner, until) VALUES (?, ?, ?)",
                (asked, claim, now + lease),
            )
        return None

    def keep(self, asked: str, claim: str, answer: StoredAnswer) -> None:
        with self._writing():
            if self._is_given_up(asked, claim):
                self._sql.execute(
                    "UPDATE answers SET status = ?, media = ?, body = ? WHERE asked = ?",
                    (answer.status, answer.media, answer.body, asked),
                )

    def release(self, asked: str, claim: str) -> None:
        with self._writing():
            if self._is_given_up(asked, claim):
                self._sql.execute("DELETE FROM answers WHERE asked = ?", (asked,))

    def renew(self, claims: list[str], lease: float) -> None:
        with self._writing():
            until = time.time() + lease
            self._sql.executemany(
                "UPDATE claims SET until = ? WHERE owner = ?", [(until, one) for one in claims]
            )

    def present(self, server: str, lease: float) -> int:
        return 1

    def leave(self, server: str) -> None:
        with self._lock:
            self._is_open = False
            try:
                self._sql.execute("DELETE FROM claims WHERE until < ?", (time.time(),))
            finally:
                self._sql.close()

    def trim(self, most: int) -> None:
        with self._writing():
            self._sql.execute(
                "DELETE FROM answers WHERE at < (SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET ?)",
                (most - 1,),
            )

    def forget(self, bank: str) -> None:
        with self._lock:
            self._sql.execute(
                "DELETE FROM answers WHERE status IS NOT NULL AND (instr(asked, ?) OR instr(asked, ?))",
                _addresses(bank),
            )
            self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            if not self._is_open:
                raise Unavailable("the server is stopping")
            with self._sql:
                self._sql.execute("BEGIN IMMEDIATE")
                yield

    def _is_given_up(self, asked: str, claim: str) -> bool:
        """Give up a claim; False where it ran out meanwhile and another process has taken the write up."""
        mine = "DELETE FROM claims WHERE asked = ? AND owner = ?"
        return self._sql.execute(mine, (asked, claim)).rowcount > 0


def _addresses(bank: str) -> tuple[str, str]:
    """What stands in the key of each request to a bank."""
    return f"\n/v1/banks/{bank}\n", f"\n/v1/banks/{bank}/"
