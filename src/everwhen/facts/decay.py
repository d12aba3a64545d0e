"""Decay: the confidence in a fact falls with the time since it was last confirmed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from everwhen.types import Fact

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Half-life in days by domain: the bank's own values override those of the settings."""

    by_domain: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 365.0

    def of(self, domain: str | None) -> float:
        return self.by_domain.get(domain, self.otherwise) if domain is not None else self.otherwise


def faded(confidence: float, since: datetime, instant: datetime, half_life: float) -> float:
    """`confidence * 0.5 ** (age / half_life)`, age in days and never negative."""
    age = max((instant - since) / DAY, 0.0)
    return float(confidence * 0.5 ** (age / half_life))


def confidence_at(fact: Fact, instant: datetime, half_lives: HalfLives) -> float:
    """How sure a fact is at an instant. Its age counts from the later of its start and its last confirmation."""
    since = max(fact.valid_from, fact.confirmed_at or fact.valid_from)
    return faded(fact.confidence, since, instant, half_lives.of(fact.domain))


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
