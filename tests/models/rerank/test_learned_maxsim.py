"""The learned late interaction against its formula, word by word."""

from math import erf, exp, sqrt
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.models.comparison import AT_ONCE, best_matches, compare, compare_codes
from everwhen.models.embedder import CONVERSATION_FOLDER, WIDTH, decode_codes, encode_codes, normalised

WEIGHTS = {
    name: values.astype(np.float64) for name, values in np.load(CONVERSATION_FOLDER / "compare.npz").items()
}


def unit_rows(chance: np.random.Generator, count: int) -> np.ndarray:
    return normalised(chance.standard_normal((count, WIDTH)).astype(np.float32))


def gelu(values: np.ndarray) -> np.ndarray:
    return np.array([x * (1 + erf(x / sqrt(2))) / 2 for x in values])


def layer(name: str, values: np.ndarray) -> np.ndarray:
    return WEIGHTS[f"{name}.weight"] @ values + WEIGHTS[f"{name}.bias"]


def plain_score(query: np.ndarray, memory: np.ndarray) -> float:
    """What the docstring says, one token of the question after the other."""
    found, worth = [], []
    for asked in query.astype(np.float64):
        cosines = [float(asked @ token) for token in memory]
        shares = np.array([exp(16 * cosine) for cosine in cosines])
        context = (shares / shares.sum()) @ memory
        found.append(gelu(layer("inner", np.concatenate([asked, context, asked * context, [max(cosines)]]))))
        worth.append(exp(layer("worth", asked)[0]))
    mean = sum(share * one for share, one in zip(worth, found, strict=True)) / sum(worth)
    return float(layer("score", gelu(layer("outer", np.concatenate([mean, np.max(found, axis=0)]))))[0])


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1_000),
    words=st.integers(0, 6),
    counts=st.lists(st.integers(0, 5), max_size=5),
)
def test_scores_are_those_of_the_formula(seed: int, words: int, counts: list[int]) -> None:
    chance = np.random.default_rng(seed)
    memories = [unit_rows(chance, count) for count in counts]
    query = unit_rows(chance, words)
    if seed % 2 and words and counts and counts[0]:
        memories[0][0] = query[0]  # a word that both have
    tokens, found = decode_codes([encode_codes(memory) for memory in memories])
    best, scores = compare(query, tokens, found)
    assert best.tobytes() == best_matches(query, tokens, found).tobytes()
    assert scores.shape == (len(counts),)
    assert scores.dtype == np.float32
    for score, own in zip(scores, np.split(tokens, np.cumsum(found)[:-1]) if counts else [], strict=True):
        if len(own) and words:
            assert score == pytest.approx(plain_score(query, own), abs=0.01)
        else:
            assert np.isnan(score)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_a_score_does_not_depend_on_the_other_memories(counts: list[int]) -> None:
    chance = np.random.default_rng(len(counts))
    query, memories = unit_rows(chance, 4), [unit_rows(chance, count) for count in counts]
    together = compare(query, np.concatenate(memories), np.array(counts))[1]
    alone = [compare(query, memory, np.array([len(memory)]))[1][0] for memory in memories]
    assert together == pytest.approx(alone, abs=1e-4, nan_ok=True)
    assert np.isnan(together).tolist() == [count == 0 for count in counts]


@pytest.mark.parametrize("count", [0, 1, AT_ONCE, 2 * AT_ONCE + 1])
def test_stored_memories_are_compared_some_at_a_time_as_all_at_once(count: int) -> None:
    chance = np.random.default_rng(count)
    query, codes = (
        unit_rows(chance, 3),
        [encode_codes(unit_rows(chance, number % 4)) for number in range(count)],
    )
    best, scores = compare_codes(query, codes)
    whole_best, whole_scores = compare(query, *decode_codes(codes))
    assert best.shape == whole_best.shape == (count, 3)
    assert best == pytest.approx(whole_best, abs=1e-5, nan_ok=True)
    assert scores == pytest.approx(whole_scores, abs=1e-4, nan_ok=True)


@pytest.mark.long
def test_a_hundred_and_fifty_candidates_are_compared_in_no_time() -> None:
    chance = np.random.default_rng(5)
    query, tokens = unit_rows(chance, 15), unit_rows(chance, 150 * 30)
    best_of = []
    for _ in range(10):
        start = perf_counter()
        compare(query, tokens, np.full(150, 30))
        best_of.append(perf_counter() - start)
    assert min(best_of) < 0.1  # about 10 ms; the bound is for a busy machine
