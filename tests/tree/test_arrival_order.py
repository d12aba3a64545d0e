"""Whatever the order of arrival, the same turns make the same tree, and every tree is one."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen import Message
from tests.tree.talks import holds, opened

ZONES = ("UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe")
WINDOWS = ("day, week, month", "hour, day, year", "20 minutes, 6 hours, 3 days, quarter", "month")
WORDS = ("jam", "violin", "Porto", "train", "garden", "Mira", "recipe", "42 euros", "the cat", "snow")

# Around the changes of the clock of 2025, around midnight and the turn of the year, and anywhere.
moments = st.one_of(
    st.sampled_from(
        [
            datetime(2025, 3, 30, 0, 50, tzinfo=UTC),
            datetime(2025, 10, 26, 0, 30, tzinfo=UTC),
            datetime(2025, 10, 26, 1, 30, tzinfo=UTC),
            datetime(2025, 11, 2, 5, 45, tzinfo=UTC),
            datetime(2024, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            datetime(2025, 6, 1, tzinfo=ZoneInfo("Europe/Lisbon")).astimezone(UTC),
        ]
    ),
    st.datetimes(datetime(2024, 11, 1), datetime(2026, 2, 1)).map(lambda one: one.replace(tzinfo=UTC)),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Sessions with gaps of seconds to days, so that some cross midnight, weeks and months."""
    found: list[Message] = []
    for session in range(draw(st.integers(1, 4))):
        at = draw(moments)
        for _ in range(draw(st.integers(1, 6))):
            at += timedelta(seconds=draw(st.sampled_from([0, 1, 40, 1800, 7200, 90_000, 900_000])))
            words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
            found.append(
                Message(
                    f"I told {words[0]} about {' and '.join(words)}.",
                    name=draw(st.sampled_from(["Ana", "Ben", "Cleo"])),
                    said_at=at,
                    id=f"t{len(found)}",
                    session=f"s{session}",
                )
            )
    return found


arrivals = given(
    told=conversations(),
    chance=st.randoms(use_true_random=False),
    zone=st.sampled_from(ZONES),
    windows=st.sampled_from(WINDOWS),
    often=st.booleans(),
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@arrivals
def test_the_tree_is_that_of_sorted_arrival(**arrival: Any) -> None:
    same_as_sorted(**arrival)


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@arrivals
def test_the_tree_is_that_of_sorted_arrival_many_times(**arrival: Any) -> None:
    same_as_sorted(**arrival)


def same_as_sorted(told: list[Message], chance: object, zone: str, windows: str, often: bool) -> None:
    shuffled = list(told)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        with opened(Path(folder), "sorted", zone=zone, tree_windows=windows) as memory:
            memory.add_many(sorted(told, key=lambda one: one.said_at))
            memory.consolidate("end")
            expected = memory.tree()
        with opened(Path(folder), "shuffled", zone=zone, tree_windows=windows) as memory:
            for start in range(0, len(shuffled), 5):
                memory.add_many(shuffled[start : start + 5])
                if often:
                    memory.consolidate()
                    assert memory._bank.store.tree.check() == []
            memory.consolidate("end")
            assert memory.tree() == expected
            assert memory.doctor() == []
            assert memory.consolidate("end").built == memory.consolidate().rebuilt == 0
    holds(expected)
    assert {turn for node in expected if node.level == 1 for turn in node.children} == {
        one.id for one in told
    }
