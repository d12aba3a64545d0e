"""Windows of the calendar, from minutes to years, in a time zone. Together they cover all of time without gaps.

A day runs from local midnight to local midnight: 23 or 25 hours when the clock is changed. Minutes and hours are
counted in elapsed time from local midnight, so that a clock change neither repeats nor splits a window; the last
window of a day ends with the day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen_time import Grain, Interval
from everwhen_time.zones import zone_of

Unit: TypeAlias = Literal["minute", "hour", "day", "week", "month", "year"]

MINUTES: dict[str, int] = {
    "minute": 1, "hour": 60, "day": 1440, "week": 10_080, "month": 43_800, "year": 525_600,
}  # fmt: skip
"""How long a unit is, about: what the order of levels is judged by."""
MOST_YEARS = 100
_WRITTEN = re.compile(r"(?:(\d{1,6})\s*)?(minute|hour|day|week|month|quarter|year)s?", re.IGNORECASE)
_MONDAY = datetime(1970, 1, 5)
_FIRST = datetime(1970, 1, 1)
_LAST = datetime(9999, 12, 31)


@dataclass(frozen=True, slots=True)
class WindowSize:
    """A number of calendar units, such as 1 week or 6 hours."""

    count: int
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> WindowSize:
        """`day`, `6 hours`, `quarter`."""
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"'{text.strip()}' is no window of the memory tree; write minutes, hours, days, weeks, months, "
                "quarters or years, such as '6 hours' or 'month'"
            )
        count, unit = int(match[1] or 1), match[2].lower()
        if unit == "quarter":
            count, unit = 3 * count, "month"
        span = cls(count, unit)  # type: ignore[arg-type]
        if count < 1 or span.minutes > MOST_YEARS * MINUTES["year"]:
            raise UsageError(
                f"a window of the memory tree is 1 minute to {MOST_YEARS} years long, not '{text.strip()}'"
            )
        if span.unit in ("minute", "hour") and span.minutes > MINUTES["day"]:
            raise UsageError(
                f"'{text.strip()}' is longer than a day, which not all days are alike in; write it in days"
            )
        return span

    @property
    def minutes(self) -> int:
        return self.count * MINUTES[self.unit]

    @property
    def grain(self) -> Grain:
        return self.unit

    def __str__(self) -> str:
        return self.unit if self.count == 1 else f"{self.count} {self.unit}s"

    def window(self, instant: datetime, zone: str) -> Interval:
        local = instant.astimezone(zone_of(zone))
        day = datetime(local.year, local.month, local.day)
        return _part(self, instant, day, zone) if self.unit in ("minute", "hour") else _days(self, day, zone)

    def anchor(self, window: Interval, zone: str) -> datetime:
        """The instant that says which window above it belongs to: its start, for weeks the day in their middle.

        That is the Thursday of a week, so that a week belongs to the month that has most of it.
        """
        assert window.start is not None
        if self.unit != "week":
            return window.start
        local = window.start.astimezone(zone_of(zone)).replace(tzinfo=None)
        return _instant(local + timedelta(days=(7 * self.count - 1) // 2), zone)


@lru_cache(maxsize=65_536)
def _days(span: WindowSize, day: datetime, zone: str) -> Interval:
    start, end = _dates(span, day)
    return Interval(_instant(start, zone), _instant(min(end, _LAST), zone), span.grain)


def _dates(span: WindowSize, day: datetime) -> tuple[datetime, datetime]:
    """The first day of the window that a day lies in, and the first day after it."""
    match span.unit:
        case "day":
            start = day - timedelta(days=(day - _FIRST).days % span.count)
            return start, start + timedelta(days=span.count)
        case "week":
            start = day - timedelta(days=(day - _MONDAY).days % (7 * span.count))
            return start, start + timedelta(days=7 * span.count)
        case "month":
            first = (day.year * 12 + day.month - 1) // span.count * span.count
            return _month(first), _month(first + span.count)
    year = day.year // span.count * span.count
    return _month(12 * year), _month(12 * (year + span.count))


def _month(number: int) -> datetime:
    """The first day of a month, counted from the year 0; kept to the years that there are."""
    year, month = divmod(number, 12)
    if year < 1:
        return datetime(1, 1, 1)
    return datetime(year, month + 1, 1) if year <= _LAST.year else _LAST


def _part(span: WindowSize, instant: datetime, day: datetime, zone: str) -> Interval:
    """Minutes and hours: so much time after another, from local midnight on."""
    midnight, next_ = _instant(day, zone), _instant(day + timedelta(days=1), zone)
    size = timedelta(minutes=span.minutes)
    start = midnight + (instant - midnight) // size * size
    return Interval(start, min(start + size, next_), span.grain)


def _instant(local: datetime, zone: str) -> datetime:
    """A local time as an instant: the first where the clock shows it twice, the change itself where it skips it."""
    return local.replace(tzinfo=zone_of(zone)).astimezone(UTC)
