"""Rankings of several channels become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


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
