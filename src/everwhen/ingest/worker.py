"""The in-process worker: takes up the to-do list in the background, one batch after the other.

It starts with the first `add` or `flush`, never by opening a bank, so that a command that only reads pays nothing.
The to-do list is in the database: stopping the worker, or the process, loses nothing.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable

from everwhen.errors import EverwhenError, Unavailable
from everwhen.ingest.extract.base import BATCH_TURNS, LOOK_BACK_TURNS, Extraction
from everwhen.store import Store
from everwhen.store.graph import Work
from everwhen.store.keep import Forgotten

CLAIM_SECONDS = 300.0
"""How long a batch may take before another process may take it up; a process that ends gives it up at once."""
POLL_SECONDS = 0.2
"""How often a waiter looks when another process does the work."""

Process = Callable[[Work], Extraction]


class Worker:
    """Extracts what is pending, on a thread of its own."""

    def __init__(self, store: Store, process: Process) -> None:
        self._store = store
        self._process = process
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._state = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted = False
        self._stopping = False
        self._error: BaseException | None = None

    def wake(self) -> None:
        """Have the to-do list looked at; returns at once."""
        with self._state:
            if self._stopping:
                return
            self._wanted, self._error = True, None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="everwhen-extraction", daemon=True)
                self._thread.start()
            self._state.notify_all()

    def wait(self, timeout: float | None, progress: Callable[[int], None] | None = None) -> None:
        """Until nothing is pending. `progress` hears how many turns are left."""
        end = None if timeout is None else time.monotonic() + timeout
        while (left := self._store.graph.pending()) > 0:
            if progress:
                progress(left)
            self.wake()
            with self._state:
                if self._wanted:
                    self._state.wait(POLL_SECONDS)
                error = self._error
            if error is not None:
                raise error
            if end is not None and time.monotonic() >= end:
                raise Unavailable(
                    f"{left} turns still wait for extraction after {timeout:g} s; what was added is safe, "
                    "and `everwhen process` goes on with it"
                )
        if progress:
            progress(0)

    def stop(self) -> None:
        """Finish the running batch and stop; the rest stays on the to-do list."""
        with self._state:
            self._stopping = True
            self._state.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._state:
                while not self._wanted and not self._stopping:
                    self._state.wait()
                if self._stopping:
                    return
            self._drain()
            with self._state:
                self._wanted = False
                self._state.notify_all()

    def _drain(self) -> None:
        try:
            while not self._stopping:
                work = self._store.graph.claim(self._owner, BATCH_TURNS, LOOK_BACK_TURNS, CLAIM_SECONDS)
                if work is None:
                    if self._store.graph.pending():
                        time.sleep(POLL_SECONDS)  # another process is at it
                    return
                try:
                    self._process(work)
                except Forgotten:  # what is left of the batch is read again, without it
                    self._store.graph.release(self._owner)
                with self._state:
                    self._state.notify_all()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Keep the error for whoever waits; the turns go back to the list."""
        with self._state:
            self._error = error
            self._state.notify_all()
        try:
            self._store.graph.release(self._owner)
        except EverwhenError:
            return  # the bank is closed or gone: the claims end with the process
