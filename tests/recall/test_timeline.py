"""`timeline`: everything once, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen import Event, Interval, Memory, UsageError
from everwhen.recall.calendar.timeline import merged, timeline, upcoming


def day(month: int, number: int) -> datetime:
    return datetime(2025, month, number, 18, tzinfo=UTC)


@pytest.fixture
def ana(home: Path) -> Iterator[Memory]:
    with Memory.open(home, "ana") as memory:
        for at, text in (
            (day(6, 4), "I moved to Porto last week!"),
            (day(6, 4), "I painted the kitchen on Saturday."),
            (day(6, 9), "I moved to Porto, can you believe it?"),
            (day(6, 20), "I start at the aquarium on 7 July. I didn't go to the gym yesterday."),
        ):
            memory.add({"role": "user", "name": "Ana", "content": text}, at=at)
        yield memory


def test_events_facts_and_conversations_stand_in_the_order_of_time(ana: Memory) -> None:
    entries = ana.timeline()
    starts = [entry.interval.start for entry in entries]
    assert starts == sorted(starts, key=lambda start: start or datetime.min.replace(tzinfo=UTC))
    assert {entry.kind for entry in entries} == {"event", "fact began", "session"}
    assert ("fact began", "Ana lives in Porto") in {(entry.kind, entry.text) for entry in entries}


def test_an_event_that_was_told_twice_comes_once_with_all_its_turns(ana: Memory) -> None:
    (move,) = [entry for entry in ana.timeline() if entry.kind == "event" and "moved to Porto" in entry.text]
    turns = [turn.id for turn in ana.turns() if "moved" in turn.text]
    assert (set(move.turns), move.inferred) == (set(turns), False)
    assert move.interval.grain == "week"


def test_plans_are_marked_and_what_did_not_happen_is_left_out(ana: Memory) -> None:
    statuses = {entry.text: entry.status for entry in ana.timeline() if entry.kind == "event"}
    assert [status for text, status in statuses.items() if "aquarium" in text] == ["planned"]
    assert not any("gym" in text for text in statuses)
    assert any("gym" in entry.text and entry.status == "negated" for entry in ana.timeline(negated=True))


def test_what_is_planned_next_is_ahead_of_the_moment_and_each_plan_comes_once(ana: Memory) -> None:
    ana.add({"role": "user", "name": "Ana", "content": "I start at the aquarium on 7 July!"}, at=day(6, 21))
    ana.add({"role": "user", "name": "Ana", "content": "I fly to Oslo on 6 October."}, at=day(6, 22))
    plans = ana.events(status="planned")
    assert [event.occurred.start.month for event in upcoming(plans, day(6, 30)) if event.occurred] == [7, 10]
    assert [event.verb for event in upcoming(plans, day(7, 20))] == ["fly"]
    assert upcoming(plans, day(11, 19)) == []


def test_a_plan_is_not_told_again_as_a_fact(ana: Memory) -> None:
    assert not [entry for entry in ana.timeline() if entry.kind.startswith("fact") and "plans" in entry.text]


def test_a_fact_that_was_replaced_ends(ana: Memory) -> None:
    ana.facts.assert_("Ana", "lives in", "Faro", valid_from=day(8, 1), at=day(8, 2))
    ended = [entry for entry in ana.timeline(about="Porto") if entry.kind == "fact ended"]
    assert [entry.text for entry in ended] == ["Ana lived in Porto until then"]
    assert ended[0].interval.contains(day(8, 1))


def test_a_topic_keeps_what_it_is_about_and_where_it_was_told(ana: Memory) -> None:
    entries = ana.timeline(about="painting the kitchen")
    assert entries[0].kind == "event"
    assert "kitchen" in entries[0].text
    assert [entry.ids for entry in entries if entry.kind == "session"] == [("2025-06-04",)]


def test_between_holds_for_every_entry(ana: Memory) -> None:
    june = Interval(datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC), "month")
    entries = ana.timeline(between=june)
    assert entries and all(entry.interval.overlaps(june) for entry in entries)
    assert len(entries) < len(ana.timeline())
    assert ana.timeline(between=(day(1, 1), day(1, 2))) == []


@pytest.mark.parametrize("grain", ["day", "week", "month", "year"])
def test_every_entry_stands_under_the_unit_in_which_it_begins(ana: Memory, grain: str) -> None:
    for entry in ana.timeline(grain=grain):  # type: ignore[arg-type]
        assert entry.group is not None and entry.group.grain == grain
        assert entry.interval.start is not None and entry.group.contains(entry.interval.start)


def test_an_unknown_grain_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="unknown grain 'hour'; use one of day, week, month, year"):
        memory.timeline(grain="hour")  # type: ignore[arg-type]


def test_an_empty_bank_has_an_empty_timeline(memory: Memory) -> None:
    assert memory.timeline() == []


quickly = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
BASE = datetime(2025, 1, 1, tzinfo=UTC)
events = st.builds(
    lambda place, start, length, verb, thing, status, inferred: Event(
        id=f"e{place}",
        subject="Ana",
        verb=verb,
        object=thing,
        occurred=Interval(BASE + timedelta(days=start), BASE + timedelta(days=start + length), "day"),
        status=status,
        aliases=(),
        confidence=0.8,
        turns=(f"t{place}",),
        text=f"Ana {verb} {thing}",
        inferred=inferred,
        said_at=BASE + timedelta(days=start + length),
    ),
    st.integers(0, 10_000),
    st.integers(0, 300),
    st.integers(1, 31),
    st.sampled_from(["buy", "see"]),
    st.sampled_from(["a red car", "the red car", "Rui", ""]),
    st.sampled_from(["happened", "planned", "negated"]),
    st.booleans(),
)


@quickly
@given(
    st.lists(events, max_size=8, unique_by=lambda event: event.id), st.integers(0, 300), st.integers(1, 100)
)
def test_a_timeline_is_sorted_and_inside_its_window(told: list[Event], start: int, length: int) -> None:
    window = Interval(BASE + timedelta(days=start), BASE + timedelta(days=start + length), "day")
    entries = timeline(told, [], [], between=window, grain="month", zone="UTC")
    starts = [entry.interval.start for entry in entries if entry.interval.start]
    assert starts == sorted(starts)
    assert all(entry.interval.overlaps(window) and entry.status != "negated" for entry in entries)


@quickly
@given(st.lists(events, max_size=8, unique_by=lambda event: event.id))
def test_merging_loses_no_turn_and_merges_nothing_twice(told: list[Event]) -> None:
    once = merged(told)
    assert {turn for event in once for turn in event.turns} == {
        turn for event in told for turn in event.turns
    }
    assert sum(len(event.turns) for event in once) == len(told)
    assert len(once) <= len(told)
