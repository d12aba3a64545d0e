"""Progress on standard error, so that results can be piped: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from everwhen.cli.app import GlobalOptions

EVERY = 10.0
"""Seconds between two lines where no terminal shows a bar; what is done by then says nothing."""


class Told(Protocol):
    """Is told what is being done, how many are done, and of how many, where that is known."""

    def __call__(self, name: str, done: int, total: int | None = None, /) -> None: ...


@contextmanager
def counting(here: GlobalOptions, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many are done; `total` where it is known."""
    with telling(here, what, total) as told:
        yield lambda done: told(what, done)


@contextmanager
def telling(here: GlobalOptions, what: str = "", total: int | None = None) -> Iterator[Told]:
    """The same where several come one after the other: it is told who is at it, too."""
    if here.quiet or here.json:
        yield lambda name, done, whole=None: None
        return
    if not sys.stderr.isatty():
        yield _lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda name, done, whole=None: progress.update(
            task, description=name, completed=done, total=whole or total
        )


@contextmanager
def working(here: GlobalOptions, what: str) -> Iterator[None]:
    """A sign of life beside work that cannot say how far it is."""
    if here.quiet or here.json:
        yield
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            progress.add_task(what, total=None)
            yield
        return
    done = threading.Event()

    def tell() -> None:
        began = time.monotonic()
        while not done.wait(EVERY):
            print(f"{what}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    telling_it = threading.Thread(target=tell, daemon=True)
    telling_it.start()
    try:
        yield
    finally:
        done.set()
        telling_it.join(timeout=1.0)


def _lines(total: int | None) -> Told:
    last = time.monotonic()

    def told(name: str, done: int, whole: int | None = None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            of = f" of {whole or total:,}" if whole or total else ""
            print(f"{name}: {done:,}{of}", file=sys.stderr, flush=True)

    return told
