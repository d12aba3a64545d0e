"""Intervals and durations in ISO 8601 and in words: what is written can be read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen_time import (
    Duration,
    Interval,
    describe,
    explain,
    format_duration,
    format_interval,
    parse_duration,
    parse_interval,
    resolve,
)
from everwhen_time.calendar import Unit, floor, shift
from everwhen_time.interval import dates

counts = st.integers(0, 99)
durations = st.builds(Duration, counts, counts, counts, counts, counts, counts, counts)
instants = st.datetimes(datetime(1800, 1, 1), datetime(2150, 1, 1), timezones=st.just(UTC))
NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


@given(durations)
def test_durations_can_be_read_back(duration: Duration) -> None:
    if duration != Duration():
        assert parse_duration(format_duration(duration)) == duration


@given(instants, instants, st.sampled_from(["both", "since", "until"]))
def test_iso_intervals_can_be_read_back(a: datetime, b: datetime, shape: str) -> None:
    start, end = min(a, b), max(a, b)
    interval = Interval(None if shape == "until" else start, None if shape == "since" else end, "second")
    again = parse_interval(format_interval(interval))
    assert (again.start, again.end) == (interval.start, interval.end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2023", "2023-01-01", "2024-01-01"),
        ("2023-05", "2023-05-01", "2023-06-01"),
        ("2023-05-10", "2023-05-10", "2023-05-11"),
        ("2023-W18", "2023-05-01", "2023-05-08"),
        ("2023-W18-3", "2023-05-03", "2023-05-04"),
        ("2023-05-01/2023-06-01", "2023-05-01", "2023-06-01"),
        ("2023-05-01/P1W", "2023-05-01", "2023-05-08"),
        ("P1M/2023-03-31", "2023-02-28", "2023-03-31"),
        ("../2023-06-01", None, "2023-06-01"),
        ("2023-06-01/..", "2023-06-01", None),
    ],
)
def test_iso_intervals_of_every_shape(text: str, start: str | None, end: str | None) -> None:
    found = parse_interval(text)
    sides = tuple(None if side is None else side.date().isoformat() for side in (found.start, found.end))
    assert sides == (start, end)


@pytest.mark.parametrize("text", ["", "yesterday", "../..", "P1M", "2023-13", "P/2023-01-01", "2023-05-01/P"])
def test_what_is_no_iso_interval_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_interval(text)


@pytest.mark.parametrize("text", ["P", "PT", "1M", "-P1D", "P1S", "P1.5M"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


def test_a_duration_counts_calendar_months() -> None:
    assert Duration(months=1).after(datetime(2024, 1, 31, tzinfo=UTC)) == datetime(2024, 2, 29, tzinfo=UTC)
    assert str(Duration(years=1, hours=2)) == "P1YT2H"


UNITS: list[Unit] = ["minute", "day", "week", "month", "quarter", "year", "decade"]
ZONES = ["UTC", "Europe/Rome", "America/New_York", "Asia/Tokyo", "Australia/Sydney"]


@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2099, 1, 1)), st.sampled_from(UNITS), st.sampled_from(ZONES)
)
def test_a_described_unit_is_resolved_to_itself(moment: datetime, unit: Unit, zone: str) -> None:
    start = floor(moment, unit)
    sides = [side.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) for side in (start, shift(start, unit, 1))]
    if sides[0] >= sides[1]:
        return  # a minute that the change of clocks skips
    interval = Interval(*sides)
    (found,) = resolve(describe(interval, zone), NOW, zone)
    assert found.interval is not None
    assert (found.interval.start, found.interval.end) == (interval.start, interval.end)


@given(instants, instants)
def test_any_described_interval_is_resolved_to_itself(a: datetime, b: datetime) -> None:
    start, end = sorted((a, b))
    if start == end:
        return
    interval = Interval(start, end)
    found = [ref.interval for ref in resolve(describe(interval), NOW) if ref.interval]
    assert [(one.start, one.end) for one in found] == [(start, end)]


@pytest.mark.parametrize(
    ("iso", "words"),
    [
        ("2023-05-01/P1W", "the week of 1 May 2023"),
        ("2023-05-01/P1M", "May 2023"),
        ("2023-05-09/P1D", "9 May 2023"),
        ("2022-06-01/P3M", "the summer of 2022"),
        ("2025-04-01/P3M", "Q2 2025"),
        ("2016/..", "since 1 January 2016"),
        ("../2023-06-01", "until 1 June 2023"),
        ("1990/P10Y", "the 1990s"),
        ("2023-03-03/2023-03-10", "from 3 March 2023 to 9 March 2023"),
        ("2023-05-09T14:30Z/PT1M", "9 May 2023 at 14:30"),
        ("2023-05-09T14:30Z/PT2H", "9 May 2023 from 14:30 to 16:30"),
        ("2023-05-09T21:00Z/PT3H", "9 May 2023 from 21:00 to 24:00"),
    ],
)
def test_intervals_are_named_as_people_name_them(iso: str, words: str) -> None:
    interval = parse_interval(iso)
    assert describe(interval) == words
    (found,) = resolve(words, NOW)
    assert found.interval is not None
    assert (found.interval.start, found.interval.end) == (interval.start, interval.end)


def test_an_hour_that_the_clocks_showed_twice_is_told_exactly() -> None:
    second = Interval(datetime(2024, 10, 27, 1, 10, tzinfo=UTC), datetime(2024, 10, 27, 1, 40, tzinfo=UTC))
    assert describe(second, "Europe/Berlin") == "2024-10-27T01:10:00Z/2024-10-27T01:40:00Z"


def test_an_explanation_has_the_words_and_the_sides() -> None:
    assert explain(parse_interval("2023-05-09")) == "9 May 2023 [2023-05-09T00:00Z, 2023-05-10T00:00Z)"
    assert explain(parse_interval("2023/..")) == "since 1 January 2023 [2023-01-01T00:00Z, …)"
    assert explain(None) == "no interval of its own"


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ("2025-03-03/2025-03-10", "3 to 9 March 2025"),
        ("2025-02-28/2025-03-07", "28 February to 6 March 2025"),
        ("2024-12-30/2025-01-06", "30 December 2024 to 5 January 2025"),
        ("2025-03-03/2025-03-04", "3 March 2025"),
        ("2025-03-01/2025-04-01", "March 2025"),
        ("2024-12-01/2025-03-01", "December 2024 to February 2025"),
        ("2025-01-01/2026-01-01", "2025"),
        ("1990-01-01/2000-01-01", "1990 to 1999"),
        ("2025-03-03/..", "since 3 March 2025"),
        ("../2025-06-01", "up to 31 May 2025"),
    ],
)
def test_dates_are_the_first_and_the_last_day(interval: str, words: str) -> None:
    assert dates(replace(parse_interval(interval), grain="day")) == words


@given(
    st.dates(date(1960, 1, 1), date(2190, 1, 1)), st.integers(1, 800), st.sampled_from(["UTC", "Asia/Tokyo"])
)
def test_dates_are_resolved_to_the_interval_that_they_name(first: date, days: int, zone: str) -> None:
    start = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone))
    words = dates(Interval(start, start + timedelta(days=days), "day"), zone)
    (found,) = resolve(f"from {words}" if " to " in words else words, NOW, zone)
    assert found.interval is not None
    assert (found.interval.start, found.interval.end) == (start, start + timedelta(days=days)), words
