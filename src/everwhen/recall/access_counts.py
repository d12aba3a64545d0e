"""Counts how often memories are recalled: in memory at first, written to the bank in batches by a background thread.

Counting never delays a recall. While another process writes, the counts wait; in a bank that cannot be written, they
are dropped. A process that is killed loses the counts it has not written: usually fewer than `BATCH` recalls.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

from everwhen.errors import EverwhenError, Unavailable, UsageError
from everwhen.store.rows import Access
from everwhen.store.sql.store import Store
from everwhen.types import Accessed, Recalled

BATCH = 64
"""Recalls that are written together, in one commit."""
MOST_WAITING = 4096
"""Recalls that wait for a locked bank; of more, the oldest are given up."""


class Accesses:
    """The counts of one open bank. Safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._given: list[tuple[datetime, list[str]]] = []
        self._due = BATCH

    @property
    def pending(self) -> int:
        """Recalls that are counted but not written yet."""
        return len(self._given)

    def count(self, memories: Iterable[Recalled]) -> None:
        """Count one recall and the memories it gave back; returns at once."""
        given = datetime.now(UTC), [memory.id for memory in memories]
        with self._lock:
            self._given.append(given)
            if len(self._given) < self._due:
                return
            # When a bank is locked, the next attempt is a batch later, not with the next recall.
            self._due = len(self._given) + BATCH
        with suppress(RuntimeError):  # no thread to be had, such as at the end of the process: close() writes
            threading.Thread(target=self.write, name="everwhen-accesses", daemon=True).start()

    def write(self) -> None:
        """Write pending counts now. Never raises: what cannot be written waits, or is dropped."""
        with self._writing:
            with self._lock:
                given, self._given, self._due = self._given, [], BATCH
            if not given:
                return
            try:
                self._store.count_accesses(len(given), _summed(given))
            except Unavailable:
                self._put_back(given)
            except EverwhenError:
                return  # a bank that is only read

    def most(self, limit: int) -> list[Accessed]:
        """The memories recalled most often, by all processes, most frequent first."""
        if limit < 0:
            raise UsageError(f"limit cannot be negative, got {limit}")
        self.write()
        found = self._store.accesses(limit)
        rows = self._store.units(list(found))
        return [
            Accessed(row.id, row.kind, row.text, row.speaker, row.said_at, row.zone, *found[unit])
            for unit, row in ((unit, rows[unit]) for unit in found if unit in rows)
        ]

    def _put_back(self, given: list[tuple[datetime, list[str]]]) -> None:
        with self._lock:
            self._given = (given + self._given)[-MOST_WAITING:]
            self._due = len(self._given) + BATCH


def _summed(given: Iterable[tuple[datetime, list[str]]]) -> dict[str, Access]:
    """How often each memory was given back, and when last; the notes are in the order of their time."""
    counts: dict[str, Access] = {}
    for at, ids in given:
        for id_ in ids:
            before = counts.get(id_)
            counts[id_] = Access(before.times + 1 if before else 1, at)
    return counts
