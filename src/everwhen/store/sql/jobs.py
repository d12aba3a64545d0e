"""The work of a bank that is done later, on lists in its tables."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from everwhen.store.base import BankRows, Sql, restart_turns, turn_of
from everwhen.store.files.home import is_running
from everwhen.store.rows import Work
from everwhen.store.sql.tree import TreeJobs
from everwhen.types import Turn
from everwhen.types.times import to_text

_LAST = 2**63 - 1
"""A place behind every turn."""


class ExtractionJobs:
    """Turns that nothing has been made of yet. `Store.append` puts them on the list.

    A claim is a lease: it ends by itself unless it is renewed, and at once when its process is known to have ended.
    """

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    def watermark(self) -> int:
        """The place (`seq`) of the turn that was added last; 0 where there is none."""
        return int(self._bank.read("newest_turn")[0][0])

    def pending(self, upto: int | None = None) -> int:
        """How many turns, up to a place, are on the list, claimed ones included."""
        return self._ask_pending("count_pending", upto)

    def waits(self, upto: int | None = None) -> bool:
        """Whether any of them does. Costs the same however many there are."""
        return bool(self._ask_pending("something_pending", upto))

    def _ask_pending(self, statement: str, upto: int | None) -> int:
        return int(self._bank.read(statement, (_LAST if upto is None else upto,))[0][0])

    def claim(self, owner: str, turns: int, overlap: int, seconds: float) -> Work | None:
        """Take the next piece of the list; None when there is none that nobody else is working on."""
        if not self.waits():
            return None
        now = datetime.now(UTC)
        with self._bank.writer.transaction() as sql:
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
        """Renew all claims of the owner, from now on."""
        expires = to_text(datetime.now(UTC) + timedelta(seconds=seconds))
        with self._bank.writer.transaction() as sql:
            sql.run("renew_claims", (expires, owner))

    def release(self, owner: str) -> None:
        """Give back what the owner has claimed and not done."""
        with self._bank.writer.transaction() as sql:
            sql.run("release_leases_of", (owner,))

    def enqueue(self, turns: Sequence[str] | None = None) -> int:
        """Remove what was derived from turns (all by default) and put them on the list; how many."""
        with self._bank.writer.transaction() as sql:
            if turns is None:
                seqs = [row[0] for row in sql.run("all_turn_seqs")]
            else:
                seqs = [row[0] for row in sql.run("turns_to_restart", (list(turns),))]
            restart_turns(sql, seqs)
            if turns is None:
                sql.run("drop_seen_names")
            sql.run("drop_unknown_entities")
        return len(seqs)


def _forget_the_dead(sql: Sql, now: datetime) -> None:
    """Drop claims that are too old, and those of processes of this machine that are no more."""
    sql.run("drop_old_claims", (to_text(now),))
    for (owner,) in sql.run("claim_owners").fetchall():
        host, _, rest = owner.partition(":")
        process = rest.partition(":")[0]
        if host == socket.gethostname() and process.isdigit() and not is_running(int(process)):
            sql.run("release_leases_of", (owner,))


class ScrubJob(Protocol):
    """Removed rows whose bytes may still be in the files. The transaction that removes them asks for it."""

    def waits(self) -> bool: ...

    def run(self) -> bool:
        """Overwrite what is left of them; False while another process stands in the way."""
        ...


class IndexJob(Protocol):
    """The index by which a large bank is searched, where a database makes one that is not there yet."""

    def waits(self) -> bool: ...

    def run(self) -> bool:
        """Make it, while others go on reading and writing; False where none is wanted, or another process is at it."""
        ...


@dataclass(frozen=True, slots=True)
class Jobs:
    """Used by: the worker, the tree, keep, and whoever asks how much is to do. Uses: the same database as the turns."""

    extraction: ExtractionJobs
    tree: TreeJobs
    scrubbing: ScrubJob
    indexing: IndexJob
