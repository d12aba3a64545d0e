"""The figures, against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen_bench import metrics
from everwhen_bench.metrics import Ranking, all_at, any_at, auroc, bootstrap, ndcg_at, percentile, recall_at

RANKED = ["a", "x", "b", "y", "c", "z"]


def test_recall_is_the_fraction_of_the_evidence_found() -> None:
    assert recall_at(RANKED, {"a", "b", "c"}, 1) == pytest.approx(1 / 3)
    assert recall_at(RANKED, {"a", "b", "c"}, 3) == pytest.approx(2 / 3)
    assert recall_at(RANKED, {"a", "b", "c"}, 5) == 1.0
    assert recall_at(RANKED, ["q"], 5) == 0.0


def test_any_and_all_look_at_the_same_top() -> None:
    gold = {"b", "c"}
    assert [any_at(RANKED, gold, k) for k in (2, 3)] == [0.0, 1.0]
    assert [all_at(RANKED, gold, k) for k in (4, 5)] == [0.0, 1.0]


def test_all_cannot_be_had_when_there_is_more_evidence_than_places() -> None:
    assert all_at(["a", "b"], {"a", "b", "c"}, 2) == 0.0


def test_ndcg_by_hand() -> None:
    # Hits at places 1, 3 and 5: 1 + 1/2 + 1/log2(6); the ideal has them at 1, 2 and 3.
    gain = 1 + 0.5 + 1 / math.log2(6)
    ideal = 1 + 1 / math.log2(3) + 0.5
    assert ndcg_at(RANKED, {"a", "b", "c"}, 5) == pytest.approx(gain / ideal)
    assert ndcg_at(["a", "b"], {"a", "b"}, 5) == 1.0
    assert ndcg_at(["x", "a"], {"a"}, 5) == pytest.approx(1 / math.log2(3))


def test_the_ideal_order_has_no_more_hits_than_places() -> None:
    assert ndcg_at(["a", "b"], {"a", "b", "c", "d"}, 2) == 1.0


def test_a_result_that_comes_twice_counts_once_at_its_first_place() -> None:
    twice = ["a", "a", "a", "b"]
    assert recall_at(twice, {"a", "b"}, 2) == 1.0
    assert ndcg_at(twice, {"a"}, 4) == 1.0
    assert ndcg_at(twice, {"a", "b"}, 4) == 1.0


def test_evidence_named_twice_counts_once() -> None:
    assert recall_at(["a"], ["a", "a", "b"], 5) == 0.5
    assert all_at(["a"], ["a", "a"], 5) == 1.0


def test_no_results_find_nothing() -> None:
    assert [measure([], {"a"}, 10) for measure in (recall_at, any_at, all_at, ndcg_at)] == [0.0] * 4


def test_a_question_without_evidence_has_no_recall() -> None:
    for measure in (recall_at, any_at, all_at, ndcg_at):
        with pytest.raises(ValueError, match="leave it out and count it"):
            measure(["a"], [], 5)


def test_a_summary_is_the_mean_over_questions() -> None:
    rankings = [Ranking(RANKED, {"a"}), Ranking(RANKED, {"z"}), Ranking([], {"a"})]
    figures = metrics.summary(rankings)
    assert tuple(figures) == metrics.KEYS
    assert figures["recall@5"] == pytest.approx(1 / 3)
    assert figures["recall@10"] == pytest.approx(2 / 3)
    assert metrics.scores(rankings, "any@5") == [1.0, 0.0, 0.0]
    assert metrics.summary([]) == {}


class TestAuroc:
    def test_by_hand(self) -> None:
        # Of 2 x 3 pairs, 0.9 beats all three and 0.4 beats one.
        assert auroc([0.9, 0.4], [0.5, 0.3, 0.8]) == pytest.approx(4 / 6)

    def test_order_is_all_that_counts(self) -> None:
        assert auroc([2, 3], [0, 1]) == 1.0
        assert auroc([0, 1], [2, 3]) == 0.0

    def test_ties_count_half(self) -> None:
        assert auroc([0.5], [0.5]) == 0.5
        assert auroc([1, 1, 0], [1, 0]) == pytest.approx((0.5 + 1 + 0.5 + 1 + 0 + 0.5) / 6)

    def test_with_one_side_empty_there_is_none(self) -> None:
        assert auroc([], [1]) is None
        assert auroc([1], []) is None

    def test_a_score_that_is_no_number_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not a number"):
            auroc([math.nan], [0.5])

    @given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
    def test_it_agrees_with_counting_every_pair(self, positive: list[int], negative: list[int]) -> None:
        pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
        assert auroc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


class TestSpread:
    def test_percentiles_by_hand(self) -> None:
        assert percentile([4, 1, 3, 2], 50) == 2.5
        assert percentile([1, 2, 3], 0) == 1
        assert percentile([1, 2, 3], 100) == 3
        assert percentile([7], 95) == 7
        assert math.isnan(percentile([], 50))
        with pytest.raises(ValueError, match="between 0 and 100"):
            percentile([1], 101)

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 100))
    def test_percentiles_agree_with_numpy(self, values: list[float], q: float) -> None:
        assert percentile(values, q) == pytest.approx(float(np.percentile(values, q)), abs=1e-6)

    def test_the_interval_holds_the_mean_and_is_the_same_every_time(self) -> None:
        values = [0.0, 1.0] * 100
        low, high = bootstrap(values)
        # The standard error of a fair coin over 200 throws is 0.035: about 0.43 to 0.57.
        assert low == pytest.approx(0.43, abs=0.02)
        assert high == pytest.approx(0.57, abs=0.02)
        assert bootstrap(values) == (low, high)

    def test_without_spread_the_interval_is_a_point(self) -> None:
        assert bootstrap([0.5] * 10) == (0.5, 0.5)
        assert all(math.isnan(side) for side in bootstrap([]))


@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9), min_size=1), st.integers(1, 12))
def test_the_figures_stay_within_their_bounds(ranked: list[int], gold: set[int], k: int) -> None:
    assert all_at(ranked, gold, k) <= recall_at(ranked, gold, k) <= any_at(ranked, gold, k)
    assert 0 <= ndcg_at(ranked, gold, k) <= 1 + 1e-12
    assert recall_at(ranked, gold, k) <= recall_at(ranked, gold, k + 1)


def test_the_surest_answers_come_first_on_the_risk_coverage_curve() -> None:
    answers = [(0.9, True), (0.9, False), (0.5, True), (0.2, False)]
    assert metrics.risk_coverage(answers, asked=8, steps=4) == [[0.25, 0.5], [0.375, 0.6667], [0.5, 0.5]]
    assert metrics.risk_coverage([], asked=3) == []


def test_unanswerable_questions_have_no_place_in_a_mean() -> None:
    """They are neither a hit nor a miss: asked for one, the figure refuses rather than to count a 0 or a 1."""
    with pytest.raises(ValueError, match="leave it out"):
        metrics.summary([Ranking(["a"], {"a"}), Ranking(["a"], ())])


def test_evidence_that_nobody_can_find_lowers_recall_unless_it_is_left_out() -> None:
    assert recall_at(["a"], {"a", "gone"}, 5) == 0.5
    assert ndcg_at(["a"], {"a", "gone"}, 5) < 1 == ndcg_at(["a"], {"a"}, 5)
