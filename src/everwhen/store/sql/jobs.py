"""The work of a bank that is done later, on lists in its tables."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from everwhen.store.files.processes import is_running
from everwhen.store.jobs import Seen, Work
from everwhen.store.sql.part import SqlPart
from everwhen.store.sql.rows import turn_of
from everwhen.store.sql.session import Sql
from everwhen.store.sql.units import restart_turns
from everwhen.store.sql.values import bank_values, put_values
from everwhen.store.tree import BuildMark, NodePlace, SessionSpan
from everwhen.types import Turn
from everwhen.types.instants import from_text, to_text

_LAST = 2**63 - 1
"""A place behind every turn."""


class SqlExtractionJobs(SqlPart):
    """The `ExtractionJobs` of one bank: the table `pending`, and `claims` of those who work on them."""

    def watermark(self) -> int:
        return int(self._read("newest_turn")[0][0])

    def pending(self, upto: int | None = None) -> int:
        return self._ask_pending("count_pending", upto)

    def waits(self, upto: int | None = None) -> bool:
        return bool(self._ask_pending("something_pending", upto))

    def _ask_pending(self, statement: str, upto: int | None) -> int:
        return int(self._read(statement, (_LAST if upto is None else upto,))[0][0])

    def claim(self, owner: str, turns: int, overlap: int, seconds: float) -> Work | None:
        if not self.waits():
            return None
        now = datetime.now(UTC)
        with self._writer.transaction() as sql:
            _forget_the_dead(sql, now)
            found = sql.run("next_pending").fetchone()
            if found is None:
                return None
            (session,) = found
            place = sql.run("first_pending_of_session", (session,)).fetchone()
            taken: list[Turn] = []
            for row in sql.run("turns_from", (session, *place, turns)):
                if row[-1]:  # somebody has it: what follows has another turn before it
                    break
                taken.append(turn_of(row[:-1]))
            before = [turn_of(row) for row in sql.run("turns_before", (session, *place, overlap))]
            expires = to_text(now + timedelta(seconds=seconds))
            sql.run_many("insert_claim", [(turn.seq, owner, expires) for turn in taken])
        return Work(session, tuple(taken), tuple(reversed(before)))

    def heartbeat(self, owner: str, seconds: float) -> None:
        expires = to_text(datetime.now(UTC) + timedelta(seconds=seconds))
        with self._writer.transaction() as sql:
            sql.run("renew_claims", (expires, owner))

    def release(self, owner: str) -> None:
        with self._writer.transaction() as sql:
            sql.run("drop_claims_of", (owner,))

    def enqueue(self, turns: Sequence[str] | None = None) -> int:
        with self._writer.transaction() as sql:
            if turns is None:
                seqs = [row[0] for row in sql.run("all_turn_seqs")]
            else:
                seqs = [row[0] for row in sql.run("turns_to_restart", (list(turns),))]
            restart_turns(sql, seqs)
            if turns is None:
                sql.run("drop_seen_names")
            sql.run("drop_unknown_entities")
        return len(seqs)


class SqlTreeJobs(SqlPart):
    """The `TreeJobs` of one bank: the table `tree_marks`, and in `bank` how far the turns are on it."""

    def unseen(self) -> tuple[Seen, list[SessionSpan]]:
        with self._reader.snapshot() as sql:
            newest = sql.run("newest_turn").fetchone()[0]
            last = sql.run("last_taken_back").fetchone()[0]
            asked = {"seen": seen_turns(sql), "taken_back": bank_values(sql).get("tree_taken_back", "")}
            rows = sql.run("unseen_sessions", asked).fetchall()
        return Seen(newest, last), [told(row) for row in rows]

    def watermark(self) -> datetime | None:
        ((newest,),) = self._read("newest_said")
        return from_text(newest) if newest else None

    def enqueue(self, places: Sequence[NodePlace], seen: Seen | None = None) -> None:
        with self._writer.transaction() as sql:
            put_marks(sql, places)
            if seen is not None:
                taken_back = max(seen.taken_back, bank_values(sql).get("tree_taken_back", ""))
                turn = max(seen.turn, seen_turns(sql))
                put_values(sql, {"tree_seen": str(turn), "tree_taken_back": taken_back})

    def marks(self, level: int) -> list[BuildMark]:
        return [
            BuildMark(
                seq, NodePlace(node, level, from_text(starts), from_text(ends), session, parent), bool(waits)
            )
            for seq, node, level, parent, session, starts, ends, waits in self._read("marks", (level,))
        ]

    def pending(self) -> int:
        return int(self._read("count_marks")[0][0])


def _forget_the_dead(sql: Sql, now: datetime) -> None:
    """Drop claims that are too old, and those of processes of this machine that are no more."""
    sql.run("drop_old_claims", (to_text(now),))
    for (owner,) in sql.run("claim_owners").fetchall():
        host, _, rest = owner.partition(":")
        process = rest.partition(":")[0]
        if host == socket.gethostname() and process.isdigit() and not is_running(int(process)):
            sql.run("drop_claims_of", (owner,))


def put_marks(sql: Sql, places: Sequence[NodePlace]) -> None:
    sql.run_many("put_mark", [mark_row(place) for place in places])


def told(row: tuple[Any, ...]) -> SessionSpan:
    session, first, last = row
    return SessionSpan(session, from_text(first), from_text(last))


def mark_row(place: NodePlace) -> tuple[Any, ...]:
    return (place.id, place.level, place.parent, place.session, to_text(place.start), to_text(place.end))


def seen_turns(sql: Sql) -> int:
    return int(bank_values(sql).get("tree_seen") or 0)
