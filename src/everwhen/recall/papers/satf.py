"""SATF, self-anchored temporal filtering: boosts candidates said near the dates of the other results.

Source: the first of the five documents (docs/five-documents.md). Settings and recipe: `satf`, `satf_anchors`,
`satf_sigma`, `satf_alpha`, `satf_gamma`. What it is worth: docs/retrieval.md, measured by
`benchmarks/everwhen_bench/studies/satf.py`. Its affinity is a feature of the default (`recall/features.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.features import anchored_mass
from everwhen.settings import SATF_DAYS, Settings
from everwhen.types import Recalled
from everwhen.types.recall import SATF_NUMBERS, Recipe

Days: TypeAlias = NDArray[np.float64]
Sigma: TypeAlias = float | Literal["adaptive"]

_DEFAULT = Settings()
ONE_SITTING = 1 / 24
"""Days: an hour. What was said with less between is one conversation, and is not to be torn apart."""


@dataclass(frozen=True, slots=True)
class SatfScores:
    """The result of SATF, in the order of the input.

    `scores` are those of equation 4, `affinity` is `A(t_i) / max A` of each candidate (for the explanation), `sigma`
    is the bandwidth used, in days, `confidence` is compared with gamma. If that is too low, `active` is False and
    `scores` are the plain `1/i`.
    """

    scores: Days
    affinity: Days
    sigma: float
    confidence: float
    active: bool


def satf(
    times: Days,
    *,
    anchors: int = _DEFAULT.satf_anchors,
    sigma: Sigma = _DEFAULT.satf_sigma,
    alpha: float = _DEFAULT.satf_alpha,
    gamma: float = _DEFAULT.satf_gamma,
) -> SatfScores:
    """New scores for candidates in rank order, given when each was said (days since any fixed instant).

        K_i(t) = (1/i) exp(-(t - t_i)^2 / 2 sigma^2)                  (2)
        A(t)   = sum of K_i(t) over the first N ranks                 (3)
        s'_i   = (1/i) (1 + alpha A(t_i) / max_j A(t_j))              (4)

    i counts from one, j runs over all candidates. The weight of an anchor is 1/i, and so is the score that is
    boosted, because only ranks mean the same in every channel: the best hit says the most about the time, and no
    boost lifts anything above what is `1 + alpha` times better placed.
    """
    weights = 1.0 / np.arange(1, len(times) + 1)
    weight = weights[:anchors]
    width = bandwidth(times[:anchors]) if sigma == "adaptive" else float(sigma)
    if not len(times):
        return SatfScores(np.zeros(0), np.zeros(0), width, 0.0, False)
    mass = anchored_mass(times, anchors, width)
    affinity = mass / mass.max()
    sure = _concentration(float(mass.max()), weight)
    active = sure >= gamma
    scores = weights * (1 + alpha * affinity) if active else weights
    return SatfScores(scores, affinity, width, sure, active)


def boosted(ranked: Sequence[Recalled], recipe: Recipe) -> list[Recalled]:
    """SATF over a fused order, with the numbers of a recipe."""
    days = np.array([one.said_at.timestamp() / 86_400 for one in ranked])
    numbers = {name.removeprefix("satf_"): getattr(recipe, name) for name in SATF_NUMBERS}
    found = satf(days, **{name: value for name, value in numbers.items() if value is not None})
    if not found.active:
        return list(ranked)
    order = np.argsort(-found.scores, kind="stable")
    best = float(found.scores[order[0]])
    return [
        replace(
            ranked[place],
            score=float(found.scores[place]) / best,
            why=replace(ranked[place].why, affinity=float(found.affinity[place])),
        )
        for place in order
    ]


def bandwidth(times: Days, *, widest: float = SATF_DAYS) -> float:
    """A bandwidth from the anchors' own dates: a quarter of the median gap between one sitting and the next.

    Two neighbouring sittings are then four sigma apart, so that each keeps a peak of its own, however often people
    talk. What is less than an hour apart is one sitting. Never over the paper's 15 days, and an hour where there is
    one sitting only. (Silverman's rule takes the whole spread for one hill and ends at the 15 days.)
    """
    gaps = np.diff(np.sort(times))
    apart = gaps[gaps > ONE_SITTING]
    return min(max(float(np.median(apart)) / 4, ONE_SITTING), widest) if len(apart) else ONE_SITTING


def _concentration(peak: float, weights: Days) -> float:
    """How much of the anchors' weight stands under the highest peak, from 0 to 1.

    `(max A - w_1) / (sum w - w_1)`, with w_1 = 1 the weight of the first: a peak that nothing but one anchor
    carries says nothing of the question's time (0), and when all were said at one time it is the whole weight (1).
    The paper names the gate and leaves it undefined; this is our definition.
    """
    rest = float(weights.sum() - weights[0])
    return 1.0 if rest <= 0 else min(max((peak - float(weights[0])) / rest, 0.0), 1.0)
