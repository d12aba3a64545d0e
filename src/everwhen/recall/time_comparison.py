"""`compare`: which of two events came first and how far apart they are, computed from their intervals."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

from everwhen.types import Compared, Comparison, Gap, TimeAnswer
from everwhen_time import Interval
from everwhen_time.zones import zone_of

DAYS_TOLD = 21
"""Up to so many days a gap is told in days; above in weeks as well, and from `WEEKS_TOLD` weeks in months."""
WEEKS_TOLD = 9
MONTH = 30.4375
Order = Literal["before", "overlap"]


def comparison(first: Compared, second: Compared) -> Comparison:
    """Put two answers in the order of time.

    One is before the other only where its whole interval is: two things of the same week cannot be told apart by
    what is known of them, and that is said rather than guessed.
    """
    a, b = first.answer, second.answer
    evidence = tuple(one for answer in (a, b) if answer for one in answer.evidence)
    if a is None or b is None:
        return Comparison(first, second, "unknown", None, evidence)
    if _before(b.interval, a.interval):
        return comparison(second, first)
    order: Order = "before" if _before(a.interval, b.interval) else "overlap"
    return Comparison(first, second, order, gap(a, b), evidence)


def gap(a: TimeAnswer, b: TimeAnswer) -> Gap | None:
    """The days of the calendar from one to the other; a range, since each may be any day of its interval.

    With a in days [a1, a2] and b in [b1, b2]: from b1 - a2 to b2 - a1 days, and from 0 where they overlap. None
    where a side is open: then nothing bounds it.
    """
    one, other = _days(a.interval, a.zone), _days(b.interval, b.zone)
    if one is None or other is None:
        return None
    (first, last), (begin, end) = one, other
    forward, backward = (end - first).days, (last - begin).days
    least = max((begin - last).days, (first - end).days, 0)
    most = max(forward, backward)
    return Gap(least, most, in_words(least, most))


def in_words(least: int, most: int) -> str:
    """A range of days in words: "3 days", "between 3 and 9 days", "between 5 and 6 weeks (36 to 42 days)"."""
    if most == 0:
        return "the same day"
    days = _several(least, most, "day")
    if least == most:
        weeks, rest = divmod(most, 7)
        return f"{days} ({_several(weeks, weeks, 'week')})" if weeks and not rest else days
    if most <= DAYS_TOLD:
        return days
    unit, length = ("week", 7.0) if most <= WEEKS_TOLD * 7 else ("month", MONTH)
    low, high = round(least / length), round(most / length)
    return f"{'about ' if low == high else ''}{_several(low, high, unit)} ({least} to {most} days)"


def _several(low: int, high: int, unit: str) -> str:
    if low == high:
        return f"{low} {unit}{'' if low == 1 else 's'}"
    return f"between {low} and {high} {unit}s"


def _before(a: Interval, b: Interval) -> bool:
    return a.end is not None and b.start is not None and a.end <= b.start


def _days(interval: Interval, zone: str) -> tuple[date, date] | None:
    """The first and the last day that an interval touches."""
    if interval.start is None or interval.end is None:
        return None
    area = zone_of(zone)
    last = max(interval.start, interval.end - timedelta(microseconds=1))
    return interval.start.astimezone(area).date(), last.astimezone(area).date()
