"""Late interaction against a naive double loop."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.models.comparison import best_matches, weighted_maxsim
from everwhen.models.embedder import normalised

sizes = st.lists(st.integers(0, 6), max_size=8)


def unit_rows(chance: np.random.Generator, count: int, width: int = 12) -> np.ndarray:
    return normalised(chance.standard_normal((count, width)).astype(np.float32))


@settings(deadline=None)
@given(seed=st.integers(0, 1_000), words=st.integers(0, 9), counts=sizes)
def test_scores_are_those_of_a_double_loop(seed: int, words: int, counts: list[int]) -> None:
    chance = np.random.default_rng(seed)
    query, tokens = unit_rows(chance, words), unit_rows(chance, sum(counts))
    weights = chance.random(words).astype(np.float32)
    best = best_matches(query, tokens, np.array(counts, dtype=np.int64))
    assert best.shape == (len(counts), words)
    weighted = weighted_maxsim(best, weights)
    place = 0
    for c, count in enumerate(counts):
        own = tokens[place : place + count]
        place += count
        if not count or not words:
            assert np.isnan(weighted[c])
            continue
        matched = [max(float(q @ t) for t in own) for q in query]
        assert best[c] == pytest.approx(matched, abs=1e-5)
        assert weighted[c] == pytest.approx(np.average(matched, weights=weights), abs=1e-4)


def test_a_memory_that_holds_the_question_scores_one() -> None:
    chance = np.random.default_rng(3)
    query = unit_rows(chance, 4)
    tokens = np.concatenate([unit_rows(chance, 7), query[::-1], unit_rows(chance, 2)])
    best = best_matches(query, tokens, np.array([7, 6], dtype=np.int64))
    other, same = weighted_maxsim(best, np.ones(4, np.float32))
    assert same == pytest.approx(1.0, abs=1e-5) and same > other


def test_weights_of_nothing_give_no_score() -> None:
    best = np.ones((2, 3), np.float32)
    assert np.isnan(weighted_maxsim(best, np.zeros(3, np.float32))).all()


@pytest.mark.long
def test_a_hundred_and_fifty_candidates_are_compared_in_no_time() -> None:
    chance = np.random.default_rng(5)
    query, tokens = unit_rows(chance, 15, 96), unit_rows(chance, 150 * 30, 96)
    counts = np.full(150, 30, dtype=np.int64)
    best_of = []
    for _ in range(20):
        start = perf_counter()
        weighted_maxsim(best_matches(query, tokens, counts), np.ones(15, np.float32))
        best_of.append(perf_counter() - start)
    assert min(best_of) < 0.02  # about 1 ms; the bound is for a busy machine
