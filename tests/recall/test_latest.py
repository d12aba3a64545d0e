"""Of two turns that may answer, the newer comes first: which ones count as two answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from everwhen import Memory
from everwhen.recall.latest import BEHIND, LESS_SURE, MAY_ANSWER, newer_first
from everwhen.recall.reading import Read
from everwhen.store import Filter
from tests.recall.memories import pool_of, tell

OLD, REPLY, NEW = "old-0", "old-1", "new-0"


@pytest.fixture
def moved(quick: Memory) -> Memory:
    tell(quick, [("Ana", "The kayak is in Porto."), ("Ben", "A kayak, good to know!")], session="old")
    tell(quick, [("Ana", "The kayak is in Faro.")], session="new", days=9)
    return quick


def gains(memory: Memory, fused: Mapping[str, float], logits: Mapping[str, float]) -> dict[str, float]:
    """What each of the turns gains, of given fused scores and the reader's given logits."""
    pool = pool_of(memory, "Where is the kayak?", where=Filter(kinds=frozenset({"turn"})))
    ids = [row.id for row in pool.rows]
    read = Read(np.array([ids.index(one) for one in logits]), np.array([*logits.values()], np.float32))
    gained = newer_first(pool, np.array([fused.get(one, -99.0) for one in ids], np.float32), read)
    return {one: round(float(gain), 2) for one, gain in zip(ids, gained, strict=True) if gain}


def test_the_newer_answer_comes_right_before_the_older_one(moved: Memory) -> None:
    fused = {OLD: 3.0, NEW: 1.0}
    assert gains(moved, fused, {OLD: 4.0, NEW: 3.0}) == {NEW: 2.0}
    assert gains(moved, {OLD: 1.0, NEW: 3.0}, {OLD: 4.0, NEW: 3.0}) == {}


@pytest.mark.parametrize(
    ("fused", "logits"),
    [
        ({OLD: 3.0, NEW: 1.0}, {OLD: 0.0, NEW: MAY_ANSWER - 0.1}),
        ({OLD: 3.0, NEW: 1.0}, {OLD: 4.0, NEW: 4.0 - LESS_SURE - 0.1}),
        ({OLD: 3.0, NEW: 3.0 - BEHIND - 0.1}, {OLD: 4.0, NEW: 4.0}),
        ({OLD: 3.0, NEW: 1.0}, {OLD: 4.0}),
    ],
    ids=["it does not answer", "it answers much less surely", "it is far behind", "it was not read"],
)
def test_what_is_no_second_answer_gains_nothing(
    moved: Memory, fused: dict[str, float], logits: dict[str, float]
) -> None:
    assert gains(moved, fused, logits) == {}


def test_a_turn_that_was_not_read_whole_gains_nothing(moved: Memory) -> None:
    tell(moved, [("Ana", "The kayak is in Faro. " + "Rain all day long. " * 60)], session="long", days=12)
    assert gains(moved, {OLD: 3.0, "long-0": 1.0}, {OLD: 4.0, "long-0": 4.0}) == {}
    assert gains(moved, {"long-0": 1.0, OLD: 3.0, NEW: 1.0}, {OLD: 4.0, NEW: 4.0}) == {NEW: 2.0}


def test_a_reply_comes_before_what_it_replies_to_only_where_it_is_the_surer_answer(moved: Memory) -> None:
    fused = {OLD: 3.0, REPLY: 1.0}
    assert gains(moved, fused, {OLD: 2.0, REPLY: 1.0}) == {}
    assert gains(moved, fused, {OLD: 1.0, REPLY: 2.0}) == {REPLY: 2.0}
