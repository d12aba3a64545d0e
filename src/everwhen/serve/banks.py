"""The banks that are open, and the threads in which calls on them run.

A bounded number of banks is open: the least recently used is closed first, none while it is in use.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from everwhen.api.extraction_wait import begin_wait
from everwhen.api.memory import Memory
from everwhen.api.memory.maintenance import drop_cached
from everwhen.errors import EverwhenError, NotFound
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.telemetry import say
from everwhen.store.banks import open_banks

R = TypeVar("R")


# Threads

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


# Banks


@dataclass
class ServedBank:
    """A bank that is open, and how many calls use it now."""

    memory: Memory
    users: int = 0
    dropped: bool = False
    changing: threading.Lock = field(default_factory=threading.Lock)
    """Held by a write that has looked first (If-Match)."""


class Banks:
    """Opens banks when they are asked for, and runs calls on them in threads, for each key in turn."""

    def __init__(self, serving: ServerSettings) -> None:
        self._home: Path = serving.home
        self._store = serving.store
        self.stored = open_banks(serving.home, store=serving.store)
        self._most = serving.open_banks
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: OrderedDict[str, ServedBank] = OrderedDict()
        at_a_time = serving.calls_at_a_time
        self._quick = FairPool(at_a_time, "everwhen-call")
        # What waits (for extraction, for a language model) waits elsewhere: it must not hold up a recall. Waiting has
        # many threads, computing has few.
        self._patient = FairPool(4 * at_a_time, "everwhen-wait")
        self._reads = FairPool(at_a_time, "everwhen-read")
        # A pattern can be made to take all the time that it may have: one at a time for each key.
        self._searches = FairPool(2, "everwhen-search")

    # Calls

    async def call(self, bank: str, act: Callable[[Memory], R], *, create: bool = False) -> R:
        """Run something short on a bank."""
        return await self._run(self._quick, bank, act, create)

    async def wait(self, bank: str, act: Callable[[Memory], R], *, create: bool = False) -> R:
        """Run something on a bank that may take long."""
        return await self._run(self._patient, bank, act, create)

    async def read(self, bank: str, act: Callable[[Memory], R], *, most: int | None = None) -> R:
        """Run something that needs all turns extracted: waits for that, once and not for ever
        (`everwhen.api.extraction_wait`); not at all where more than `most` are not."""
        await self.extracted(bank, most)
        return await self._run(self._reads, bank, act, False)

    async def extracted(self, bank: str, most: int | None = None) -> None:
        """Wait for the extraction of what is there, where waiting holds up nobody; what is read then does not wait."""
        await self.wait(bank, lambda memory: memory._bank.settle(most))

    async def search(self, bank: str, act: Callable[[Memory], R]) -> R:
        """Run something on a bank that is made slow with ease: a search by a regular expression."""
        return await self._run(self._searches, bank, act, False)

    async def stream(
        self, bank: str, act: Callable[[Memory], Iterator[R]], *, waits: bool
    ) -> AsyncIterator[R]:
        """What something gives piece by piece, after all turns are extracted. `waits`: a language model gives it.

        When nobody listens any more it is closed after its next piece.
        """
        pool = self._patient if waits else self._reads

        def pieces() -> Generator[R, None, None]:
            with self.lease(bank) as memory:
                yield from act(memory)

        def settle() -> None:
            begin_wait()
            with self.lease(bank) as memory:
                memory._bank.settle()

        context, made = contextvars.copy_context(), pieces()
        await asyncio.wrap_future(self._patient.submit(partial(context.run, settle)))

        def advance() -> tuple[R] | None:
            for piece in made:
                return (piece,)
            return None

        def end(step: asyncio.Future[tuple[R] | None]) -> None:
            step.exception()  # nobody else will look at it
            made.close()

        while True:
            step = asyncio.wrap_future(pool.submit(partial(context.run, advance)))
            try:
                found = await asyncio.shield(step)
            except asyncio.CancelledError:
                step.add_done_callback(end)  # the thread is in the middle of the next piece
                raise
            if found is None:
                return
            yield found[0]

    async def aside(self, act: Callable[[str], R], bank: str) -> R:
        """Run something that opens no bank."""
        return await asyncio.wrap_future(self._patient.submit(partial(act, bank)))

    async def _run(self, pool: FairPool, bank: str, act: Callable[[Memory], R], create: bool) -> R:
        def work() -> R:
            with self.lease(bank, create=create) as memory:
                return act(memory)

        context = contextvars.copy_context()
        return await asyncio.wrap_future(pool.submit(partial(context.run, work)))

    @contextmanager
    def lease(self, bank: str, *, create: bool = False) -> Iterator[Memory]:
        """The bank, open for as long as the block runs."""
        one = self._take(bank, create)
        try:
            yield one.memory
        finally:
            self._give_back(bank, one)

    @contextmanager
    def changing(self, bank: str) -> Iterator[None]:
        """Nobody else who asks for this changes the bank inside the block: in this process, and where servers share a
        database in all of them."""
        with self._lock:
            one = self._open.get(bank)
        if one is None:
            yield
            return
        with one.changing, self.stored.alone(bank):
            yield

    # What the server looks at

    def opened(self) -> list[str]:
        with self._lock:
            return list(self._open)

    def drop(self, bank: str) -> None:
        """Close a bank as soon as nobody uses it; who comes next opens it anew."""
        with self._lock:
            one = self._open.pop(bank, None)
            if one is None:
                return
            one.dropped = True
            unused = one.users == 0
        if unused:
            one.memory.close()

    def rezone(self, bank: str, zone: str) -> None:
        with self._opening_of(bank):
            Memory.open(self._home, bank, store=self._store, create=False, zone=zone).close()
            self.drop(bank)

    def remove(self, bank: str) -> None:
        """Delete a bank. Whoever still reads it in this process finishes first or fails alone."""
        if self.stored.exists(bank):
            self._uncache(bank)
        with self._opening_of(bank):
            if not self.stored.exists(bank):
                raise NotFound(f"there is no bank '{bank}'")
            self.drop(bank)
            self.stored.drop(bank)

    def _uncache(self, bank: str) -> None:
        try:
            with self.lease(bank) as memory:
                problems = drop_cached(memory._bank)
        except EverwhenError as error:  # a damaged bank can be deleted all the same
            problems = [type(error).__name__]
        if problems:
            say(
                "cached vectors of a deleted bank may be left",
                logging.WARNING,
                bank=bank,
                problem=problems[0],
            )

    def close(self) -> None:
        """Let running calls finish, then close every bank: batches that are being extracted end first."""
        self._quick.close()
        for pool in (self._reads, self._searches, self._patient):
            pool.close(cancel=True)
        for bank in self.opened():
            self.drop(bank)

    def _take(self, bank: str, create: bool) -> ServedBank:
        with self._opening_of(bank):  # two requests for a closed bank open it once
            with self._lock:
                one = self._open.get(bank)
                if one is not None:
                    one.users += 1
                    self._open.move_to_end(bank)
                    return one
            one = ServedBank(Memory.open(self._home, bank, store=self._store, create=create), users=1)
            with self._lock:
                self._open[bank] = one
        self._close_surplus()
        return one

    def _give_back(self, bank: str, one: ServedBank) -> None:
        with self._lock:
            one.users -= 1
            unused = one.dropped and one.users == 0
        if unused:
            one.memory.close()
        self._close_surplus()

    def _close_surplus(self) -> None:
        """Close banks beyond the bound that nobody uses."""
        with self._lock:
            unused = [name for name, one in self._open.items() if one.users == 0]
            closed = [self._open.pop(name) for name in unused[: max(0, len(self._open) - self._most)]]
        for one in closed:
            one.memory.close()

    def _opening_of(self, bank: str) -> threading.Lock:
        with self._lock:
            if len(self._opening) > 4 * self._most:
                self._opening = {
                    name: lock for name, lock in self._opening.items() if lock.locked() or name in self._open
                }
            return self._opening.setdefault(bank, threading.Lock())
