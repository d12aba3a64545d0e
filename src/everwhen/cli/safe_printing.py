"""What is printed is shown, never obeyed: remembered text may hold terminal commands."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

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
