"""Fuses the rankings of the channels into one: by ranks alone (RRF), or by a fitted weighted sum of features."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature, fitted by `scripts/fit_fusion.py`; a feature without a weight is ignored."""

    name: str
    values: Mapping[str, float]

    def contributions(self, features: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
        """`w_f x_f` of every candidate, by feature: their sum is the score, so they explain it."""
        return {
            name: features[name] * np.float32(weight)
            for name, weight in self.values.items()
            if name in features
        }


def linear(contributions: Mapping[str, NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """The fused score of each candidate: `sum over f of w_f x_f`."""
    return sum(contributions.values(), np.zeros(count, np.float32))


@cache
def weights(name: str) -> Weights:
    """The fitted weights: `maxsim` where the words were compared, else `plain`."""
    fitted = json.loads(WEIGHTS.read_text("utf-8"))["weights"]
    return Weights(name, fitted[name])
