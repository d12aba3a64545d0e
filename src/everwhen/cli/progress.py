"""Progress bars on standard error, so that results can be piped; none when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from everwhen.cli.app import Here


@contextmanager
def counting(here: Here, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many are done; `total` where it is known."""
    if here.quiet or here.json or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)
