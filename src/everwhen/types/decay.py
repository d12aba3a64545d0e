"""Confidence fades: a fact that nobody has confirmed for a while is less sure than it was."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from everwhen.types import Fact, HalfLives

DAY = timedelta(days=1)
OLD_BELOW = 0.5
"""The confidence below which age alone makes a fact stale, and people are told that it is old."""


def faded(confidence: float, since: datetime, instant: datetime, half_life: float) -> float:
    """`confidence * 0.5 ** (age / half_life)`, age in days and never negative."""
    age = max((instant - since) / DAY, 0.0)
    return float(confidence * 0.5 ** (age / half_life))


def confidence_at(fact: Fact, instant: datetime, half_lives: HalfLives) -> float:
    """How sure a fact is at an instant. Its age counts from the later of its start and its last confirmation."""
    return faded(fact.confidence, _confirmed(fact), instant, half_lives.of(fact.domain, fact.predicate))


def old_in_words(fact: Fact, confidence: float, instant: datetime) -> str:
    """ "old: last confirmed 2 years ago", where age alone has left so little `confidence`, which else looks like
    doubt; or nothing. What has ended does not grow old."""
    if fact.valid_to is not None or not confidence < OLD_BELOW <= fact.confidence:
        return ""
    days = (instant - _confirmed(fact)).days
    length, unit = (365, "year") if days >= 730 else (30, "month") if days >= 60 else (1, "day")
    return f"old: last confirmed {days // length} {unit}{'s' * (days // length != 1)} ago"


def _confirmed(fact: Fact) -> datetime:
    return max(fact.valid_from, fact.confirmed_at or fact.valid_from)


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
