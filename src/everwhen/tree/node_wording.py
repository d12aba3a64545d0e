"""The text around a node's statements: headers, dates, lists of names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from everwhen.tree.base import Task
from everwhen.tree.levels import INSTANT
from everwhen_time import Interval, describe
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen_time import TimeRef

MOST_NAMES = 4
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember|tember|ober)?\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening)|last night"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)


def day(instant: datetime, zone: tzinfo) -> str:
    local = instant.astimezone(zone)
    return f"{local.day} {local:%B} {local.year}"


def absolute(text: str, at: datetime, zone: str) -> str:
    """The text with the date behind each word that is counted from the day it was said on: "yesterday (7 June 2025)".

    A date without its year stays as it is: which year it is in, a sentence alone does not always tell.
    """
    from everwhen_time import resolve

    for found in sorted(resolve(text, at, zone), key=lambda ref: -ref.span[1]):
        start, end = found.span
        written = text[end : end + 2].lstrip().startswith("(")  # the date behind it, by somebody already
        dated = found.interval is not None and found.kind in ("point", "range") and not written
        if found.interval is not None and dated and _relative(found, text[start:end]):
            text = f"{text[:end]} ({_named(found.interval, zone)}){text[end:]}"
    return text


def _relative(found: TimeRef, words: str) -> bool:
    """Whether the words mean another day when they are said on another day."""
    if any(letter.isdigit() for letter in words) or _MONTH.search(words):
        return False
    return found.grain in ("day", "week", "month", "season", "year") or bool(_DAY.search(words))


def _named(interval: Interval, zone: str) -> str:
    """The interval in words; a part of a day by its day, and "by Wednesday" by the last day that is meant."""
    length = interval.length
    if interval.start is None and interval.end is not None:
        return day(interval.end - timedelta(microseconds=1), zone_of(zone))
    if interval.start is not None and length is not None and length < timedelta(hours=20):
        return day(interval.start, zone_of(zone))
    return in_plain_words(interval, zone)


def heard(support: int) -> str:
    return "" if support < 2 else f" (said {support} times)"


def header(task: Task) -> str:
    zone = zone_of(task.zone)
    count = len(task.children)
    if task.kind in ("exchange", "session"):
        first, last = task.place.start, task.place.end - INSTANT
        people = joined(dict.fromkeys(name for child in task.children for name in child.speakers))
        when = day(first, zone)
        if day(last, zone) != when:
            when = f"from {when} to {day(last, zone)}"
        return f"Conversation of {people}, {when}."
    when = describe(Interval(task.place.start, task.place.end), task.zone)
    below = {"session": "conversation"}.get(task.below, task.below if " " not in task.below else "part")
    how_many = f"{count} {below}{'s' if count > 1 else ''}"
    return f"{when[0].upper()}{when[1:]}: {how_many}."


def joined(names: Iterable[str]) -> str:
    listed = list(names)
    if len(listed) > MOST_NAMES:
        listed = [*listed[:MOST_NAMES], "others"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
