"""Rerankers by name: late interaction over the embedder's own token vectors, a cross-encoder, or none."""

from __future__ import annotations

from everwhen.errors import UsageError
from everwhen.models.rerank.base import Candidate, Question, Reranker, Scores

__all__ = ["Candidate", "Question", "Reranker", "Scores", "open_reranker"]

CHOICES = "maxsim, fastembed:<cross-encoder>, none"


def open_reranker(name: str, *, threads: int | None = None) -> Reranker:
    """The reranker that a setting names. Nothing is loaded before its first use."""
    kind, _, model = name.partition(":")
    match kind, bool(model):
        case "maxsim", False:
            from everwhen.models.rerank.late import MaxSim

            return MaxSim()
        case "fastembed", True:
            from everwhen.models.rerank.fastembed import CrossEncoder

            return CrossEncoder(model, threads=threads)
        case "none", False:
            from everwhen.models.rerank.none import NoReranker

            return NoReranker()
        case _:
            raise UsageError(f"unknown reranker {name!r}; choose one of {CHOICES}")
