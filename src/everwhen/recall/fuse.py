"""Rankings of several channels become one: by their ranks alone, or by weights fitted over many features."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHTS = Path(__file__).with_name("weights.json")


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


def weighted(
    features: Mapping[str, NDArray[np.float32]], weights: Mapping[str, float]
) -> dict[str, NDArray[np.float32]]:
    """`w_f x_f` of every candidate, by feature: the score is their sum, and they are the reason for it.

    A feature without a weight takes no part.
    """
    return {name: features[name] * np.float32(weight) for name, weight in weights.items() if name in features}


def linear(contributions: Mapping[str, NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """The fused score of each candidate: `sum over f of w_f x_f`."""
    return sum(contributions.values(), np.zeros(count, np.float32))


@cache
def fitted() -> Mapping[str, Any]:
    """What `training/fit_fusion.py` fitted: `weights` of the features (`maxsim` where the words were compared, else
    `plain`), `read` (what a logit of the reader weighs beside the fused score), and `answerable` (a weight for each
    sign, and the constant)."""
    held: Mapping[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return held
