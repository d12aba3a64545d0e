"""The default reranker: late interaction over the token vectors that the embedder made at write time."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.models.rerank.base import Candidate, RerankQuery, Scores
from everwhen.models.rerank.maxsim import best_matches, mean_maxsim
from everwhen.models.rerank.token_codes import decode


class MaxSim:
    """`maxsim`: nothing is loaded, no model runs; a memory without codes gets NaN."""

    name = "maxsim"
    reads = frozenset({"codes"})

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        if question.tokens is None or not len(question.tokens):
            return {}
        tokens, counts = decode([candidate.codes for candidate in candidates])
        return {"maxsim": mean_maxsim(best_matches(question.tokens, tokens, counts))}
