"""What speaks for a candidate: each number on its own, and what it is when nothing is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from everwhen import Memory
from everwhen.recall import features as measured
from everwhen.recall.candidates import CandidatePool, bm25
from everwhen.recall.features import features, standardised
from everwhen.recall.fusion import fitted
from everwhen.store.base import PACKED, hash_term, pack
from everwhen.store.index import Postings, score
from tests.recall.memories import TALK, bare_pool, pool_of, tell

numbers = st.floats(-1000, 1000, width=32)
columns = st.lists(st.one_of(numbers, st.just(float("nan"))), max_size=40).map(
    lambda values: np.array(values, np.float32)
)


@given(columns)
def test_a_standardised_feature_has_mean_0_and_deviation_1_and_the_unknown_is_neutral(
    values: measured.Array,
) -> None:
    out = standardised(values)
    known = ~np.isnan(values)
    assert out.shape == values.shape and np.isfinite(out).all()
    assert not out[~known].any()
    if known.any():
        assert abs(float(out[known].mean())) < 1e-2
        spread = float(values[known].std())
        if spread > 1e-3 * max(1.0, float(np.abs(values[known]).max())):
            assert float(out[known].std()) == pytest.approx(1.0, abs=1e-2)


@given(columns.filter(lambda values: not np.isnan(values).any()))
def test_a_rank_feature_is_1_for_the_best_and_falls_without_reaching_0(values: measured.Array) -> None:
    out = measured._rank(values)
    assert ((out > 0) & (out <= 1)).all() and len(set(out.tolist())) == len(out)
    if len(out):
        assert out[int(np.argmax(values))] == 1.0
        order = np.argsort(-out)
        assert (np.diff(values[order]) <= 0).all()


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(["oak", "elm", "fir"]), max_size=6), min_size=1, max_size=20),
)
def test_bm25_of_counts_is_the_bm25_of_the_index(documents: list[list[str]]) -> None:
    packed = [pack({word: words.count(word) for word in words}, {}) for words in documents]
    sizes = np.array([len(one) // PACKED.itemsize for one in packed], np.int64)
    postings = Postings.build(np.frombuffer(b"".join(packed), PACKED), sizes)
    query, idf = ["oak", "fir"], [0.5, 2.0]
    mean = float(postings.lengths.mean())
    counts = np.array([[words.count(word) for word in query] for words in documents], np.float32)
    found = bm25(counts, postings.lengths, mean, np.array(idf, np.float32))
    expected = score(postings, postings.find([hash_term(word) for word in query]), idf, mean)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_bm25_of_nothing_is_nothing() -> None:
    with np.errstate(all="raise"):
        assert bm25(
            np.zeros((3, 0), np.float32), np.zeros(3, np.float32), 0.0, np.zeros(0, np.float32)
        ).tolist() == [
            0,
            0,
            0,
        ]
        empty = bm25(np.zeros((2, 1), np.float32), np.zeros(2, np.float32), 0.0, np.ones(1, np.float32))
    assert empty.tolist() == [0, 0]


@settings(max_examples=80)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=25), st.data())
def test_a_session_counts_with_all_its_hits_and_a_strong_one_lifts_the_others(
    sessions: list[int], data: st.DataObject
) -> None:
    strong = data.draw(arrays(np.float32, len(sessions), elements=st.floats(-5, 5, width=32)))
    found = measured._sessions(bare_pool(sessions, range(len(sessions))), strong)["session"]
    sums = {
        one: np.log(np.exp(strong[np.array(sessions) == one].astype(float)).sum()) for one in set(sessions)
    }
    for first, one in enumerate(sessions):
        for second, other in enumerate(sessions):
            if sums[one] > sums[other] + 1e-3:
                assert found[first] >= found[second]
            elif one == other:
                assert found[first] == found[second]


def test_hubness_is_the_mean_cosine_among_turns_and_neutral_for_all_else() -> None:
    turns = measured.MIDDLE
    vectors = np.random.default_rng(1).normal(size=(turns + 1, 4)).astype(np.float32)
    roles = np.array([*(place % 2 for place in range(turns)), -1], np.int8)  # the last one was said by nobody

    def pool_with(roles: NDArray[np.int8]) -> CandidatePool:
        pool = bare_pool([1] * len(roles), range(len(roles)))
        return replace(pool, found=replace(pool.found, vectors=vectors[: len(roles)], roles=roles))

    known = measured._hubness(pool_with(roles))
    np.testing.assert_allclose(known[:-1], vectors[:-1] @ vectors[:-1].mean(axis=0), rtol=1e-4)
    assert standardised(known)[-1] == 0
    for unknown in (
        pool_with(roles[1:]),  # too few to have a middle
        pool_with(np.full(turns, -1, np.int8)),
        replace(pool_with(roles), has_assistant=True),
        bare_pool([1] * turns, range(turns)),
    ):
        assert not standardised(measured._hubness(unknown)).any()


def test_every_feature_is_finite_and_each_weight_has_its_feature(memory: Memory) -> None:
    tell(memory, [("user" if name == "Ana" else "assistant", text) for name, text in TALK])
    memory.flush()
    for query in (
        "What did I buy last weekend?",
        "the",
        "Where did you say the violin is from in March 2025?",
    ):
        pool = pool_of(memory, query)
        found = features(pool)
        assert pool.matches is not None
        for name, values in found.items():
            assert (
                values.shape == (len(pool),) and values.dtype == np.float32 and np.isfinite(values).all()
            ), name
        weights = fitted()["weights"]
        assert set(weights["maxsim"]) <= set(found)
        assert set(weights["plain"]) <= set(features(replace(pool, matches=None)))


def test_the_speaker_asked_about_is_half_a_point_and_the_others_are_half_a_point_off(quick: Memory) -> None:
    tell(quick)
    pool = pool_of(quick, "What did Ana buy?")
    for row, about in zip(pool.rows, features(pool)["about"], strict=True):
        if row.kind == "turn":
            assert about == (0.5 if row.speaker == "Ana" else -0.5)
    assert not features(pool_of(quick, "What did she buy?"))["about"].any()


def test_a_fact_goes_by_its_subject(quick: Memory) -> None:
    tell(quick)
    quick.facts.assert_("Ana", "owns", "kayak")
    quick.facts.assert_("Clara", "owns", "kayak shop")
    quick.facts.assert_("Ana's brother", "owns", "kayak of wood")
    pool = pool_of(quick, "Which kayak does Ana have?")
    about = dict(zip((row.id for row in pool.rows), features(pool)["about"].tolist(), strict=True))
    facts = {row.text.split()[0]: about[row.id] for row in pool.rows if row.kind == "fact"}
    assert facts == {"Ana": 0.5, "Clara": -0.5, "Ana's": -0.5}
    nobody = pool_of(quick, "Which kayak is it?")
    assert not features(nobody)["about"].any()
    assert not any(
        by for row, by in zip(nobody.rows, features(nobody)["by_user"], strict=True) if row.kind == "fact"
    )


def test_an_answer_follows_a_question_in_its_own_session_only(quick: Memory) -> None:
    tell(quick, [("Ana", "Which kayak is yours?")], session="one")
    tell(quick, [("Ben", "The kayak is red."), ("Ana", "A kayak is nice.")], session="two")
    tell(quick, [("Ana", "Is the kayak old?"), ("Ben", "The kayak is from 1990.")], session="three")
    pool = pool_of(quick, "kayak")
    answers = zip(pool.rows, features(pool)["answers_match"], strict=True)
    assert [row.id for row, match in answers if match] == ["three-1"]


def test_a_turn_inside_the_asked_time_fits_best_and_one_long_after_hardly(quick: Memory) -> None:
    for place, days in enumerate((0, 3, 200)):
        tell(quick, [("Ana", "The kayak again.")], session=f"s{place}", days=days)
    pool = pool_of(quick, "What of the kayak on 3 March 2025?")
    found = features(pool)
    fits = dict(zip((row.id for row in pool.rows), found["time_after"], strict=True))
    assert fits["s0-0"] == 1.0
    assert 0.3 < fits["s1-0"] < 1
    assert fits["s2-0"] < 0.01
    assert not features(pool_of(quick, "What of the kayak?"))["time_after"].any()


def test_a_wish_counts_where_something_is_requested_and_not_where_it_is_asked(quick: Memory) -> None:
    tell(quick, [("user", "I'm allergic to cashews."), ("user", "I bought cashews.")], session="one")
    asked, requested = pool_of(quick, "Do I like cashews?"), pool_of(quick, "Suggest a dish with cashews")
    assert not features(asked)["wish"].any()
    wishes = dict(zip((row.id for row in requested.rows), features(requested)["wish"], strict=True))
    assert [name for name, found in wishes.items() if found] == ["one-0"] and "one-1" in wishes


def test_sessions_as_a_whole_count_only_where_an_assistant_speaks(quick: Memory) -> None:
    tell(quick, session="one")
    tell(quick, [("Ana", "Nothing of note.")], session="two")
    assert not any(
        features(pool_of(quick, "violin kayak"))[name].any() for name in ("session_bm25", "session_affinity")
    )
    tell(quick, [("user", "I like tea."), ("assistant", "Noted.")], session="three")
    assert features(pool_of(quick, "violin kayak"))["session_bm25"].any()
