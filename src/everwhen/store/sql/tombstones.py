"""Digests of forgotten turns: they keep a turn from being added again, and reveal nothing of it.

`HMAC-SHA256(secret, id, time, text)`, with a secret of the bank. Because id and time are part of it, a later
identical "ok" is another turn, and nobody can guess short texts from the digest without knowing both. If the time of
a turn was that of its arrival, it would get another one when it is added again, so its digest has no time.
"""

from __future__ import annotations

import hashlib
import hmac

from everwhen.store.banks import ForgetAgain
from everwhen.store.base import Store
from everwhen.store.sql.session import Connection, Sql
from everwhen.types.instants import to_text


class Tombstones:
    """The tombstones of one bank, inside one transaction."""

    def __init__(self, sql: Sql, secret: str | None = None) -> None:
        self._sql = sql
        found = secret or sql.run("kept_value", ("secret",)).fetchone()[0]
        self._secret = bytes.fromhex(found)

    @property
    def any(self) -> bool:
        return self._sql.run("any_tombstone").fetchone() is not None

    def put(self, turn: str, said_at: str, recorded_at: str, text: str, at: str) -> None:
        """Instants as they are stored."""
        time = said_at if said_at != recorded_at else ""
        self._sql.run("insert_tombstone", (self._digest(turn, time, text), at))

    def put_fact(self, fact: str, at: str) -> None:
        """Facts have a random id, which is all that identifies them."""
        self._sql.run("insert_tombstone", (self._digest("fact", fact), at))

    def holds_fact(self, fact: str) -> bool:
        return self._known(self._digest("fact", fact))

    def holds(self, turn: str, said_at: str, text: str) -> bool:
        """Whether this very turn was forgotten."""
        return any(self._known(self._digest(turn, time, text)) for time in (said_at, ""))

    def pseudonym(self, text: str) -> str:
        """48 bits are enough to tell the sessions of one bank apart."""
        return self._digest("pseudonym", text).hex()[:12]

    def _known(self, digest: bytes) -> bool:
        return self._sql.run("known_tombstone", (digest,)).fetchone() is not None

    def _digest(self, *parts: str) -> bytes:
        # The length of each part before it: no two lists of parts look the same.
        whole = b"".join(b"%d:%s" % (len(raw), raw) for raw in map(_bytes, parts))
        return hmac.new(self._secret, whole, hashlib.sha256).digest()


def forget_again(live: Connection, made: Store, copy: Connection, forget: ForgetAgain) -> None:
    """The tombstones of a bank, held over another (`copy` leads to its rows): what they mean goes from there, and they
    stand there too."""
    with live.use() as sql:
        secret = sql.run("kept_value", ("secret",)).fetchone()[0]
        rows = sql.run("all_tombstones").fetchall()
        stones = Tombstones(sql, secret)
        turns = made.turns() if rows else ()
        gone = [turn.id for turn in turns if stones.holds(turn.id, to_text(turn.said_at), turn.text)]
        facts = {row.id for row in made.facts.every_version()} if rows else set()
        lost = sorted(fact for fact in facts if stones.holds_fact(fact))
    if gone or lost:
        forget(made, gone, lost)
    with copy.transaction() as sql:
        if sql.run("kept_value", ("secret",)).fetchone()[0] == secret:
            sql.run_many("insert_tombstone", rows)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
