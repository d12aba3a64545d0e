"""Rerankers by name: late interaction over token vectors, a cross-encoder here or behind HTTP, or none."""

from __future__ import annotations

from everwhen.errors import UsageError
from everwhen.models.rerank.base import Candidate, Reranker, RerankQuery, Scores, WithoutModel

__all__ = ["Candidate", "RerankQuery", "Reranker", "Scores", "open_reranker"]

CHOICES = "maxsim, fastembed:<cross-encoder>, http:<address>#<model>, none"


def open_reranker(name: str, *, threads: int | None = None, timeout: float | None = None) -> Reranker:
    """The reranker that a setting names. Nothing is loaded before its first use."""
    kind, _, model = name.partition(":")
    match kind, bool(model):
        case "maxsim", False:
            return WithoutModel(name, frozenset({"codes"}))
        case "fastembed", True:
            from everwhen.models.rerank.fastembed import CrossEncoder

            return CrossEncoder(model, threads=threads)
        case "http", True:
            from everwhen.models.rerank.http import TIMEOUT, HttpReranker

            address, _, served = model.partition("#")
            return HttpReranker(address, served, timeout=timeout or TIMEOUT)
        case "none", False:
            return WithoutModel(name, frozenset())
        case _:
            raise UsageError(f"unknown reranker {name!r}; choose one of {CHOICES}")
