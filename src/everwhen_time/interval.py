"""Half-open intervals of time with a grain, their algebra, and how they are written: ISO 8601, and words for people.

`everwhen` keeps every time as an `Interval`. Used by: everything. Uses: calendar arithmetic and zones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

from everwhen_time.calendar import DAY, Unit, add_months, floor, shift
from everwhen_time.zones import wall_clock, zone_of

Grain = Literal[
    "second", "minute", "hour", "day", "week", "month", "quarter", "season", "year", "decade", "century"
]

# Stand-ins for an open side; only compared, never shown.
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


class Relation(StrEnum):
    """Allen's thirteen: `a.relation(b)` reads "a <relation> b"; exactly one holds for any two intervals."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished by"
    CONTAINS = "contains"
    STARTED_BY = "started by"
    OVERLAPPED_BY = "overlapped by"
    MET_BY = "met by"
    AFTER = "after"

    @property
    def inverse(self) -> Relation:
        """The relation seen from the other side: before becomes after."""
        order = list(Relation)
        return order[len(order) - 1 - order.index(self)]


@dataclass(frozen=True, slots=True)
class Interval:
    """`[start, end)` in UTC; a side that is None is open (since, until)."""

    start: datetime | None
    end: datetime | None
    grain: Grain = "day"

    def __post_init__(self) -> None:
        for side in (self.start, self.end):
            if side is not None and side.tzinfo is None:
                raise ValueError(f"an interval needs aware datetimes, got the naive {side.isoformat()}")
        if self.start is not None and self.start.tzinfo is not UTC:  # what a store gives is UTC already
            object.__setattr__(self, "start", self.start.astimezone(UTC))
        if self.end is not None and self.end.tzinfo is not UTC:
            object.__setattr__(self, "end", self.end.astimezone(UTC))
        if self.start is not None and self.end is not None and self.end < self.start:
            raise ValueError(f"an interval cannot end ({self.end}) before it starts ({self.start})")

    def contains(self, instant: datetime) -> bool:
        """Whether the instant lies in `[start, end)`."""
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Whether the two share at least one instant."""
        left = self.start is None or other.end is None or self.start < other.end
        right = other.start is None or self.end is None or other.start < self.end
        return left and right

    def covers(self, other: Interval) -> bool:
        """Whether every instant of the other lies in this one."""
        (start, end), (first, last) = _bounds(self), _bounds(other)
        return start <= first and last <= end

    def relation(self, other: Interval) -> Relation:
        """Which of Allen's thirteen relations holds between the two."""
        (a, b), (c, d) = _bounds(self), _bounds(other)
        if (a, b) == (c, d):
            return Relation.EQUALS
        if b < c:
            return Relation.BEFORE
        if b == c:
            return Relation.MEETS
        if d < a:
            return Relation.AFTER
        if d == a:
            return Relation.MET_BY
        if a == c:
            return Relation.STARTS if b < d else Relation.STARTED_BY
        if b == d:
            return Relation.FINISHES if a > c else Relation.FINISHED_BY
        if a > c:
            return Relation.DURING if b < d else Relation.OVERLAPPED_BY
        return Relation.CONTAINS if b > d else Relation.OVERLAPS

    def intersection(self, other: Interval) -> Interval | None:
        """What the two share, at the finer grain; None when they share nothing."""
        (a, b), (c, d) = _bounds(self), _bounds(other)
        if max(a, c) >= min(b, d):
            return None
        return _from_bounds(max(a, c), min(b, d), min(self.grain, other.grain, key=_GRAINS.index))

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that covers both, at the coarser grain."""
        (a, b), (c, d) = _bounds(self), _bounds(other)
        return _from_bounds(min(a, c), max(b, d), max(self.grain, other.grain, key=_GRAINS.index))

    def gap(self, other: Interval) -> Interval | None:
        """What lies strictly between the two; None when they touch or overlap."""
        (a, b), (c, d) = _bounds(self), _bounds(other)
        start, end = min(b, d), max(a, c)
        return (
            _from_bounds(start, end, min(self.grain, other.grain, key=_GRAINS.index)) if start < end else None
        )

    @property
    def length(self) -> timedelta | None:
        """How long it lasts; None when a side is open."""
        return None if self.start is None or self.end is None else self.end - self.start

    @property
    def middle(self) -> datetime | None:
        """The instant half-way; None when a side is open."""
        length = self.length
        return None if length is None or self.start is None else self.start + length / 2

    def shift(
        self,
        *,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: int = 0,
        minutes: int = 0,
        seconds: int = 0,
        zone: str = "UTC",
    ) -> Interval:
        """Both sides moved by calendar units.

        Months and years keep the day or stop at the month's end (31 January + 1 month is 28 or 29 February);
        days and longer keep the wall clock of the zone across daylight-saving changes; hours and shorter
        are exact time.
        """
        area = zone_of(zone)
        exact = timedelta(hours=hours, minutes=minutes, seconds=seconds)

        def move(side: datetime | None) -> datetime | None:
            if side is None:
                return None
            wall = side.astimezone(area).replace(tzinfo=None)
            wall = add_months(wall, 12 * years + months) + timedelta(weeks=weeks, days=days)
            return wall.replace(tzinfo=area).astimezone(UTC) + exact

        return replace(self, start=move(self.start), end=move(self.end))

    def to_json(self) -> dict[str, str | None]:
        """`{"start", "end", "grain"}` with instants as ISO 8601 UTC and `Z`."""
        return {"start": _stamp(self.start), "end": _stamp(self.end), "grain": self.grain}

    @classmethod
    def from_json(cls, data: dict[str, str | None]) -> Interval:
        """The inverse of `to_json`."""
        start, end = data.get("start"), data.get("end")
        grain = data.get("grain") or "day"
        if grain not in _GRAINS:
            raise ValueError(f"unknown grain {grain!r}: use one of {', '.join(_GRAINS)}")
        return cls(
            datetime.fromisoformat(start) if start else None,
            datetime.fromisoformat(end) if end else None,
            grain,
        )


_GRAINS: tuple[Grain, ...] = Grain.__args__  # type: ignore[attr-defined]


def coarser(left: Grain, right: Grain) -> bool:
    """Whether the left grain is the coarser one: a month is coarser than a day."""
    return _GRAINS.index(left) > _GRAINS.index(right)


def _bounds(interval: Interval) -> tuple[datetime, datetime]:
    return interval.start or _BEGINNING, interval.end or _END


def _from_bounds(start: datetime, end: datetime, grain: Grain) -> Interval:
    return Interval(None if start == _BEGINNING else start, None if end == _END else end, grain)


def _stamp(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")


# ISO 8601: `2023-05-01/P1W`, `2023-05`, `../2023-06-01`, `P1Y2M`

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
    return Duration(**numbers, seconds=_whole_or_float(match["seconds"] or "0"))


def _whole_or_float(text: str) -> float:
    value = float(text)
    return int(value) if value == int(value) else value


def format_duration(duration: Duration) -> str:
    """The inverse of `parse_duration`."""
    years, months, weeks, days, *clock = astuple(duration)
    date_part = _with_letters((years, months, weeks, days), "YMWD")
    clock_part = _with_letters(clock, "HMS")
    return f"P{date_part}{'T' if clock_part else ''}{clock_part}" if date_part or clock_part else "PT0S"


def _with_letters(values: Iterable[float], letters: str) -> str:
    return "".join(
        f"{_short_number(value)}{letter}" for value, letter in zip(values, letters, strict=True) if value
    )


def _short_number(value: float) -> str:
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
    return f"{_side_text(interval.start)}/{_side_text(interval.end)}"


def _side_text(side: datetime | None) -> str:
    return ".." if side is None else side.isoformat().replace("+00:00", "Z")


# In words: names that `resolve` can read back ("the week of 1 May 2023"), and dates ("1 to 7 May 2023")

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SEASON_STARTS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}


def describe(interval: Interval, zone: str | None = None) -> str:
    """The interval as a person would name it in that zone; exact, so that `resolve` gives it back.

    What falls on no calendar boundary is said by its first and last day, by the minute, or, below that,
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
