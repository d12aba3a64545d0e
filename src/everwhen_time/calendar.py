"""Calendar arithmetic on wall-clock datetimes: rounding down, shifting, weeks, moveable holidays. No zones, no
words."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Literal, get_args

Unit = Literal[
    "second", "minute", "hour", "day", "week", "month", "quarter", "half", "year", "decade", "century"
]
UNITS: tuple[Unit, ...] = get_args(Unit)
"""From the shortest to the longest."""
MULTIPLES: dict[Unit, tuple[int, Unit]] = {
    "quarter": (3, "month"),
    "half": (6, "month"),
    "decade": (10, "year"),
    "century": (100, "year"),
}
"""Units that ISO 8601 and iCalendar write as another one."""
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_EXACT: dict[Unit, timedelta] = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": WEEK,
}


def add_months(moment: datetime, months: int) -> datetime:
    """The same day so many months on, or the month's last day where it has no such day."""
    if not months:
        return moment
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def shift(moment: datetime, unit: Unit, count: float) -> datetime:
    """The moment so many units on, back when negative; a fraction of a month or longer counts in days."""
    exact = _EXACT.get(unit)
    if exact is not None:
        return moment + exact * count
    months = _MONTHS[unit] * count
    whole = int(months)
    return add_months(moment, whole) + timedelta(days=round((months - whole) * 30.4))


def floor(moment: datetime, unit: Unit, week_start: int = 0) -> datetime:
    """The start of the calendar unit that the moment lies in."""
    match unit:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "day":
            return day
        case "week":
            return day - DAY * ((day.weekday() - week_start) % 7)
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1)
        case "half":
            return day.replace(day=1, month=(day.month - 1) // 6 * 6 + 1)
        case "year":
            return day.replace(day=1, month=1)
        case "decade":
            return day.replace(day=1, month=1, year=max(1, day.year // 10 * 10))
    return day.replace(day=1, month=1, year=max(1, day.year // 100 * 100))


def days_in(year: int, month: int) -> int:
    """How many days the month has."""
    return monthrange(year, month)[1]


def first_week(year: int, month: int = 1, week_start: int = 0) -> datetime:
    """The start of the first week that has most of its days in the month (ISO 8601's rule for years)."""
    return floor(datetime(year, month, 4), "week", week_start)


def last_week(year: int, month: int = 12, week_start: int = 0) -> datetime:
    """The start of the last week that has most of its days in the month."""
    return floor(datetime(year, month, days_in(year, month) - 3), "week", week_start)


def easter(year: int) -> datetime:
    """Western Easter Sunday, by the anonymous Gregorian computus."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    lag = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * lag) // 433
    month = (h + lag - 7 * m + 90) // 25
    return datetime(year, month, (h + lag - 7 * m + 33 * month + 19) % 32)


def orthodox_easter(year: int) -> datetime:
    """Orthodox Easter Sunday: Meeus's Julian algorithm, moved to the Gregorian calendar (1900 to 2099)."""
    a, b, c = year % 4, year % 7, year % 19
    d = (19 * c + 15) % 30
    month, day = divmod(d + (2 * a + 4 * b - d + 34) % 7 + 114, 31)
    return datetime(year, month, day + 1) + timedelta(days=13)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> datetime | None:
    """The nth such weekday of the month, counted from its end when negative; None when there is none."""
    if nth > 0:
        first = datetime(year, month, 1)
        day = 1 + (weekday - first.weekday()) % 7 + 7 * (nth - 1)
    else:
        length = days_in(year, month)
        day = length - (datetime(year, month, length).weekday() - weekday) % 7 + 7 * (nth + 1)
    return datetime(year, month, day) if 1 <= day <= days_in(year, month) else None
