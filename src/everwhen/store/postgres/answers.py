"""What all servers over one database share in PostgreSQL: idempotency keys, and who is there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from everwhen.store.answers import Refusal, StoredAnswer
from everwhen.store.postgres.errors import translate
from everwhen.store.postgres.server import Cursor, server_of

_WAIT = 10.0
"""Seconds that a connection is waited for."""
_BANK = re.compile(r"^/v1/banks/([^/\n]+)", re.MULTILINE)

_CLAIM = """
WITH old AS (
    DELETE FROM answers WHERE asked IN (
        SELECT asked FROM answers WHERE at < now() - make_interval(secs => %(kept)s) AND asked <> %(asked)s
        LIMIT 100 FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO answers AS a (asked, bank, digest, at, claim, until)
VALUES (%(asked)s, %(bank)s, %(digest)s, now(), %(claim)s, now() + make_interval(secs => %(lease)s))
ON CONFLICT (asked) DO UPDATE
SET digest = excluded.digest, at = excluded.at, claim = excluded.claim, until = excluded.until,
    status = NULL, media = NULL, body = NULL
WHERE a.at < now() - make_interval(secs => %(kept)s)
   OR (a.status IS NULL AND a.digest = excluded.digest
       AND (a.until IS NULL OR a.until < now() OR a.claim = excluded.claim))
RETURNING 1
"""
_FOUND = "SELECT digest, status, media, body FROM answers WHERE asked = %(asked)s"
_KEEP = """
UPDATE answers SET status = %(status)s, media = %(media)s, body = %(body)s, claim = NULL, until = NULL
WHERE asked = %(asked)s AND claim = %(claim)s
"""
_RELEASE = "DELETE FROM answers WHERE asked = %(asked)s AND claim = %(claim)s"
_RENEW = """
UPDATE answers SET until = now() + make_interval(secs => %(lease)s) WHERE claim = ANY (%(claims)s::text[])
"""
_PRESENT = """
WITH here AS (
    INSERT INTO servers (name, until) VALUES (%(server)s, now() + make_interval(secs => %(lease)s))
    ON CONFLICT (name) DO UPDATE SET until = excluded.until
),
gone AS (
    DELETE FROM servers WHERE name IN (
        SELECT name FROM servers WHERE until < now() AND name <> %(server)s LIMIT 100 FOR UPDATE SKIP LOCKED)
)
SELECT count(*) + 1 FROM servers WHERE until >= now() AND name <> %(server)s
"""
_LEAVE = "DELETE FROM servers WHERE name = %(server)s"
_TRIM = "DELETE FROM answers WHERE at < (SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET %(most)s)"
_FORGET = "DELETE FROM answers WHERE bank = %(bank)s AND status IS NOT NULL"


class PostgresAnswers:
    """The `Answers` of one database. See `everwhen.store.answers` for what each call promises."""

    def __init__(self, address: str, hours: float) -> None:
        self._server = server_of(address)
        self._kept = hours * 3600

    def claim(self, asked: str, digest: bytes, claim: str, lease: float) -> StoredAnswer | Refusal | None:
        named = _BANK.search(asked)
        values = {
            "asked": _key(asked),
            "bank": named[1] if named else "",
            "digest": digest,
            "claim": claim,
            "lease": lease,
            "kept": self._kept,
        }
        while True:
            with self._run(_CLAIM, values) as claimed:
                if claimed.fetchone():
                    return None
            with self._run(_FOUND, {"asked": _key(asked)}) as found:
                row = found.fetchone()
            if row is None:  # given up in between: it is free
                continue
            if row[0] != digest:
                return "other"
            return "busy" if row[1] is None else StoredAnswer(row[1], row[2], row[3])

    def keep(self, asked: str, claim: str, answer: StoredAnswer) -> None:
        given = {"status": answer.status, "media": answer.media, "body": answer.body}
        self._done(_KEEP, {"asked": _key(asked), "claim": claim, **given})

    def release(self, asked: str, claim: str) -> None:
        self._done(_RELEASE, {"asked": _key(asked), "claim": claim})

    def renew(self, claims: list[str], lease: float) -> None:
        self._done(_RENEW, {"claims": claims, "lease": lease})

    def present(self, server: str, lease: float) -> int:
        with self._run(_PRESENT, {"server": server, "lease": lease}) as found:
            row = found.fetchone()
        return row[0] if row else 1

    def leave(self, server: str) -> None:
        self._done(_LEAVE, {"server": server})

    def trim(self, most: int) -> None:
        self._done(_TRIM, {"most": most - 1})

    def forget(self, bank: str) -> None:
        self._done(_FORGET, {"bank": bank})

    def _done(self, text: str, values: dict[str, Any]) -> None:
        with self._run(text, values):
            pass

    @contextmanager
    def _run(self, text: str, values: dict[str, Any]) -> Iterator[Cursor]:
        """Each statement is a transaction, and may be repeated: one that meets a lost connection is."""
        try:
            with self._server.lent(_WAIT) as lent:
                yield lent.execute(text, values)
        except psycopg.Error as error:
            raise translate(error, "", self._server.where, _WAIT) from error


def _key(asked: str) -> bytes:
    return hashlib.sha256(asked.encode()).digest()
