"""A reranker of the caller's own: an object with `score`, or a function; nothing else is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from everwhen.errors import ModelError, UsageError
from everwhen.models.rerank.base import Candidate, Reranker, RerankQuery, Scores, dated_line


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
