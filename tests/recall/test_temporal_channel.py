"""The temporal channel: what lies in the asked time comes out, and how well it fits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.recall.temporal_channel import EDGE, LEAST, POOL, closeness, temporal
from everwhen.store.rows import Filter, SearchQuery, Wanted
from everwhen.types.recall import MID
from everwhen_time import Interval, constraint

MAY = Interval(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC), "month")
SINCE_MAY = Interval(MAY.start, None, "month")
UNTIL_MAY = Interval(None, MAY.start, "month")


def day(month: int, date: int, year: int = 2023) -> Interval:
    start = datetime(year, month, date, tzinfo=UTC)
    return Interval(start, start + timedelta(days=1))


def instant(month: int, date: int) -> Interval:
    return Interval(
        datetime(2023, month, date, tzinfo=UTC), datetime(2023, month, date, tzinfo=UTC), "second"
    )


instants = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(lambda one: one.replace(tzinfo=UTC))
sides = st.one_of(st.none(), instants)
intervals = st.builds(
    lambda a, b: Interval(min(a, b), max(a, b)) if a and b else Interval(a, b), sides, sides
)


def test_the_middle_of_a_window_counts_most_and_its_edge_half() -> None:
    assert closeness(day(5, 16), MAY) == pytest.approx(1.0)
    assert closeness(instant(5, 1), MAY) == pytest.approx(EDGE)
    assert closeness(instant(6, 1), MAY) == 0.0


def test_temprs_score_falls_in_a_line_from_the_middle_and_its_edge_still_counts() -> None:
    half = (day(5, 24).middle - day(5, 16).middle) / (MAY.end - MAY.start) * 2  # type: ignore[operator]
    assert closeness(day(5, 16), MAY, 0) == pytest.approx(1.0, abs=0.02)
    assert closeness(day(5, 24), MAY, 0) == pytest.approx(1 - half, abs=0.02)
    assert closeness(instant(5, 1), MAY, 0) == LEAST
    assert closeness(instant(6, 1), MAY, 0) == 0.0


def test_an_open_window_favours_the_named_side_and_never_ends() -> None:
    assert closeness(instant(5, 1), SINCE_MAY) == pytest.approx(1.0)
    assert EDGE < closeness(day(5, 1, 2031), SINCE_MAY) < closeness(day(7, 1), SINCE_MAY) < 1
    assert closeness(instant(4, 30), SINCE_MAY) == 0.0
    assert EDGE < closeness(day(4, 1), UNTIL_MAY) < closeness(day(4, 30), UNTIL_MAY) <= 1
    assert closeness(Interval(None, None), SINCE_MAY) == closeness(MAY, Interval(None, None)) == 1.0


@given(intervals, intervals)
def test_closeness_is_nothing_or_at_least_the_edge(when: Interval, window: Interval) -> None:
    found = closeness(when, window)
    assert found == 0.0 or EDGE <= found <= 1.0


@pytest.fixture
def told(memory: Memory) -> Memory:
    for said, text in (
        ("2023-03-10", "We painted the kitchen walls green."),
        ("2023-05-12", "We painted the bedroom walls yellow."),
        ("2023-05-31", "We painted the hallway walls white."),
        ("2023-06-20", "Last month we painted the garage walls blue."),
        ("2023-05-14", "The orchestra played Mahler."),
    ):
        memory.add(text, at=datetime.fromisoformat(said).replace(tzinfo=UTC), session=said)
    memory.flush()
    return memory


def found(memory: Memory, windows: list[Interval], where: Filter | None = None) -> list[str]:
    vector = memory._bank.embedder.embed(["Which walls did we paint?"])[0]
    search = memory._bank.store.search(SearchQuery(vector, where=where or Filter()))
    timed = search.candidates(
        Wanted(0, windows=windows, timed=20 * POOL, timed_floor=MID.temporal_similarity)
    ).timed
    scored = temporal(search, timed, windows, 20, where or Filter())
    rows = memory._bank.store.units([one.unit for one in scored])
    return [rows[one.unit].text for one in scored if rows[one.unit].kind != "fact"]  # those hold on and on


def test_what_was_said_or_happened_in_the_window_is_found_and_nothing_else(told: Memory) -> None:
    texts = found(told, [MAY])
    assert {"bedroom", "hallway", "garage"} == {text.split(" walls")[0].split()[-1] for text in texts}


def test_the_window_of_the_question_is_what_is_searched(told: Memory) -> None:
    asked = constraint("Which walls did we paint in March?", datetime(2023, 7, 1, tzinfo=UTC))
    assert asked is not None
    assert found(told, list(asked.intervals)) == ["We painted the kitchen walls green."]


def test_one_of_several_windows_is_enough(told: Memory) -> None:
    march = Interval(datetime(2023, 3, 1, tzinfo=UTC), datetime(2023, 4, 1, tzinfo=UTC), "month")
    texts = found(told, [march, day(5, 31)])
    assert any("kitchen" in text for text in texts) and any("hallway" in text for text in texts)
    assert not any("bedroom" in text for text in texts)


def test_open_windows_work(told: Memory) -> None:
    assert not any("kitchen" in text for text in found(told, [SINCE_MAY]))
    assert found(told, [UNTIL_MAY]) == ["We painted the kitchen walls green."]


def test_hard_filters_hold_for_what_events_lead_back_to(told: Memory) -> None:
    spring = Filter(between=Interval(None, datetime(2023, 6, 1, tzinfo=UTC)))
    assert not any("garage" in text for text in found(told, [MAY], spring))
    assert found(told, [MAY], Filter(kinds=frozenset({"node"}))) == []
    assert found(told, [MAY], Filter(metadata={"project": "x"})) == []
    assert found(told, [MAY], Filter(between=day(1, 1))) == []


def test_no_window_finds_nothing(told: Memory) -> None:
    assert found(told, []) == []
