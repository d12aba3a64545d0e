"""The figures against ranx, an evaluation library of its own, with the traps that part published figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen_bench.locomo import evidence
from everwhen_bench.metrics import auroc, ndcg_at, recall_at, unique

# A few small rankings are scored faster than they are compiled for.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
ranx = pytest.importorskip("ranx", reason="ranx comes with the bench extra")

IDS = st.sampled_from([f"D{n}" for n in range(12)])


def theirs(ranked: Sequence[str], gold: Sequence[str], *keys: str) -> dict[str, float]:
    """What ranx makes of it; a score that falls with the rank stands for the order."""
    judged = ranx.Qrels({"q": dict.fromkeys(gold, 1)})
    found = ranx.Run({"q": {one: float(len(ranked) - place) for place, one in enumerate(ranked)}})
    figures: Any = ranx.evaluate(judged, found, [*keys, "hits"])  # of one figure alone it gives no name
    return {key: float(figures[key]) for key in keys}


@settings(max_examples=60, deadline=None)
@given(st.lists(IDS, min_size=1, unique=True), st.sets(IDS, min_size=1), st.sampled_from([1, 3, 5, 10]))
def test_recall_and_ndcg_are_those_of_ranx(ranked: list[str], gold: set[str], k: int) -> None:
    other = theirs(ranked, sorted(gold), f"recall@{k}", f"ndcg@{k}")
    assert recall_at(ranked, gold, k) == pytest.approx(other[f"recall@{k}"])
    assert ndcg_at(ranked, gold, k) == pytest.approx(other[f"ndcg@{k}"])


@settings(max_examples=40, deadline=None)
@given(st.lists(IDS, min_size=1, max_size=30), st.sets(IDS, min_size=1))
def test_duplicates_are_counted_as_ranx_counts_them_once_each_stands_once(
    ranked: list[str], gold: set[str]
) -> None:
    other = theirs([str(one) for one in unique(ranked)], sorted(gold), "recall@5", "ndcg@5")
    assert recall_at(ranked, gold, 5) == pytest.approx(other["recall@5"])
    assert ndcg_at(ranked, gold, 5) == pytest.approx(other["ndcg@5"])


def test_evidence_that_does_not_exist_is_no_evidence() -> None:
    """Left in, it would put a ceiling under 1 on the question, for every engine."""
    known = ["D1:1", "D1:2"]
    gold = evidence(["D1:1", "D9:9", "D"], known)
    assert gold == ["D1:1"]
    assert recall_at(known, gold, 5) == theirs(known, gold, "recall@5")["recall@5"] == 1.0
    assert theirs(known, ["D1:1", "D9:9"], "recall@5")["recall@5"] == 0.5


def test_tied_scores_keep_the_order_that_was_given() -> None:
    """A ranking is an order: whoever gives it has settled the ties, and no figure looks at scores again."""
    assert ndcg_at(["a", "b"], {"b"}, 2) == pytest.approx(theirs(["a", "b"], ["b"], "ndcg@2")["ndcg@2"])
    assert ndcg_at(["b", "a"], {"b"}, 2) == 1.0
    assert auroc([0.5, 0.5], [0.5]) == 0.5
