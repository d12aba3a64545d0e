"""What all servers over one database share in PostgreSQL: idempotency keys, who is there, and small tables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import psycopg

from everwhen.store.answers import Refusal, StoredAnswer
from everwhen.store.postgres.server import server_of, translate, with_parameters

_WAIT = 10.0
"""Seconds that a connection is waited for."""
_BANK = re.compile(r"^/v1/banks/([^/\n]+)", re.MULTILINE)

_CLAIM = """
WITH old AS (
    DELETE FROM answers WHERE asked IN (
        SELECT asked FROM answers WHERE at < now() - make_interval(secs => :kept) AND asked <> :asked
        LIMIT 100 FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO answers AS a (asked, bank, digest, at, claim, until)
VALUES (:asked, :bank, :digest, now(), :claim, now() + make_interval(secs => :lease))
ON CONFLICT (asked) DO UPDATE
SET digest = excluded.digest, at = excluded.at, claim = excluded.claim, until = excluded.until,
    status = NULL, media = NULL, body = NULL
WHERE a.at < now() - make_interval(secs => :kept)
   OR (a.status IS NULL AND a.digest = excluded.digest
       AND (a.until IS NULL OR a.until < now() OR a.claim = excluded.claim))
RETURNING 1
"""
_FOUND = "SELECT digest, status, media, body FROM answers WHERE asked = :asked"
_KEEP = """
UPDATE answers SET status = :status, media = :media, body = :body, claim = NULL, until = NULL
WHERE asked = :asked AND claim = :claim
"""
_RELEASE = "DELETE FROM answers WHERE asked = :asked AND claim = :claim"
_RENEW = """
UPDATE answers SET until = now() + make_interval(secs => :lease) WHERE claim = ANY (:claims::text[])
"""
_PRESENT = """
WITH here AS (
    INSERT INTO servers (name, until) VALUES (:server, now() + make_interval(secs => :lease))
    ON CONFLICT (name) DO UPDATE SET until = excluded.until
),
ended AS (
    DELETE FROM servers WHERE name IN (
        SELECT name FROM servers WHERE until < now() AND name <> :server LIMIT 100 FOR UPDATE SKIP LOCKED)
)
SELECT count(*) + 1 FROM servers WHERE until >= now() AND name <> :server
"""
_LEAVE = "DELETE FROM servers WHERE name = :server"
_TRIM = "DELETE FROM answers WHERE at < (SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET :most)"
_FORGET = "DELETE FROM answers WHERE bank = :bank AND status IS NOT NULL"


class PostgresAnswers:
    """The `Shared` of one database. See `everwhen.store.answers` for what each call promises."""

    def __init__(self, address: str, hours: float) -> None:
        self._server = server_of(address)
        self._kept = hours * 3600

    def run(self, text: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        try:
            with self._server.lent(_WAIT) as lent:
                found = lent.execute(with_parameters(text), values or {})
                return found.fetchall() if found.description else []
        except psycopg.Error as error:
            raise translate(error, "", self._server.where, _WAIT) from error

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
            if self.run(_CLAIM, values):
                return None
            found = self.run(_FOUND, {"asked": _key(asked)})
            if not found:  # given up in between: it is free
                continue
            row = found[0]
            if row[0] != digest:
                return "other"
            return "busy" if row[1] is None else StoredAnswer(row[1], row[2], row[3])

    def keep(self, asked: str, claim: str, answer: StoredAnswer) -> None:
        given = {"status": answer.status, "media": answer.media, "body": answer.body}
        self.run(_KEEP, {"asked": _key(asked), "claim": claim, **given})

    def release(self, asked: str, claim: str) -> None:
        self.run(_RELEASE, {"asked": _key(asked), "claim": claim})

    def renew(self, claims: list[str], lease: float) -> None:
        self.run(_RENEW, {"claims": claims, "lease": lease})

    def present(self, server: str, lease: float) -> int:
        [(servers,)] = self.run(_PRESENT, {"server": server, "lease": lease})
        return int(servers)

    def leave(self, server: str) -> None:
        self.run(_LEAVE, {"server": server})

    def trim(self, most: int) -> None:
        self.run(_TRIM, {"most": most - 1})

    def forget(self, bank: str) -> None:
        self.run(_FORGET, {"bank": bank})


def _key(asked: str) -> bytes:
    return hashlib.sha256(asked.encode()).digest()
