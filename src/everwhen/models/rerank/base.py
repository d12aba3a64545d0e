"""The seam between recall and whatever compares a question with a memory word by word; and rerankers of a caller."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError, UsageError
from everwhen_time.zones import zone_of

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


@runtime_checkable
class Scorer(Protocol):
    """The one method that makes a reranker: a number for each text, higher is better, NaN where it cannot say."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]: ...


class CustomReranker:
    """Shows a scorer what a cross-encoder reads: `[Date: November 06, 2025 (2025-11-06)] context: text`."""

    reads = frozenset({"text"})

    def __init__(self, scorer: Any) -> None:
        self.name = f"own:{getattr(scorer, '__name__', None) or type(scorer).__name__}"
        self._score = scorer.score if isinstance(scorer, Scorer) else scorer

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        if not candidates:
            return {"cross_encoder": np.zeros(0, np.float32)}
        given = self._score(question.text, [dated_line(candidate) for candidate in candidates])
        try:
            numbers = np.asarray(given, np.float32).reshape(-1)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the reranker {self.name} gave {type(given).__name__}; it has to give one number for each text"
            ) from error
        if len(numbers) != len(candidates):
            raise ModelError(
                f"the reranker {self.name} gave {len(numbers)} scores for {len(candidates)} texts; "
                "it has to give one for each, in their order"
            )
        return {"cross_encoder": numbers}


def custom_reranker(given: Any) -> Reranker:
    """A caller's object as a reranker. One that has `name` and `reads` too is taken as it is."""
    if isinstance(given, Scorer) and hasattr(given, "reads") and hasattr(given, "name"):
        whole: Reranker = given  # type: ignore[assignment]
        return whole
    if isinstance(given, type) or not (isinstance(given, Scorer) or callable(given)):
        raise UsageError(
            f"{given!r} is no reranker: give a name, a function (question, texts) -> scores, or an object with such "
            "a method `score`"
        )
    return CustomReranker(given)
