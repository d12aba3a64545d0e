"""Interval algebra: what must hold for all intervals, by property."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen_time import Interval, Relation
from everwhen_time.calendar import add_months, easter, nth_weekday

instants = st.datetimes(
    datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC), allow_imaginary=False
).map(lambda moment: moment.replace(microsecond=0))
closed = st.tuples(instants, st.integers(1, 10_000_000)).map(
    lambda pair: Interval(pair[0], pair[0] + timedelta(seconds=pair[1]))
)
intervals = st.tuples(closed, st.sampled_from(["closed", "since", "until"])).map(
    lambda pair: {
        "closed": pair[0],
        "since": Interval(pair[0].start, None),
        "until": Interval(None, pair[0].end),
    }[pair[1]]
)


def holds(a: Interval, b: Interval) -> list[Relation]:
    """Allen's definitions written out for closed intervals, one by one: a reference for `relation`."""
    assert a.start and a.end and b.start and b.end
    truths = {
        Relation.BEFORE: a.end < b.start,
        Relation.MEETS: a.end == b.start,
        Relation.OVERLAPS: a.start < b.start < a.end < b.end,
        Relation.STARTS: a.start == b.start and a.end < b.end,
        Relation.DURING: b.start < a.start and a.end < b.end,
        Relation.FINISHES: b.start < a.start and a.end == b.end,
        Relation.EQUALS: a.start == b.start and a.end == b.end,
        Relation.FINISHED_BY: a.start < b.start and a.end == b.end,
        Relation.CONTAINS: a.start < b.start and b.end < a.end,
        Relation.STARTED_BY: a.start == b.start and b.end < a.end,
        Relation.OVERLAPPED_BY: b.start < a.start < b.end < a.end,
        Relation.MET_BY: b.end == a.start,
        Relation.AFTER: b.end < a.start,
    }
    return [relation for relation, true in truths.items() if true]


@given(closed, closed)
def test_exactly_one_of_the_thirteen_relations_holds(a: Interval, b: Interval) -> None:
    assert holds(a, b) == [a.relation(b)]


@given(closed, st.integers(-3, 3), st.integers(-3, 3))
def test_near_neighbours_get_the_relation_of_the_definitions(a: Interval, left: int, right: int) -> None:
    assert a.start and a.end
    b = Interval(a.start, a.end + timedelta(hours=8)).shift(hours=left)
    assert b.start and b.end
    b = Interval(b.start, b.end + timedelta(hours=right))
    assert holds(a, b) == [a.relation(b)]


@given(intervals, intervals)
def test_the_relation_seen_from_the_other_side_is_the_inverse(a: Interval, b: Interval) -> None:
    assert b.relation(a) == a.relation(b).inverse


@given(intervals, intervals)
def test_the_intersection_lies_in_both_and_is_there_exactly_when_they_overlap(
    a: Interval, b: Interval
) -> None:
    shared = a.intersection(b)
    assert (shared is not None) == a.overlaps(b)
    if shared is not None:
        assert a.covers(shared) and b.covers(shared)
        assert shared == b.intersection(a)


@given(intervals, intervals)
def test_the_hull_covers_both(a: Interval, b: Interval) -> None:
    hull = a.hull(b)
    assert hull.covers(a) and hull.covers(b)
    assert hull == b.hull(a)


@given(intervals, intervals)
def test_a_gap_lies_between_and_touches_both(a: Interval, b: Interval) -> None:
    gap = a.gap(b)
    if gap is None:
        assert a.relation(b) not in (Relation.BEFORE, Relation.AFTER)
    else:
        assert {gap.relation(a), gap.relation(b)} == {Relation.MEETS, Relation.MET_BY}


@given(closed, instants)
def test_containment_is_half_open(interval: Interval, instant: datetime) -> None:
    assert interval.start and interval.end
    assert interval.contains(interval.start)
    assert not interval.contains(interval.end)
    assert interval.contains(instant) == (interval.start <= instant < interval.end)


@given(closed, st.integers(-500, 500), st.integers(-40, 40))
def test_shifting_by_days_and_hours_can_be_undone(interval: Interval, days: int, hours: int) -> None:
    assert interval.shift(days=days, hours=hours).shift(days=-days, hours=-hours) == interval


@given(instants, st.integers(-600, 600))
def test_adding_months_lands_in_the_right_month(moment: datetime, months: int) -> None:
    later = add_months(moment, months)
    assert (later.year * 12 + later.month) - (moment.year * 12 + moment.month) == months
    assert later.day <= moment.day


@given(intervals)
def test_json_gives_the_interval_back(interval: Interval) -> None:
    data = interval.to_json()
    assert Interval.from_json(data) == interval
    assert all(side is None or side.endswith("Z") for side in (data["start"], data["end"]))


def test_a_month_end_stays_a_month_end() -> None:
    january = Interval(datetime(2023, 1, 31, tzinfo=UTC), datetime(2023, 2, 1, tzinfo=UTC))
    assert january.shift(months=1).start == datetime(2023, 2, 28, tzinfo=UTC)
    leap = Interval(datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC))
    assert leap.shift(years=1).start == datetime(2025, 2, 28, tzinfo=UTC)


def test_days_keep_the_wall_clock_across_a_change_of_clocks() -> None:
    noon = datetime(2023, 3, 25, 11, tzinfo=UTC)  # 12:00 in Rome, the day before the clocks go forward
    shifted = Interval(noon, noon + timedelta(hours=1)).shift(days=1, zone="Europe/Rome")
    assert shifted.start == datetime(2023, 3, 26, 10, tzinfo=UTC)  # still 12:00 in Rome
    assert Interval(noon, None).shift(hours=24).start == datetime(2023, 3, 26, 11, tzinfo=UTC)


def test_a_naive_datetime_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="needs aware datetimes"):
        Interval(datetime(2023, 5, 1), None)


def test_an_interval_cannot_end_before_it_starts() -> None:
    with pytest.raises(ValueError, match="cannot end"):
        Interval(datetime(2023, 5, 2, tzinfo=UTC), datetime(2023, 5, 1, tzinfo=UTC))


def test_an_unknown_grain_in_json_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown grain"):
        Interval.from_json({"start": None, "end": None, "grain": "eon"})


def test_length_and_middle_of_a_day() -> None:
    day = Interval(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 5, 2, tzinfo=UTC))
    assert day.length == timedelta(days=1)
    assert day.middle == datetime(2023, 5, 1, 12, tzinfo=UTC)
    assert Interval(day.start, None).length is None
    assert Interval(day.start, None).middle is None


@pytest.mark.parametrize(
    ("year", "month", "day"), [(1961, 4, 2), (2000, 4, 23), (2019, 4, 21), (2023, 4, 9), (2024, 3, 31)]
)
def test_easter_falls_where_the_church_says(year: int, month: int, day: int) -> None:
    assert easter(year) == datetime(year, month, day)


def test_there_is_no_fifth_monday_in_february_2023() -> None:
    assert nth_weekday(2023, 2, 0, 5) is None
    assert nth_weekday(2023, 5, 0, -1) == datetime(2023, 5, 29)
