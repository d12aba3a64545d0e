"""When an event took place: the model points at the words, `everwhen_time` says what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from everwhen.types import Turn
from everwhen.write.extract.base import Status
from everwhen.write.extract.llm_text import Span, find
from everwhen.write.extract.rules.clause_times import day_of
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.calendar import shift
from everwhen_time.zones import zone_of

EARLIEST = 1000
LATEST_AHEAD = 100
"""Years in which a date of the model's own is believed to be meant: from 1000 to a century after it was said."""

_DATE = re.compile(r"(\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Occurred:
    """An interval, the speaker's words for it, and whether it is only the day on which they were said."""

    interval: Interval
    expression: str = ""
    inferred: bool = False


def occurred(turn: Turn, within: Span | None, expression: str, status: Status) -> Occurred:
    """When the event in a turn took place.

    `expression` is what the model copied; a model that copied nothing may still have quoted a time, so the
    time inside `within`, the event's own words, is the next best. Else it is the turn's day, inferred.
    """
    words = find(expression, turn.text) if expression else None
    for span in (words, within):
        if span is not None and (ref := _meant(turn, span, status)) is not None and ref.interval is not None:
            return Occurred(ref.interval, ref.text)
    return Occurred(day_of(turn), turn.text[slice(*words)] if words else "", inferred=True)


def claimed(date: str, at: datetime, zone: str) -> Interval | Literal["out of bounds"] | None:
    """The calendar date that a model gave by itself, if it is one and lies in a believable year."""
    match = _DATE.fullmatch(date.strip())
    if match is None:
        return None
    year, month, number = int(match[1]), match[2], match[3]
    if not EARLIEST <= year <= at.year + LATEST_AHEAD:
        return "out of bounds"
    grain: Literal["day", "month", "year"] = "day" if number else "month" if month else "year"
    try:
        start = datetime(year, int(month or 1), int(number or 1))
        sides = (start, shift(start, grain, 1))
    except ValueError:
        return None
    first, last = (side.replace(tzinfo=zone_of(zone)).astimezone(UTC) for side in sides)
    return Interval(first, last, grain)


def lasting(turn: Turn, expression: str) -> Interval | None:
    """Since when, or until when, a fact holds: an open side unless the words say both."""
    span = find(expression, turn.text) if expression else None
    ref = _meant(turn, span, "happened") if span is not None else None
    if ref is None or ref.interval is None:
        return None
    if ref.interval.start is None or ref.kind == "range":
        return ref.interval
    return Interval(ref.interval.start, None, ref.interval.grain)


def _meant(turn: Turn, span: Span, status: Status) -> TimeRef | None:
    """The time expression of the turn that a span points at, on the side of now that the status asks for."""
    ref = _best(resolve(turn.text, turn.said_at, turn.zone), span)
    if ref is None or ref.interval is None:
        return ref
    tense: Literal["past", "future"] | None = None
    if status == "planned" and ref.interval.end is not None and ref.interval.end <= turn.said_at:
        tense = "future"
    elif status == "happened" and ref.interval.start is not None and ref.interval.start > turn.said_at:
        tense = "past"
    if tense is None:
        return ref
    return _best(resolve(turn.text, turn.said_at, turn.zone, tense), span) or ref


def _best(refs: list[TimeRef], span: Span) -> TimeRef | None:
    def shared(ref: TimeRef) -> int:
        return min(span[1], ref.span[1]) - max(span[0], ref.span[0])

    dated = [ref for ref in refs if ref.interval is not None and shared(ref) > 0]
    return max(dated, key=shared, default=None)
