"""ISO 8601 intervals and durations: `2023-05-01/P1W`, `2023-05`, `../2023-06-01`, `P1Y2M`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta

from everwhen_time.calendar import Unit, add_months, shift
from everwhen_time.interval import Grain, Interval

_DURATION = re.compile(
    r"(?P<sign>-?)P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class Duration:
    """An amount of calendar time; months and years have no fixed length, so they are kept apart."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: float = 0

    def after(self, moment: datetime, sign: int = 1) -> datetime:
        """The moment so much later, or earlier with sign -1."""
        months = sign * (12 * self.years + self.months)
        exact = timedelta(
            weeks=self.weeks, days=self.days, hours=self.hours, minutes=self.minutes, seconds=self.seconds
        )
        return add_months(moment, months) + sign * exact

    def __str__(self) -> str:
        return format_duration(self)


def parse_duration(text: str) -> Duration:
    """`P1Y2M3DT4H` and the like."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.groupdict()[name] for name in Duration.__slots__):
        raise ValueError(f"{text!r} is no ISO 8601 duration; write one like P1Y2M, P3W or PT90M")
    if match["sign"]:
        raise ValueError(f"{text!r} is negative; a duration counts forward")
    numbers = {name: int(match[name]) for name in Duration.__slots__ if name != "seconds" and match[name]}
    return Duration(**numbers, seconds=_number(match["seconds"] or "0"))


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value == int(value) else value


def format_duration(duration: Duration) -> str:
    """The inverse of `parse_duration`."""
    years, months, weeks, days, *clock = astuple(duration)
    date_part = _with_letters((years, months, weeks, days), "YMWD")
    clock_part = _with_letters(clock, "HMS")
    return f"P{date_part}{'T' if clock_part else ''}{clock_part}" if date_part or clock_part else "PT0S"


def _with_letters(values: Iterable[float], letters: str) -> str:
    return "".join(f"{_plain(value)}{letter}" for value, letter in zip(values, letters, strict=True) if value)


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:f}".rstrip("0")


_SIDE = re.compile(
    r"(?P<year>\d{4})(?:-?W(?P<week>\d\d)(?:-?(?P<weekday>[1-7]))?"
    r"|-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[T ](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?)?)?"
)


def parse_interval(text: str) -> Interval:
    """An ISO 8601 interval: two sides, a side and a duration, or one date of any precision; `..` is open.

    A date without a time is its whole day, month, week or year when it stands alone, and its beginning when
    it is a side. Without a zone it is UTC.
    """
    try:
        return _interval(text)
    except OverflowError:
        raise ValueError(f"{text!r} lies outside the years that a date can have") from None


def _interval(text: str) -> Interval:
    left, slash, right = text.strip().partition("/")
    if not slash:
        start, unit, grain = _side(left, text)
        return Interval(start, shift(start, unit, 1), grain)
    if left.startswith("P"):
        end = _side(right, text)
        return Interval(parse_duration(left).after(end[0], -1), end[0], end[2])
    first = None if left in ("..", "") else _side(left, text)
    if right.startswith("P"):
        if first is None:
            raise ValueError(f"{text!r}: a duration needs a start beside it")
        return Interval(first[0], parse_duration(right).after(first[0]), first[2])
    last = None if right in ("..", "") else _side(right, text)
    if first is None and last is None:
        raise ValueError(f"{text!r} is open on both sides; give at least one")
    grain = first[2] if first else last[2]  # type: ignore[index]
    return Interval(first[0] if first else None, last[0] if last else None, grain)


def _side(side: str, text: str) -> tuple[datetime, Unit, Grain]:
    match = _SIDE.fullmatch(side)
    if match is None:
        raise ValueError(f"{text!r} is no ISO 8601 interval; write one like 2023-05-01/2023-06-01 or 2023-05")
    year = int(match["year"])
    if match["week"]:
        day = datetime.fromisocalendar(year, int(match["week"]), int(match["weekday"] or 1))
        return day.replace(tzinfo=UTC), *(("day", "day") if match["weekday"] else ("week", "week"))
    if not match["month"]:
        return datetime(year, 1, 1, tzinfo=UTC), "year", "year"
    if not match["day"]:
        return datetime(year, int(match["month"]), 1, tzinfo=UTC), "month", "month"
    if not match["clock"]:
        return datetime(year, int(match["month"]), int(match["day"]), tzinfo=UTC), "day", "day"
    moment = datetime.fromisoformat(side.replace(" ", "T"))
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    unit: Unit = "second" if match["clock"].count(":") > 1 else "minute"
    return moment, unit, "second" if unit == "second" else "minute"


def format_interval(interval: Interval) -> str:
    """`start/end` in UTC, `..` for an open side; `parse_interval` reads it back."""
    return f"{_stamp(interval.start)}/{_stamp(interval.end)}"


def _stamp(side: datetime | None) -> str:
    return ".." if side is None else side.isoformat().replace("+00:00", "Z")
