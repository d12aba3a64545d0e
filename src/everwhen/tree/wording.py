"""How nodes speak: headers, dates, lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from everwhen.tree.base import Task
from everwhen.tree.levels import INSTANT
from everwhen.when import Interval, describe

MOST_NAMES = 4


def day(instant: datetime, zone: ZoneInfo) -> str:
    local = instant.astimezone(zone)
    return f"{local.day} {local:%B} {local.year}"


def absolute(text: str, at: datetime, zone: str) -> str:
    """The text with the date behind each word that says when: "yesterday (7 June 2025)"."""
    from everwhen.when import resolve

    for found in sorted(resolve(text, at, zone), key=lambda ref: -ref.span[1]):
        start, end = found.span
        if found.interval is None or found.kind not in ("point", "range") or _dated(text[start:end]):
            continue
        if "(" in text[end : end + 2]:
            continue  # somebody wrote the date behind it already
        text = f"{text[:end]} ({describe(found.interval, zone)}){text[end:]}"
    return text


def _dated(words: str) -> bool:
    """Whether the words hold a year of their own."""
    return any(
        part.isdigit() and len(part) == 4 for part in words.replace("-", " ").replace(",", " ").split()
    )


def heard(support: int) -> str:
    return "" if support < 2 else f" (said {support} times)"


def header(task: Task) -> str:
    """What a node is about, in one line."""
    zone = ZoneInfo(task.zone)
    count = len(task.children)
    if task.kind in ("exchange", "session"):
        first, last = task.place.start, task.place.end - INSTANT
        people = joined(dict.fromkeys(name for child in task.children for name in child.speakers))
        when = day(first, zone)
        if day(last, zone) != when:
            when = f"from {when} to {day(last, zone)}"
        return f"Conversation of {people}, {when}."
    when = describe(Interval(task.place.start, task.place.end), task.zone)
    below = "conversation" if task.children[0].place.level == 2 else "part"
    how_many = f"{count} {below}{'s' if count > 1 else ''}"
    return f"{when[0].upper()}{when[1:]}: {how_many}."


def joined(names: Iterable[str]) -> str:
    """Names as a person lists them."""
    listed = list(names)
    if len(listed) > MOST_NAMES:
        listed = [*listed[:MOST_NAMES], "others"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
