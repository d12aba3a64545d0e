"""No reranking: the order stays as it was fused."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.models.rerank.base import Candidate, RerankQuery, Scores


class NoReranker:
    """Says nothing, and asks for nothing to be fetched."""

    name = "none"
    reads: frozenset[str] = frozenset()

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        return {}
