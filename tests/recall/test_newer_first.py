"""What replaces an answer comes before it: which turns are held against each other, and what they gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from everwhen import Memory
from everwhen.store.rows import Filter, SaidBy
from everwhen.write.changes.newer_answers import MAY_ANSWER, RENEWS, newer_first
from tests.recall.memories import pool_of, tell

OLD, REPLY, NEW, NEWEST = "old-0", "old-1", "new-0", "newest-0"


@pytest.fixture
def moved(quick: Memory) -> Memory:
    tell(quick, [("Ana", "The kayak is in Porto."), ("Ben", "A kayak, good to know!")], session="old")
    tell(quick, [("Ana", "The kayak is in Faro.")], session="new", days=9)
    tell(quick, [("Ana", "The kayak is in Tavira.")], session="newest", days=19)
    return quick


def gains(
    memory: Memory,
    fused: Mapping[str, float],
    renewed: Mapping[tuple[str, str], float],
    logits: Mapping[str, float] | None = None,
    question: str = "Where is the kayak?",
    digits: int = 2,
) -> dict[str, float]:
    """What each turn gains, of given fused scores; `renewed` says of an earlier and a later turn what the reader says,
    `logits` which of them may answer (all of them, unless it is given)."""
    pool = pool_of(memory, question, where=Filter(kinds=frozenset({"turn"})))
    ids = [row.id for row in pool.rows]
    said = [(row.said_at, row.seq) for row in pool.rows]
    read = logits or dict.fromkeys(fused, 4.0)
    answers = {ids.index(one) for one, logit in read.items() if logit >= MAY_ANSWER}
    left_out = pool.found.said_by(SaidBy(role="assistant")) & (not pool.plan.question.second_person)

    def renews(pairs: Sequence[tuple[int, int]]) -> np.ndarray:
        return np.array([renewed.get((ids[a], ids[b]), RENEWS - 1) for a, b in pairs], np.float32)

    scores = np.array([fused.get(one, -99.0) for one in ids], np.float32)
    gained = newer_first(scores, said, answers, left_out, renews)
    return {one: round(float(gain), digits) for one, gain in zip(ids, gained, strict=True) if gain}


def test_what_replaces_an_answer_comes_right_before_it(moved: Memory) -> None:
    renewed = {(OLD, NEW): RENEWS + 1}
    assert gains(moved, {OLD: 3.0, NEW: 1.0}, renewed) == {NEW: 2.0}
    assert gains(moved, {OLD: 1.0, NEW: 3.0}, renewed) == {}


@pytest.mark.parametrize("newest", [0.0, 2.0])
def test_the_last_of_several_replacements_comes_first(moved: Memory, newest: float) -> None:
    fused = {OLD: 3.0, NEW: 1.0, NEWEST: newest}
    gained = gains(moved, fused, {(OLD, NEW): 3.0, (OLD, NEWEST): 3.0}, digits=4)
    scores = {one: score + gained.get(one, 0.0) for one, score in fused.items()}
    assert sorted(scores, key=scores.__getitem__) == [OLD, NEW, NEWEST]


def test_only_the_best_answer_is_held_against_what_was_said_later(moved: Memory) -> None:
    renewed = {(NEW, NEWEST): 3.0}
    assert gains(moved, {OLD: 3.0, NEW: 1.0, NEWEST: 0.0}, renewed) == {}
    assert gains(moved, {OLD: 1.0, NEW: 3.0, NEWEST: 0.0}, renewed) == {NEWEST: 3.0}


def test_a_later_turn_that_replaces_nothing_gains_nothing(moved: Memory) -> None:
    assert gains(moved, {OLD: 3.0, REPLY: 1.0, NEW: 1.0}, {(OLD, REPLY): RENEWS - 0.1}) == {}


def test_an_earlier_turn_is_never_held_to_replace_a_later_one(moved: Memory) -> None:
    assert gains(moved, {OLD: 1.0, NEW: 3.0}, {(NEW, OLD): 9.0}) == {}


def test_only_what_may_answer_is_replaced(moved: Memory) -> None:
    fused, renewed = {OLD: 3.0, NEW: 1.0}, {(OLD, NEW): 3.0}
    assert gains(moved, fused, renewed, {OLD: MAY_ANSWER - 0.1, NEW: 4.0}) == {}
    assert gains(moved, fused, renewed, {OLD: MAY_ANSWER + 0.1, NEW: -9.0}) == {NEW: 2.0}


def test_what_an_assistant_says_later_replaces_nothing_unless_it_is_asked_for(quick: Memory) -> None:
    tell(quick, [("Ana", "The kayak is in Porto.")], session="old")
    tell(quick, [("assistant", "So the kayak is in Faro.")], session="new", days=9)
    renewed = {(OLD, NEW): RENEWS + 1}
    assert gains(quick, {OLD: 3.0, NEW: 1.0}, renewed) == {}
    assert gains(quick, {OLD: 3.0, NEW: 1.0}, renewed, question="Where did you say is the kayak?") == {
        NEW: 2.0
    }


def test_the_packaged_reader_puts_a_new_place_before_the_old_one() -> None:
    from everwhen.models.comparison import PackagedReader, Passage

    told = [
        Passage("Ana", "The dentist is on Tuesday at three."),
        Passage("Ana", "The dentist moved me to Thursday at noon."),
    ]
    reply = Passage("Ben", "Good luck, I hate drills!")
    moved, replied = PackagedReader().renews(
        "When is Ana's dentist appointment?", [(told[0], told[1]), (told[0], reply)]
    )
    assert moved > RENEWS > replied
