"""What is printed is shown, never obeyed: remembered text may hold terminal commands."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from everwhen.when import Interval

_PARTS = {(6, 12): "morning", (12, 18): "afternoon", (18, 0): "evening", (18, 6): "night", (0, 6): "night"}


def spoken_of(interval: Interval | None, zone: str) -> str:
    """An interval for the eye: a part of a day by its name, all else as `describe` has it."""
    from everwhen.when import describe
    from everwhen.when.render import dates

    if interval is None:
        return "?"
    if interval.start is not None and interval.end is not None:
        start, end = (side.astimezone(zone_of(zone)) for side in (interval.start, interval.end))
        part = _PARTS.get((start.hour, end.hour))
        if part and not start.minute and not end.minute and (end - start).total_seconds() <= 13 * 3600:
            return f"{start.day} {start:%B %Y}, {part}"
    said = describe(interval, zone)
    # "11 to 20 August 2025" leaves more room for what happened than "from 11 August 2025 to 20 August 2025".
    return dates(interval, zone) if said.startswith("from ") else said


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
