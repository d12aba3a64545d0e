"""A thread that keeps the tree up to date while a program runs: for a server, where nobody calls `consolidate`."""

from __future__ import annotations

import threading
from collections.abc import Callable

from everwhen.errors import EverwhenError
from everwhen.types import Consolidated

EVERY = 60.0
"""Seconds between two looks at what has closed."""


class ConsolidationThread:
    """Calls `consolidate` at intervals, and whenever it is woken. After a failure it tries again at the next
    interval.

    Windows close by the newest turn of the bank, so a run that finds nothing new costs two short queries.
    """

    def __init__(self, consolidate: Callable[[], Consolidated], every: float = EVERY) -> None:
        self._consolidate = consolidate
        self._every = every
        self._due = threading.Event()
        self._stopping = threading.Event()
        self.last: Consolidated | None = None
        """What the last look did; None before the first."""
        self.error: EverwhenError | None = None
        """What went wrong at the last look; None when nothing did."""
        self._thread = threading.Thread(target=self._run, name="everwhen-tree", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Run soon; returns at once."""
        self._due.set()

    def stop(self, timeout: float | None = None) -> None:
        """Finish the current run and stop. What is left to build stays on the list in the bank."""
        self._stopping.set()
        self._due.set()
        self._thread.join(timeout)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def __enter__(self) -> ConsolidationThread:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.last, self.error = self._consolidate(), None
            except EverwhenError as error:
                self.error = error
            self._due.wait(self._every)
            self._due.clear()
