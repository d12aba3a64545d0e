"""One wait for pending extraction in a call, however many reads the call is made of.

`ask` reads events, facts and dates one after the other; each of them alone would wait. Inside `one_wait` the first one
does, and the others answer from what was there then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Wait:
    """How many turns were still unread when each memory (by `id`) had waited."""

    left: dict[int, int] = field(default_factory=dict)
    patience: int = 1
    """How many times as long as else is waited, where one batch is all that waits."""

    @property
    def pending(self) -> int:
        return sum(self.left.values())


_SERVER = 0
"""Stands for all memories behind a server; no `id` is 0."""
_current: ContextVar[Wait | None] = ContextVar("everwhen_wait", default=None)


@contextmanager
def one_wait(patience: int = 1) -> Iterator[Wait]:
    """What is read inside waits for extraction once. Nested blocks share the outermost one."""
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    wait = Wait(patience=patience)
    token = _current.set(wait)
    try:
        yield wait
    finally:
        _current.reset(token)


def begin_wait() -> None:
    """The same for the rest of the current context: for work that goes on in a context of its own."""
    _current.set(Wait())


def patience() -> int:
    """How many times as long as else a single batch is waited for here."""
    wait = _current.get()
    return 1 if wait is None else wait.patience


def still_pending() -> int:
    """How many turns what was read so far does not know of; 0 where nothing has waited."""
    wait = _current.get()
    return 0 if wait is None else wait.pending


def note_pending(pending: int) -> None:
    """A server waited in our place, and this is what it said."""
    wait = _current.get()
    if wait is not None:
        wait.left[_SERVER] = pending


def wait_once(memory: object, act: Callable[[], int]) -> int:
    """How many turns are still unread: by waiting, or, inside `one_wait`, as the first read found it."""
    wait = _current.get()
    if wait is None:
        return act()
    if id(memory) not in wait.left:
        wait.left[id(memory)] = act()
    return wait.left[id(memory)]
