"""What is selected: inside the tokens, never more than `top_k`, and nothing lost on the way."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.recall.budget import fill, select
from everwhen.recall.candidates import Request
from everwhen.types import Recalled
from everwhen.types.recall import MID, tokens_of
from tests.recall.memories import recalled


def memories(entries: list[tuple[int, float, int]], when: str = "") -> list[Recalled]:
    return [
        recalled(f"m{place}", score, f"{'word ' * words}{when}", hours)
        for place, (words, score, hours) in enumerate(sorted(entries, key=lambda one: -one[1]))
    ]


entries = st.lists(st.tuples(st.integers(1, 90), st.floats(0, 1), st.integers(0, 96)), max_size=12)
limits = st.one_of(st.none(), st.integers(1, 8))


@settings(max_examples=80, deadline=None)
@given(entries, st.integers(1, 300), limits)
def test_where_no_text_has_a_date_dates_change_nothing(
    entries: list[tuple[int, float, int]], room: int, top_k: int | None
) -> None:
    ranked = memories(entries)
    request = Request("q", max_tokens=room, top_k=top_k)
    fitting, left, _ = fill(ranked, room)
    with Memory.open(embedder="fake", reader="none", extract="none") as memory:
        found = select(memory._bank.store, ranked, request, {})
        without = select(memory._bank.store, ranked, replace(request, recipe=MID.without("dates")), {})
    assert found == without == (fitting[:top_k], [] if top_k is None else fitting[top_k:], left)


@settings(max_examples=80, deadline=None)
@given(entries, st.integers(1, 300), limits)
def test_with_dates_the_bounds_hold_and_each_memory_is_in_one_place(
    entries: list[tuple[int, float, int]], room: int, top_k: int | None
) -> None:
    ranked = memories(entries, "last week")
    with Memory.open(embedder="fake", reader="none", extract="none") as memory:
        kept, beyond, left = select(
            memory._bank.store, ranked, Request("q", max_tokens=room, top_k=top_k), {}
        )
    assert tokens_of(kept) <= room and (top_k is None or len(kept) <= top_k)
    assert sorted(one.id for one in (*kept, *beyond, *left)) == sorted(one.id for one in ranked)
    assert bool(kept) == bool(fill(ranked, room)[0])
