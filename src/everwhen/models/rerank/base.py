"""The seam between recall and whatever compares a question with a memory word by word."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.when.zones import zone_of

Scores: TypeAlias = dict[str, NDArray[np.float32]]
"""By the name of a score, one number for each candidate; NaN where a candidate cannot be compared."""


@dataclass(frozen=True, slots=True)
class RerankQuery:
    """What is asked: its words, and the vectors of its tokens where the embedder gives them."""

    text: str
    tokens: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may answer: what a reranker can look at."""

    text: str
    said_at: datetime
    zone: str = "UTC"
    context: str = ""
    """Who said it, or what it belongs to."""


class Reranker(Protocol):
    """Scores for the few best candidates. Above: recall, which fuses them. Below: a model, or arrays."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[str]:
        """What it looks at: the `text` of a candidate, or the stored `codes` of its token vectors."""
        ...

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        """Scores by name, higher is better; empty where there is nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class WithoutModel:
    """`maxsim`, which recall computes itself from the stored token vectors (`learned_maxsim`), and `none`."""

    name: str
    reads: frozenset[str]

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        return {}


def dated_line(candidate: Candidate) -> str:
    """`[Date: November 06, 2025 (2025-11-06)] context: text`, the form that TEMPR shows to a cross-encoder."""
    day = candidate.said_at.astimezone(zone_of(candidate.zone))
    context = f"{candidate.context}: " if candidate.context else ""
    return f"[Date: {month_name[day.month]} {day:%d, %Y} ({day:%Y-%m-%d})] {context}{candidate.text}"
