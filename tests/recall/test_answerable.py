"""Whether the memory holds an answer: between 0 and 1, and higher where it does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.recall.fusion import SignInputs, fitted, signs
from tests.recall.memories import tell


def confidence(memory: Memory, query: str) -> float:
    return float(memory.recall(query).trace["answerable"])


def test_what_was_said_is_surer_than_what_nobody_spoke_of(memory: Memory) -> None:
    tell(memory)
    assert confidence(memory, "What did Ana buy last weekend, a kayak?") > confidence(
        memory, "Which submarine did Ana's accountant paint?"
    )


def test_what_the_other_one_said_is_less_sure(memory: Memory) -> None:
    tell(memory)
    assert confidence(memory, "How are the tomatoes in Ben's garden?") > confidence(
        memory, "How are the tomatoes in Ana's garden?"
    )


def test_an_empty_memory_answers_nothing(quick: Memory) -> None:
    assert confidence(quick, "Where does Ana live?") == 0.0


@given(st.integers(1, 12), st.integers(0, 5), st.booleans(), st.integers(0, 99))
def test_each_sign_is_a_share(count: int, terms: int, named: bool, seed: int) -> None:
    chance = np.random.default_rng(seed)
    clues = SignInputs(
        named,
        chance.random(count) < 0.5,
        chance.random((count, terms)) < 0.5,
        chance.random(terms) < 0.5,
        chance.random(terms).astype(np.float32),
    )
    score = (chance.standard_normal(count) * 40).astype(np.float32)
    theirs, ever, first, length = signs(clues, score, score)
    assert np.isfinite([theirs, ever, first, length]).all()
    assert -0.5 <= theirs <= 0.5 and (named or theirs == 0)
    assert 0 <= ever <= 1.0001 and 0 <= first <= 1.0001
    weights = {name: len(one) for name, one in fitted()["answerable"].items()}
    assert weights == {"named": 5, "named_read": 6, "unnamed": 5, "unnamed_read": 6}
