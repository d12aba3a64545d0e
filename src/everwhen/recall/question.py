"""A question as the models see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.base import gives_tokens
from everwhen.recall.plan import Plan

ASKED, BARE = 0, -1
"""The vectors of a question: as it stands, and without the names of those it is about. Often they are one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question's vectors (a row each), and those of its words where there are any."""

    vectors: NDArray[np.float32]
    tokens: NDArray[np.float32] | None = None
    words: tuple[str, ...] = ()
    """The word that each token is of."""


def embed(embedder: Embedder, plan: Plan, *, words: bool = True) -> Query:
    """The question as it stands and without names, in one run. A long one asks by its first piece.

    Where its words are not compared, it is asked without names alone: half the work, and the same is found (LoCoMo dev,
    low budget without rerank, recall@10: 0.001 apart).
    """
    if not words:
        return Query(embedder.embed([embedder.pieces(plan.bare)[0]]))
    others = [] if plan.bare == plan.query else [plan.bare]
    if gives_tokens(embedder):
        vectors, tokens, pieces = embedder.embed_question(plan.query, others)
        return Query(vectors, tokens, tuple(pieces))
    return Query(embedder.embed([embedder.pieces(text)[0] for text in (plan.query, *others)]))
