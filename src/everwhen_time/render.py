"""Intervals in words: names that `resolve` can read back ("the week of 1 May 2023"), and dates ("1 to 7 May 2023")."""

from __future__ import annotations

from datetime import datetime, timedelta

from everwhen_time.calendar import DAY, floor, shift
from everwhen_time.interval import Interval
from everwhen_time.iso import format_interval
from everwhen_time.zones import wall_clock, zone_of

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SEASON_STARTS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}


def describe(interval: Interval, zone: str | None = None) -> str:
    """The interval as a person would name it in that zone; exact, so that `resolve` gives it back.

    What falls on no calendar boundary is told by its first and last day, by the minute, or, below that,
    in ISO 8601.
    """
    area = zone_of(zone or "UTC")
    start, end = wall_clock(interval.start, area), wall_clock(interval.end, area)
    if start is None and end is None:
        return "always"
    if start is None or end is None:
        word, side = ("since", start) if end is None else ("until", end)
        if side is None or not _midnight(side) or not _written(side):
            return format_interval(interval)
        return f"{word} {_date(side)}"
    if not _written(start) or not _written(end) or start == end:
        return format_interval(interval)
    if _midnight(start) and _midnight(end):
        return _unit(start, end) or f"from {_date(start)} to {_date(end - DAY)}"
    if (start.replace(tzinfo=area), end.replace(tzinfo=area)) != (interval.start, interval.end):
        return format_interval(interval)  # an hour that the clocks showed twice
    return _clocks(interval, start, end)


def _unit(start: datetime, end: datetime) -> str | None:
    """The name of the calendar unit that it is, if it is one."""
    if end == start + DAY:
        return _date(start)
    if end == start + timedelta(days=7) and start.weekday() == 0:
        return f"the week of {_date(start)}"
    if start.day != 1 or end.day != 1:
        return None
    months = (end.year - start.year) * 12 + end.month - start.month
    if months == 1:
        return f"{MONTHS[start.month - 1]} {start.year}"
    if months == 3 and start.month in _SEASON_STARTS:
        return f"the {_SEASON_STARTS[start.month]} of {start.year}"
    if months == 3 and start.month % 3 == 1:
        return f"Q{start.month // 3 + 1} {start.year}"
    if months == 12 and start.month == 1:
        return f"{start.year}"
    if months == 120 and start.month == 1 and start.year % 10 == 0 and start.year % 100:
        return f"the {start.year}s"
    return None


def _clocks(interval: Interval, start: datetime, end: datetime) -> str:
    """By the clock: to the minute where it is whole minutes, else as ISO 8601."""
    minutes = start == floor(start, "minute") and end == floor(end, "minute")
    if minutes and end == shift(start, "minute", 1):
        return f"{_date(start)} at {start:%H:%M}"
    midnight = floor(start, "day") + DAY
    if minutes and end <= midnight:
        until = "24:00" if end == midnight else f"{end:%H:%M}"
        return f"{_date(start)} from {start:%H:%M} to {until}"
    return format_interval(interval)


def _midnight(moment: datetime) -> bool:
    return moment == floor(moment, "day")


def _written(moment: datetime) -> bool:
    """Years that the grammar reads as years."""
    return 1700 <= moment.year <= 2199


def _date(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def dates(interval: Interval, zone: str | None = None) -> str:
    """The first and the last day of it in that zone, both included: "3 to 9 March 2025", "28 February to 6 March 2025".

    Whole months and years go by their names, what is finer than a day by the clock.
    """
    area = zone_of(zone or "UTC")
    start, end = wall_clock(interval.start, area), wall_clock(interval.end, area)
    last = None if end is None else max(end - datetime.resolution, start or datetime.min)
    if start is None:
        return "always" if last is None else f"up to {_date(last)}"
    if end is None or last is None:
        return f"since {_date(start)}"
    if interval.grain in ("second", "minute", "hour"):
        return _hours(start, end)
    if start == floor(start, "month") and end == floor(end, "month"):
        if start.month == end.month == 1:
            return _from_to([f"{start.year}"], [f"{last.year}"])
        return _from_to([MONTHS[start.month - 1], f"{start.year}"], [MONTHS[last.month - 1], f"{last.year}"])
    return _from_to(_date(start).split(), _date(last).split())


def _hours(start: datetime, end: datetime) -> str:
    if end - start <= timedelta(minutes=1):
        return f"{_date(start)} at {start:%H:%M}"
    if start.date() == end.date():
        return f"{_date(start)}, {start:%H:%M} to {end:%H:%M}"
    return f"{_date(start)} {start:%H:%M} to {_date(end)} {end:%H:%M}"


def _from_to(first: list[str], last: list[str]) -> str:
    """ "28 February" to "6 March 2025": what both end with is said once."""
    if first == last:
        return " ".join(last)
    while first[-1] == last[len(first) - 1]:
        first = first[:-1]
    return f"{' '.join(first)} to {' '.join(last)}"


def in_plain_words(interval: Interval, zone: str | None = None) -> str:
    """As `describe`, but what has no exact name goes by its days: for people and models, who are shown no ISO 8601."""
    said = describe(interval, zone)
    return dates(interval, zone) if said == format_interval(interval) else said


def explain(interval: Interval | None, zone: str | None = None) -> str:
    """One line for people: the words, then the exact sides."""
    if interval is None:
        return "no interval of its own"
    area = zone_of(zone or "UTC")
    sides = [
        "…" if side is None else side.astimezone(area).isoformat(timespec="minutes").replace("+00:00", "Z")
        for side in (interval.start, interval.end)
    ]
    return f"{describe(interval, zone)} [{sides[0]}, {sides[1]})"
