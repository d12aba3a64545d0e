"""What does not help is left out, with its reason, and never too much."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.recall.papers.gate import LEAST, MOST, GateInputs, chance, gate
from everwhen.types import Recalled
from everwhen.types.recall import Complexity, Gating
from tests.recall.memories import recalled

KINDS: tuple[Complexity, ...] = get_args(Complexity)
HOW: tuple[Gating, ...] = get_args(Gating)
scores = st.lists(st.floats(0, 1), max_size=20).map(lambda values: sorted(values, reverse=True))


def ranked(*values: float) -> list[Recalled]:
    return [recalled(f"m{place}", score) for place, score in enumerate(values)]


@settings(deadline=None)
@given(scores, st.sampled_from(KINDS), st.sampled_from(HOW))
def test_all_are_kept_or_dropped_in_their_order_and_the_first_three_stay(
    values: list[float], kind: Complexity, how: Gating
) -> None:
    memories = ranked(*values)
    kept, dropped = gate(memories, kind, how)
    assert kept[:LEAST] == memories[:LEAST]
    assert kept == [one for one in memories if one in kept]
    assert sorted([one.id for one in kept] + [one.id for one in dropped]) == sorted(
        one.id for one in memories
    )
    assert all(one.reason for one in dropped)


@settings(deadline=None)
@given(scores, st.sampled_from(KINDS))
def test_a_stricter_gate_keeps_no_more(values: list[float], kind: Complexity) -> None:
    memories = ranked(*values)
    kept = [len(gate(memories, kind, how)[0]) for how in HOW]
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] <= MOST[kind]


def test_no_gate_leaves_out_nothing() -> None:
    memories = ranked(*([1.0] + [0.0] * 8))
    assert gate(memories, "simple", "none") == (memories, [])
    assert gate([], "simple", "strict") == ([], [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_better_score_has_no_lesser_chance(kind: Complexity) -> None:
    chances = chance(np.log(np.array([1.0, 0.5, 0.4, 0.1, 0.01])), kind)
    assert ((chances > 0) & (chances < 1)).all()
    assert (np.diff(chances) <= 0).all()


def test_one_clear_answer_leaves_little_beside_it_and_a_harder_question_keeps_more() -> None:
    clear = ranked(1.0, *(0.3 * 0.6**place for place in range(40)))
    assert LEAST <= len(gate(clear, "simple", "strict")[0]) <= 8
    assert len(gate(clear, "simple", "strict")[0]) <= len(gate(clear, "hybrid", "strict")[0])


def test_the_reason_tells_the_chance() -> None:
    _, dropped = gate(ranked(1.0, 0.9, 0.8, *[1e-9] * 3), "simple", "careful")
    assert [one.id for one in dropped] == ["m3", "m4", "m5"]
    assert dropped[0].reason.startswith("hardly helps: a chance of ")


def test_the_same_words_again_are_dropped() -> None:
    memories = ranked(1.0, 0.99, 0.98, 0.97, 0.96)
    vectors = {one.id: np.eye(5, dtype=np.float32)[place] for place, one in enumerate(memories)}
    vectors["m3"] = vectors["m0"]
    kept, dropped = gate(memories, "hybrid", "careful", GateInputs(vectors))
    assert [one.id for one in kept] == ["m0", "m1", "m2", "m4"]
    assert [(one.id, one.reason) for one in dropped] == [("m3", "says the same as m0")]


def test_a_node_whose_turns_are_here_says_nothing_new_and_a_fact_says_since_when() -> None:
    memories = ranked(1.0, 0.99, 0.98, 0.97)
    told = replace(recalled("f", 0.9), kind="node", turns=("m0", "m2"))
    other = replace(recalled("g", 0.9), kind="node", turns=("m0", "elsewhere"))
    fact = replace(recalled("h", 0.9), kind="fact", turns=("m0",))
    kept, dropped = gate([*memories, told, other, fact], "hybrid", "careful")
    assert other in kept and fact in kept
    assert [(one.id, one.reason) for one in dropped] == [("f", "the turns that it was made of are here")]


def test_what_first_brings_a_word_of_the_question_stays() -> None:
    memories = ranked(1.0, 0.9, 0.8, 1e-9, 1e-9)
    words = {one.id: np.array([True, False]) for one in memories} | {"m4": np.array([False, True])}
    known = GateInputs({}, words, np.array([1.0, 1.0], np.float32))
    kept, dropped = gate(memories, "simple", "careful", known)
    assert [one.id for one in kept] == ["m0", "m1", "m2", "m4"]
    assert [one.id for one in dropped] == ["m3"]
