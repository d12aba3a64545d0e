"""The in-process worker: takes up the to-do list in the background, one batch after the other.

Its thread starts with the first `add` or `flush`, never by opening a bank, so that a command that only reads pays
nothing. The to-do list is in the database: stopping the worker, or the process, loses nothing.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from everwhen.errors import EverwhenError, Unavailable
from everwhen.store.rows import TurnForgotten, Work
from everwhen.store.sql.jobs import ExtractionJobs
from everwhen.write.extract.base import BATCH_TURNS, LOOK_BACK_TURNS, Extraction

CLAIM_SECONDS = 300.0
"""How long a claim holds unless it is renewed, which is done three times as often while a batch is being read. A
process that ends gives it up at once."""
POLL_SECONDS = 0.2
"""How often a waiter looks when another process does the work."""

Process = Callable[[Work], Extraction]


class Worker:
    """Extracts what is pending, on a thread of its own. Every method may be called from any thread."""

    def __init__(self, jobs: ExtractionJobs, process: Process) -> None:
        self._jobs = jobs
        self._process = process
        self.behind: Callable[[Callable[[], bool]], object] | None = None
        """What is done when the list is empty and something was extracted; it is given whether it may go on."""
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._state = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = self._answered = (
            0  # how often a look at the to-do list was asked for, and up to which it was done
        )
        self._busy = False  # the thread is at a batch
        self._pauses = 0  # how many callers keep it from beginning another
        self._closed = False
        self._steps = 0  # grows whenever something has changed that a waiter may wait for
        self._error: BaseException | None = None

    def wake(self) -> None:
        """Have the to-do list looked at; returns at once."""
        with self._state:
            if self._closed:
                return
            self._asked, self._error = self._asked + 1, None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="everwhen-extraction", daemon=True)
                self._thread.start()
                _stop_before_exit(self)
            self._step()

    def wait(
        self, upto: int, timeout: float | None = None, progress: Callable[[int], None] | None = None
    ) -> int:
        """Until no turn up to a place is pending, or the time is over; how many of them still are.

        Turns that come later are not waited for: a reader ends, however much is being written. `progress` hears how
        many are left.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._state:
                steps = self._steps
            if not self._jobs.waits(upto):
                break
            if progress:
                progress(self._jobs.pending(upto))
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return self._jobs.pending(upto)
            self._look_again(steps, POLL_SECONDS if left is None else min(POLL_SECONDS, left))
        if progress:
            progress(0)
        return 0

    def _look_again(self, steps: int, seconds: float) -> None:
        """Wait for the next step of the worker, or a while: another process may be at it."""
        with self._state:
            idle = self._asked == self._answered
        if idle:
            self.wake()
        with self._state:
            if self._closed:
                raise Unavailable("the bank was closed while its extraction was waited for; open it again")
            self._state.wait_for(lambda: self._steps != steps + idle or self._closed, seconds)
            if self._error is not None:
                raise self._error

    def rest(self, timeout: float | None = None) -> None:
        """Until the thread has nothing left to do, or the time is over."""
        with self._state:
            self._state.wait_for(lambda: self._asked == self._answered or not self._may_go_on(), timeout)
            if self._error is not None:
                raise self._error

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The running batch is finished first; no other begins inside the block, whoever wakes the worker."""
        with self._state:
            self._pauses += 1
            self._step()
            self._state.wait_for(lambda: not self._busy)
        try:
            yield
        finally:
            with self._state:
                self._pauses -= 1
                self._step()

    def close(self) -> None:
        """Finish the running batch and stop for good; the rest stays on the to-do list."""
        with self._state:
            self._closed = True
            self._step()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _step(self) -> None:
        self._steps += 1
        self._state.notify_all()

    def _may_go_on(self) -> bool:
        return not self._closed and not self._pauses

    def _run(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(
                    lambda: self._closed or (self._asked != self._answered and not self._pauses)
                )
                if self._closed:
                    return
            self._drain()

    def _drain(self) -> None:
        """Batch after batch, until nothing is left that nobody else is at."""
        read = False
        while True:
            with self._state:
                if not self._may_go_on():
                    return
                self._busy, asked = True, self._asked
            try:
                more = self._next_batch()
                read |= more
                if read and not more and self.behind is not None:
                    self.behind(partial(lambda before: self._may_go_on() and self._asked == before, asked))
            except Exception as error:
                self._fail(error)
                more = False
            with self._state:
                self._busy = False
                if not more:
                    self._answered = asked  # whoever asked meanwhile is not answered yet
                self._step()
            if not more:
                return

    def _next_batch(self) -> bool:
        work = self._jobs.claim(self._owner, BATCH_TURNS, LOOK_BACK_TURNS, CLAIM_SECONDS)
        if work is None:
            if self._jobs.waits():  # another process is at it
                with self._state:
                    self._state.wait_for(lambda: not self._may_go_on(), POLL_SECONDS)
            return False
        try:
            with self._renewing():
                self._process(work)
        except TurnForgotten:  # what is left of the batch is read again, without it
            self._jobs.release(self._owner)
        return True

    @contextmanager
    def _renewing(self) -> Iterator[None]:
        """Renew the claim inside the block: a model may take longer for a batch than a claim holds."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(CLAIM_SECONDS / 3):
                with suppress(EverwhenError):  # the next round may do it
                    self._jobs.heartbeat(self._owner, CLAIM_SECONDS)

        thread = threading.Thread(target=renew, name="everwhen-claim", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _fail(self, error: Exception) -> None:
        """Keep the error for whoever waits; the turns go back to the list."""
        with self._state:
            self._error = error
        try:
            self._jobs.release(self._owner)
        except EverwhenError:
            return  # the bank is closed or deleted: the claims end with the process


_started: weakref.WeakSet[Worker] = weakref.WeakSet()
_watching = threading.Lock()
_watch: threading.Thread | None = None


def _stop_before_exit(worker: Worker) -> None:
    """Stop a worker when the program ends, though nobody closed its bank.

    A thread inside a native library would crash the interpreter that is taken down around it. Python waits for threads
    that are no daemons before it does so: one such thread waits for the main thread to end, and then for the batches.
    """
    global _watch  # noqa: PLW0603
    with _watching:
        _started.add(worker)
        if _watch is None or not _watch.is_alive():
            _watch = threading.Thread(target=_stop_all, name="everwhen-exit")
            _watch.start()


def _stop_all() -> None:
    threading.main_thread().join()
    for worker in list(_started):
        worker.close()
