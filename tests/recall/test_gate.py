"""What does not help is left out, and never too much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everwhen.recall.gate import gate
from tests.recall.memories import recalled

scores = st.lists(st.floats(0, 1), max_size=12).map(lambda values: sorted(values, reverse=True))


@given(scores, st.floats(0, 1))
def test_at_least_three_stay_and_everything_else_is_a_share_of_the_best(
    values: list[float], share: float
) -> None:
    memories = [recalled(f"m{place}", score) for place, score in enumerate(values)]
    kept, dropped = gate(memories, share)
    assert kept[:3] == memories[:3]
    assert all(one.score >= share * values[0] for one in kept[3:])
    assert all(one.score < share * values[0] for one in dropped)
    assert sorted([one.id for one in kept] + [one.id for one in dropped]) == sorted(
        one.id for one in memories
    )
    assert kept == [one for one in memories if one in kept]


def test_a_share_of_nothing_leaves_out_nothing() -> None:
    memories = [recalled(f"m{place}", 0.0) for place in range(9)]
    assert gate(memories, 0.0) == (memories, [])
    assert gate([], 0.5) == ([], [])


def test_the_reason_names_the_share() -> None:
    _, dropped = gate([recalled(f"m{place}", 1.0 if place < 3 else 0.1) for place in range(4)], 0.25)
    assert [(one.id, one.reason) for one in dropped] == [("m3", "scores less than 0.25 of the best")]
