"""Confidence fades: a fact that nobody has confirmed for a while is less sure than it was."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from everwhen.types import Fact, HalfLives

DAY = timedelta(days=1)


def faded(confidence: float, since: datetime, instant: datetime, half_life: float) -> float:
    """`confidence * 0.5 ** (age / half_life)`, age in days and never negative."""
    age = max((instant - since) / DAY, 0.0)
    return float(confidence * 0.5 ** (age / half_life))


def confidence_at(fact: Fact, instant: datetime, half_lives: HalfLives) -> float:
    """How sure a fact is at an instant. Its age counts from the later of its start and its last confirmation."""
    since = max(fact.valid_from, fact.confirmed_at or fact.valid_from)
    return faded(fact.confidence, since, instant, half_lives.of(fact.domain, fact.predicate))


def fades_below(confidence: float, threshold: float, half_life: float) -> timedelta:
    """The age at which a confidence falls below a threshold: `half_life * log2(confidence / threshold)`.

    What is below from the start has a negative one; with a threshold of 0 nothing ever falls below it.
    """
    if confidence <= 0:
        return timedelta.min if threshold > 0 else timedelta.max
    if threshold <= 0:
        return timedelta.max
    days = half_life * math.log2(confidence / threshold)
    return timedelta(days=days) if abs(days) < timedelta.max.days else timedelta.max
