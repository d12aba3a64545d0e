"""The ways in which a memory can be found, each a ranked list of units with scores."""

from __future__ import annotations

from everwhen.models.embed import Embedder
from everwhen.store import Filter, Scored, Store


def semantic(
    store: Store, embedder: Embedder, query: str, limit: int, where: Filter, floor: float
) -> list[Scored]:
    """By meaning: cosine of the query's vector, nothing below the floor. A long query asks by its first piece."""
    vector = embedder.embed([embedder.pieces(query)[0]])[0]
    return [found for found in store.search_vectors(vector, limit, where) if found.score >= floor]


def keyword(store: Store, query: str, limit: int, where: Filter) -> list[Scored]:
    """By words: BM25."""
    return store.search_text(query, limit, where)
