"""A turn brings its neighbours: each once, of its own session, and nothing that a filter keeps out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from everwhen import Memory
from everwhen.types import Recall
from everwhen.types.recall import MID
from tests.recall.memories import ASKED, START, tell

WIDE = replace(MID, candidates=2, expand=1, channels=("keyword",), facts=False)
TALK = [("Ana", f"number {place} of many") for place in range(9)]


@pytest.fixture
def told(quick: Memory) -> Memory:
    talk = list(TALK)
    talk[4] = ("Ben", "the kayak is here")
    tell(quick, talk, "one")
    tell(quick, [("Ana", "another talk")], "two", days=0.0001)  # in time between the turns of the first
    return quick


def ids(found: Recall) -> list[str]:
    return [one.id for one in found]


def test_the_turns_before_and_after_come_along_behind_the_one_that_brought_them(told: Memory) -> None:
    found = told.recall("kayak", at=ASKED, recipe=WIDE)
    leading = [one for one in found if one.why.beside is None]
    assert leading[0].id == "one-4"
    beside = {one.id: one for one in found if one.why.beside is not None}
    assert {"one-3", "one-5"} <= set(ids(found)) and "two-0" not in ids(found)
    for one in beside.values():
        brought = next(two for two in found if two.id == one.why.beside)
        assert ids(found).index(one.id) > ids(found).index(brought.id)
        assert (
            one.score == pytest.approx(brought.score / 2) and one.session == "one" and one.turns == (one.id,)
        )


def test_each_comes_once_though_two_bring_it(told: Memory) -> None:
    found = told.recall("number many kayak", at=ASKED, recipe=replace(WIDE, candidates=9, expand=3))
    assert len(ids(found)) == len(set(ids(found)))


def test_a_neighbour_that_the_filter_keeps_out_stays_out(told: Memory) -> None:
    found = told.recall("kayak", at=ASKED, recipe=replace(WIDE, expand=5), after=START + timedelta(minutes=4))
    assert set(ids(found)) == {f"one-{place}" for place in range(4, 9)}


def test_a_wider_reach_stops_at_the_ends_of_the_session(told: Memory) -> None:
    found = told.recall("kayak", at=ASKED, recipe=replace(WIDE, expand=100))
    assert set(ids(found)) == {f"one-{place}" for place in range(9)}


def test_a_fact_brings_no_neighbours(quick: Memory) -> None:
    tell(quick, TALK)
    quick.facts.assert_("Ana", "owns", "kayak")
    found = quick.recall("kayak", at=ASKED + timedelta(days=999), recipe=replace(WIDE, facts=True))
    assert [one.kind for one in found] == ["fact"]
