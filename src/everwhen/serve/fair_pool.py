"""Threads that serve the keys in turn: one key, however much it asks, leaves room for the others.

Each key has a queue of its own, and the next call is taken from the key that was served longest ago. No key holds
more than half of the threads, whether others wait or not: what runs cannot be stopped, so that whoever comes next must
find a thread that is free.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

R = TypeVar("R")

asking: ContextVar[str] = ContextVar("asking", default="")
"""The id of the key on whose behalf a call is made."""


@dataclass(frozen=True, slots=True)
class _Call:
    key: str
    act: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class FairPool:
    """A pool of threads, shared by the keys."""

    def __init__(self, threads: int, name: str) -> None:
        self.each = max(1, threads // 2)
        """Threads that one key may hold."""
        self._free = threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, deque[_Call]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._closed = False

    def submit(self, act: Callable[[], R], key: str | None = None) -> Future[R]:
        """Run something for a key, by default the one that is `asking`, when it is its turn."""
        call = _Call(asking.get() if key is None else key, act)
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._waiting.setdefault(call.key, deque()).append(call)
            self._start()
        return call.future

    def close(self, *, cancel: bool = False) -> None:
        """Finish what runs and what waits; with `cancel`, what waits is given up."""
        with self._changed:
            self._closed = True
            while cancel and self._waiting:
                for call in self._waiting.popitem()[1]:
                    call.future.cancel()
            self._changed.wait_for(lambda: not self._waiting and not self._running)
        self._threads.shutdown()

    def _start(self) -> None:
        """Give free threads their calls. The lock is held."""
        while self._free and (call := self._next()) is not None:
            self._free -= 1
            self._running[call.key] += 1
            self._threads.submit(self._work, call)

    def _next(self) -> _Call | None:
        """The next call of the key that was served longest ago among those that may have another thread."""
        key = next((key for key in self._waiting if self._running[key] < self.each), None)
        if key is None:
            return None
        calls = self._waiting[key]
        call = calls.popleft()
        self._waiting.move_to_end(key)
        if not calls:
            del self._waiting[key]
        return call

    def _work(self, call: _Call) -> None:
        try:
            if call.future.set_running_or_notify_cancel():
                call.future.set_result(call.act())
        except BaseException as error:
            call.future.set_exception(error)
        finally:
            with self._changed:
                self._free += 1
                self._running -= Counter((call.key,))  # keys that hold none are dropped
                self._start()
                self._changed.notify_all()
