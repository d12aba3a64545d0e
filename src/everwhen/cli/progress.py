"""Progress bars on standard error, so that results can be piped; none when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from everwhen.cli.app import GlobalOptions


@contextmanager
def counting(here: GlobalOptions, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many are done; `total` where it is known."""
    with telling(here, what, total) as told:
        yield lambda done: told(what, done)


@contextmanager
def telling(
    here: GlobalOptions, what: str = "", total: int | None = None
) -> Iterator[Callable[[str, int], None]]:
    """The same where several come one after the other: it is told who is at it, too."""
    if here.quiet or here.json or not sys.stderr.isatty():
        yield lambda name, done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda name, done: progress.update(task, description=name, completed=done)
