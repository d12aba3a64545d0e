"""Windows cut all of time without a gap, in every zone, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import UsageError
from everwhen.tree.levels import WindowSize, parse_levels

ZONES = (
    "UTC",
    "Europe/Lisbon",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
)
SPANS = (
    "minute",
    "15 minutes",
    "hour",
    "5 hours",
    "day",
    "3 days",
    "week",
    "2 weeks",
    "month",
    "quarter",
    "year",
    "10 years",
)
instants = st.datetimes(datetime(1950, 1, 1), datetime(2080, 1, 1)).map(lambda one: one.replace(tzinfo=UTC))


@given(instant=instants, zone=st.sampled_from(ZONES), text=st.sampled_from(SPANS))
def test_an_instant_lies_in_its_window_and_the_next_window_begins_where_it_ends(
    instant: datetime, zone: str, text: str
) -> None:
    span = WindowSize.parse(text)
    window = span.window(instant, zone)
    assert window.contains(instant)
    assert window.start is not None
    assert window.end is not None
    assert span.window(window.start, zone) == window
    assert span.window(window.end - timedelta(microseconds=1), zone) == window
    assert span.window(window.end, zone).start == window.end


@pytest.mark.parametrize(("date", "hours"), [((2025, 3, 30), 23), ((2025, 10, 26), 25), ((2025, 6, 1), 24)])
def test_a_day_is_as_long_as_the_clock_makes_it(date: tuple[int, int, int], hours: int) -> None:
    noon = datetime(*date, 12, tzinfo=ZoneInfo("Europe/Lisbon"))
    window = WindowSize.parse("day").window(noon, "Europe/Lisbon")
    assert window.length == timedelta(hours=hours)


def test_the_hour_that_the_clock_shows_twice_is_two_windows() -> None:
    first = datetime(2025, 10, 26, 1, 30, fold=0, tzinfo=ZoneInfo("Europe/Lisbon"))
    second = datetime(2025, 10, 26, 1, 30, fold=1, tzinfo=ZoneInfo("Europe/Lisbon"))
    hour = WindowSize.parse("hour")
    assert hour.window(first, "Europe/Lisbon").end == hour.window(second, "Europe/Lisbon").start


@pytest.mark.parametrize(
    ("day", "month"), [((2024, 1, 31), 2), ((2024, 12, 30), 1), ((2025, 8, 1), 7), ((2025, 6, 15), 6)]
)
def test_a_week_belongs_to_the_month_of_its_thursday(day: tuple[int, int, int], month: int) -> None:
    levels = parse_levels("day, week, month", "Europe/Lisbon")
    week = levels.window_place(4, datetime(*day, 12, tzinfo=UTC))
    above = levels.above(week)
    assert above is not None
    assert above.start.astimezone(ZoneInfo("Europe/Lisbon")).month == month
    assert above.id == week.parent


def test_january_stays_in_its_year_though_its_first_week_begins_in_the_year_before() -> None:
    levels = parse_levels("week, month, year", "UTC")
    month = levels.window_place(4, datetime(2026, 1, 1, tzinfo=UTC))
    above = levels.above(month)
    assert above is not None
    assert above.start.year == 2026


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ("month, day", "a day cannot stand above a month"),
        ("day, week, 7 days", "cannot stand above a week"),
        ("day, fortnight", "'fortnight' is no window"),
        ("0 days", "1 minute to 100 years"),
        ("day, 200 years", "1 minute to 100 years"),
        ("36 hours", "longer than a day"),
        (" , ", "takes 1 to 7 windows"),
    ],
)
def test_windows_that_make_no_tree_are_refused_in_one_sentence(windows: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_levels(windows, "UTC")
