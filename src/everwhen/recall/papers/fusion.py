"""Fusion as two of the papers have it: by reciprocal ranks (TEMPR), and by meaning and keywords (TiMem's eq. 7).

Sources: the second and third of the five documents (docs/five-documents.md). Settings: `rrf_k`, `tree_lambda`; recipes
`fusion="rrf"` (`TEMPR`) and `fusion="lambda"` (`TIMEM`). What each is worth: docs/retrieval.md and docs/tree.md,
measured by `benchmarks/everwhen_bench/studies/stages.py` and `studies/tree.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.candidates import CandidatePool, Found, Gathered
from everwhen.recall.fusion import Fused
from everwhen.types.recall import Recipe


def fuse_by_paper(gathered: Gathered, recipe: Recipe) -> Fused:
    """The candidates in the order of the fusion that a recipe names."""
    assert gathered.pool is not None
    if recipe.fusion == "rrf":
        return by_ranks(gathered.pool, gathered.found, recipe)
    return by_lambda(gathered.pool, recipe.tree_lambda)


def rrf(rankings: Mapping[str, Sequence[int]], k: int = 60) -> dict[int, float]:
    """Reciprocal rank fusion: `score(d) = sum over the channels that found d of 1 / (k + rank)`.

    Ranks count from one. Only ranks enter, because a cosine and a BM25 score cannot be added; k = 60 (TEMPR)
    keeps one channel's first place from outweighing agreement. Best first; ties by the first channel's order.
    """
    scores: dict[int, float] = {}
    for ranking in rankings.values():
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return dict(sorted(scores.items(), key=lambda entry: -entry[1]))


def by_ranks(pool: CandidatePool, found: Found, recipe: Recipe) -> Fused:
    """By reciprocal ranks, or by a cross-encoder's score where there is one; what it cannot compare comes last."""
    fused = rrf({name: [unit for unit, _ in one] for name, one in found.items()}, recipe.rrf_k)
    scores = np.array([fused[row.seq] for row in pool.rows], np.float32)
    order = np.argsort([-fused[row.seq] for row in pool.rows], kind="stable")
    if pool.rerank:  # any scale will do: the place says how good one is, as in `by_lambda`
        read = np.nan_to_num(next(iter(pool.rerank.values())), nan=-np.inf)
        order = order[np.argsort(-read[order], kind="stable")]
        scores[order] = 1.0 / (1.0 + np.arange(len(order)))
    best = float(pool.found.own.cosines.max())
    return Fused([pool.rows[place] for place in order], scores[order], {}, best)


def leaf_scores(pool: CandidatePool, weight: float) -> NDArray[np.float64]:
    """The score of every candidate by TiMem's eq. 7: `lambda cosine + (1 - lambda) BM25 / max BM25`. The words of BM25
    are the planner's keywords, which the search was made with (`recall/candidates.py`)."""
    words = pool.bm25(pool.found.own)
    scaled = words / max(float(words.max(initial=0.0)), 1e-9)
    return np.asarray(weight * pool.found.own.cosines + (1 - weight) * scaled, np.float64)


def by_lambda(pool: CandidatePool, weight: float) -> Fused:
    """TiMem's leaves: by meaning and words. A sum of cosines says little of how much better one is; its rank does."""
    scores = leaf_scores(pool, weight)
    order = np.argsort(-scores, kind="stable")
    shares = (1.0 / (1.0 + np.arange(len(order)))).astype(np.float32)
    return Fused(
        [pool.rows[place] for place in order],
        shares,
        {"lambda": scores[order].astype(np.float32)},
        float(scores.max()),
    )
