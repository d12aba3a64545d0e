"""Half-open intervals of time with a grain: how everwhen represents every time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

from everwhen_time.calendar import add_months
from everwhen_time.zones import zone_of

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
