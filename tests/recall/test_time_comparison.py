"""`compare`: order and distance computed from intervals, honest where they leave it open."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import Comparison, Interval, Memory, TimeAnswer
from everwhen.recall.calendar.timeline import comparison, days_in_words
from everwhen.types import Compared

BASE = datetime(2024, 1, 1, tzinfo=UTC)


def side(name: str, start: int, length: int) -> Compared:
    first = BASE + timedelta(days=start)
    return Compared(name, TimeAnswer(Interval(first, first + timedelta(days=length), "day"), 0.9, ()))


sides = st.tuples(st.integers(0, 60), st.integers(1, 40))


def test_the_earlier_one_comes_first_whatever_the_order_of_asking() -> None:
    move, party = side("move", 0, 1), side("party", 5, 1)
    for found in (comparison(move, party), comparison(party, move)):
        assert (found.first.query, found.second.query, found.order) == ("move", "party", "before")
        assert found.gap is not None and (found.gap.least, found.gap.most, found.gap.text) == (5, 5, "5 days")


def test_grains_leave_the_gap_open_as_far_as_they_do() -> None:
    found = comparison(side("week", 0, 7), side("day", 9, 1))
    assert found.gap is not None and found.gap.text == "between 3 and 9 days"
    assert not found.gap.exact


def test_overlapping_intervals_cannot_be_told_apart() -> None:
    found = comparison(side("month", 0, 31), side("day", 9, 1))
    assert found.order == "overlap"
    assert found.gap is not None and (found.gap.least, found.gap.most) == (0, 21)


def test_what_has_no_date_cannot_be_compared() -> None:
    found = comparison(side("day", 0, 1), Compared("never", None))
    assert (found.order, found.gap) == ("unknown", None)


def test_an_open_side_leaves_no_bound() -> None:
    ongoing = Compared("cello", TimeAnswer(Interval(BASE, None, "year"), 0.9, ()))
    found = comparison(side("before", -10, 1), ongoing)
    assert (found.order, found.gap) == ("before", None)


@settings(deadline=None)
@given(sides, sides)
def test_turning_the_question_round_changes_nothing_but_the_order_of_what_cannot_be_told(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    a, b = side("a", *one), side("b", *other)
    there, back = comparison(a, b), comparison(b, a)
    assert (there.order, there.gap) == (back.order, back.gap)
    if there.order == "before":
        assert (there.first, there.second) == (back.first, back.second)
        assert there.gap is not None and there.gap.least > 0
    else:
        assert (there.first, there.second) == (a, b) and (back.first, back.second) == (b, a)


@settings(deadline=None)
@given(sides, sides, st.data())
def test_the_gap_holds_every_pair_of_days_that_the_intervals_allow(
    one: tuple[int, int], other: tuple[int, int], data: st.DataObject
) -> None:
    found = comparison(side("a", *one), side("b", *other))
    first = data.draw(st.integers(one[0], one[0] + one[1] - 1))
    second = data.draw(st.integers(other[0], other[0] + other[1] - 1))
    assert found.gap is not None and found.gap.least <= abs(first - second) <= found.gap.most


def test_gaps_are_told_in_the_unit_that_fits() -> None:
    assert days_in_words(0, 0) == "the same day"
    assert days_in_words(1, 1) == "1 day"
    assert days_in_words(14, 14) == "14 days (2 weeks)"
    assert days_in_words(36, 42) == "between 5 and 6 weeks (36 to 42 days)"
    assert days_in_words(70, 76) == "about 2 months (70 to 76 days)"


def test_days_are_counted_across_a_change_of_the_clocks(home: Path) -> None:
    with Memory.open(home, "lisbon", zone="Europe/Lisbon") as memory:
        memory.add("I planted a lemon tree today.", at=datetime(2025, 3, 28, 12, tzinfo=UTC))
        memory.add("My brother Rui arrived from Oslo today.", at=datetime(2025, 4, 1, 12, tzinfo=UTC))
        found: Comparison = memory.compare("when did I plant the lemon tree", "when did Rui arrive from Oslo")
    assert found.order == "before" and found.gap is not None
    assert (found.gap.least, found.gap.most) == (4, 4)
    assert [one.quote for one in found.evidence] == [
        "I planted a lemon tree today.",
        "My brother Rui arrived from Oslo today.",
    ]
