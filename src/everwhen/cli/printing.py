"""Printing for people: what is remembered is shown and never obeyed; progress goes to standard error."""

from __future__ import annotations

import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from everwhen.cli.app import GlobalOptions
    from everwhen_time import Interval


_PARTS = {(6, 12): "morning", (12, 18): "afternoon", (18, 0): "evening", (18, 6): "night", (0, 6): "night"}


def spoken_of(interval: Interval | None, zone: str) -> str:
    """An interval for the eye: a part of a day by its name, all else as `in_plain_words` has it."""
    from everwhen_time.interval import dates, in_plain_words

    if interval is None:
        return "?"
    if interval.start is not None and interval.end is not None:
        start, end = local(interval.start, zone), local(interval.end, zone)
        part = _PARTS.get((start.hour, end.hour))
        if part and not start.minute and not end.minute and (end - start).total_seconds() <= 13 * 3600:
            return f"{start.day} {start:%B %Y}, {part}"
    said = in_plain_words(interval, zone)
    # "11 to 20 August 2025" leaves more room for what happened than "from 11 August 2025 to 20 August 2025".
    return dates(interval, zone) if said.startswith("from ") else said


def local(instant: datetime, zone: str) -> datetime:
    return instant.astimezone(zone_of(zone))


def styled(*parts: str | tuple[str, str] | Text, style: str = "") -> Text:
    """A text of parts, each a string, or a string and its style; all are made printable."""
    from rich.text import Text

    def safe(part: str | tuple[str, str] | Text) -> str | tuple[str, str] | Text:
        if isinstance(part, tuple):
            return printable(part[0]), part[1]
        return printable(part) if isinstance(part, str) else part

    return Text.assemble(*map(safe, parts), style=style)


def table(*names: str, header: bool = True) -> Table:
    """A table without lines. Its cells are to be `styled` or `printable`."""
    from rich.table import Table

    return Table(*names, box=None, pad_edge=False, show_header=header)


def time_bar(start: datetime, end: datetime | None, first: datetime, last: datetime, width: int) -> str:
    """A stretch on a line from `first` to `last`: at least one cell; without an end it has an arrow."""
    whole = max(last - first, timedelta.resolution)
    begin = min(int((start - first) / whole * width), width - 1)
    if end is None:
        return " " * begin + "█" * (width - begin - 1) + "▶"
    stop = max(round((end - first) / whole * width), begin + 1)
    return " " * begin + "█" * (stop - begin) + " " * (width - stop)


def printable(text: str) -> str:
    """The text with control and direction characters made visible; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs"):
        return character if character not in _DIRECTIONS else f"\\u{ord(character):04x}"
    return f"\\x{ord(character):02x}"


# They reorder what follows on the line, a file name or a command as well.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


EVERY = 10.0
"""Seconds between two lines where no terminal shows a bar; what is done by then says nothing."""


class ProgressReport(Protocol):
    """Is called with what is being done, how many are done, and of how many, where that is known."""

    def __call__(self, name: str, done: int, total: int | None = None, /) -> None: ...


@contextmanager
def counting(here: GlobalOptions, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar of how many are done; `total` where it is known."""
    with progress_of(here, what, total) as report:
        yield lambda done: report(what, done)


@contextmanager
def progress_of(here: GlobalOptions, what: str = "", total: int | None = None) -> Iterator[ProgressReport]:
    """The same where several come one after the other: it is called with who is at it, too."""
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


def _lines(total: int | None) -> ProgressReport:
    last = time.monotonic()

    def report(name: str, done: int, whole: int | None = None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            of = f" of {whole or total:,}" if whole or total else ""
            print(f"{name}: {done:,}{of}", file=sys.stderr, flush=True)

    return report


def size(count: int) -> str:
    """Bytes for people: 1.5 MB."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
