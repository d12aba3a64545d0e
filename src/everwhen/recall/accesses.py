"""Counts what recall gives back: in memory while reading, in the bank a batch at a time, behind the reads.

A count is worth having and not worth waiting for. A read adds to a dictionary and goes on; the bank hears of it from a
thread of its own. While another process writes, the counts wait; a bank that cannot be written goes
without. A process that is killed loses what it has not written: fewer than `BATCH` recalls, as a rule.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

from everwhen.errors import EverwhenError, Unavailable, UsageError
from everwhen.store import Store
from everwhen.store.base import Access
from everwhen.types import Accessed, Recalled

BATCH = 64
"""Recalls that are written together, in one commit."""


class Accesses:
    """The counts of one open bank. Safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._counts: dict[str, Access] = {}
        self._recalls = 0
        self._due = BATCH

    @property
    def pending(self) -> int:
        """Recalls that are counted and not written yet."""
        return self._recalls

    def count(self, memories: Iterable[Recalled]) -> None:
        """One recall that gave back these; returns at once."""
        now = datetime.now(UTC)
        with self._lock:
            for memory in memories:
                before = self._counts.get(memory.id)
                self._counts[memory.id] = Access(before.times + 1 if before else 1, now)
            self._recalls += 1
            if self._recalls < self._due:
                return
            # When a bank is locked, the next attempt is a batch later, not with the next recall.
            self._due = self._recalls + BATCH
        with suppress(RuntimeError):  # no thread to be had, such as at the end of the process: close() writes
            threading.Thread(target=self.write, name="everwhen-accesses", daemon=True).start()

    def write(self) -> None:
        """Write what is pending, now. Never raises: what cannot be written now waits, or is given up."""
        with self._writing:
            with self._lock:
                recalls, counts = self._recalls, self._counts
                self._recalls, self._counts, self._due = 0, {}, BATCH
            if not recalls:
                return
            try:
                self._store.count_accesses(recalls, counts)
            except Unavailable:
                self._put_back(recalls, counts)
            except EverwhenError:
                return  # a bank that is only read

    def most(self, limit: int) -> list[Accessed]:
        """The memories that were given back most often, by all processes, those first."""
        if limit < 0:
            raise UsageError(f"limit cannot be negative, got {limit}")
        self.write()
        found = self._store.accesses(limit)
        rows = self._store.units(list(found))
        return [
            Accessed(row.id, row.kind, row.text, row.speaker, row.said_at, row.zone, *found[unit])
            for unit, row in ((unit, rows[unit]) for unit in found if unit in rows)
        ]

    def _put_back(self, recalls: int, counts: dict[str, Access]) -> None:
        with self._lock:
            for id_, newer in self._counts.items():
                older = counts.get(id_)
                counts[id_] = Access(older.times + newer.times, newer.last_at) if older else newer
            self._counts, self._recalls = counts, self._recalls + recalls
            self._due = self._recalls + BATCH
