"""The figures of the benches: pure functions over ranked ids and the ids that were asked for.

Traps that change published figures are handled in one way, here: a result that comes twice counts once, at
its first place; a question without evidence has no recall, so asking for one is an error, and the caller
counts it apart; ties between scores count half.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

BOOTSTRAP_SAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one question brought, best first, and what it should have brought."""

    ranked: Sequence[Hashable]
    gold: Collection[Hashable]


def unique(ranked: Iterable[Hashable]) -> list[Hashable]:
    """Each result once, at its first place."""
    return list(dict.fromkeys(ranked))


def recall_at(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """The fraction of the evidence among the first k results: |top k ∩ gold| / |gold|."""
    return _found(ranked, gold, k) / len(set(gold))


def any_at(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """1.0 when at least one piece of evidence is among the first k results."""
    return float(_found(ranked, gold, k) > 0)


def all_at(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """1.0 when every piece of evidence is among the first k results (never where there are more than k)."""
    return float(_found(ranked, gold, k) == len(set(gold)))


def ndcg_at(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Discounted gain over the ideal order: sum of 1/log2(i + 1) over hits at place i, divided by the same
    sum over the first min(k, |gold|) places. Gains are binary."""
    wanted = _wanted(gold)
    gain = sum(1 / math.log2(place + 1) for place, one in enumerate(unique(ranked)[:k], 1) if one in wanted)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(wanted)) + 1))
    return gain / ideal


_AT: Mapping[str, Callable[[Sequence[Hashable], Collection[Hashable], int], float]] = {
    "recall": recall_at,
    "any": any_at,
    "all": all_at,
    "ndcg": ndcg_at,
}
KEYS = ("recall@5", "recall@10", "recall@20", "any@5", "all@5", "all@10", "ndcg@5", "ndcg@10")


def summary(rankings: Sequence[Ranking], keys: Sequence[str] = KEYS) -> dict[str, float]:
    """The mean of each figure (`recall@10`, …) over the questions; empty when there are none."""
    return {key: mean(scores(rankings, key)) for key in keys} if rankings else {}


def scores(rankings: Iterable[Ranking], key: str) -> list[float]:
    """One figure, question by question."""
    name, _, k = key.partition("@")
    return [_AT[name](ranking.ranked, ranking.gold, int(k)) for ranking in rankings]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; nan of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, ties counting half; None where one side is empty.

    Mann-Whitney: (sum of the positives' mean ranks - n(n + 1)/2) / (n m).
    """
    if not positive or not negative:
        return None
    if any(math.isnan(value) for value in (*positive, *negative)):
        raise ValueError("a score that is not a number has no rank")
    ordered = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    rank_sum = 0.0
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        shared = (start + 1 + end) / 2
        rank_sum += shared * sum(label for _, label in ordered[start:end])
        start = end
    n, m = len(positive), len(negative)
    return (rank_sum - n * (n + 1) / 2) / (n * m)


def risk_coverage(answers: Sequence[tuple[float, bool]], asked: int, steps: int = 20) -> list[list[float]]:
    """How right the surest answers are: pairs of coverage (answers given / questions asked) and precision.

    Answers are (confidence, right). Each step takes the next surest ones; those with equal confidence come together,
    since no threshold parts them.
    """
    ordered = sorted(answers, key=lambda one: -one[0])
    curve: list[list[float]] = []
    for step in range(1, steps + 1):
        least = math.ceil(step * len(ordered) / steps)
        if not least:
            continue
        floor = ordered[least - 1][0]
        taken = [right for confidence, right in ordered if confidence >= floor]
        point = [round(len(taken) / asked, 4), round(sum(taken) / len(taken), 4)]
        if point not in curve:
            curve.append(point)
    return curve


def percentile(values: Sequence[float], q: float) -> float:
    """The q-th percentile (0 to 100), interpolated linearly between neighbours; nan of nothing."""
    if not 0 <= q <= 100:
        raise ValueError(f"a percentile lies between 0 and 100, not at {q}")
    if not values:
        return math.nan
    ordered = sorted(values)
    place = (len(ordered) - 1) * q / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def bootstrap(
    values: Sequence[float], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 0
) -> tuple[float, float]:
    """The 95% interval of the mean: the 2.5th and 97.5th percentile of the means of resamples.

    The seed is fixed, so that the same runs print the same interval. Questions of one conversation are not
    independent, so the true interval is somewhat wider.
    """
    if not values:
        return math.nan, math.nan
    chance = random.Random(seed)
    means = [mean(chance.choices(values, k=len(values))) for _ in range(samples)]
    return percentile(means, 2.5), percentile(means, 97.5)


def paired_bootstrap(
    differences: Sequence[float], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 0
) -> tuple[float, float]:
    """The 95% interval of a mean difference, of two runs over the same questions: questions are drawn, each with both
    of its values, so that what is hard for both cancels out."""
    if not differences:
        return math.nan, math.nan
    values = np.asarray(differences, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(values), (samples, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def _wanted(gold: Collection[Hashable]) -> set[Hashable]:
    wanted = set(gold)
    if not wanted:
        raise ValueError("a question without evidence has no recall; leave it out and count it")
    return wanted


def _found(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> int:
    return len(_wanted(gold).intersection(unique(ranked)[:k]))
