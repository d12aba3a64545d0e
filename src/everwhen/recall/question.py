"""A question as the models see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.base import gives_tokens
from everwhen.recall.plan import Plan

HEAD, TAIL = 3_000, 1_000
"""Characters of a long question that take part: its time grows with each word, and the embedder reads a few hundred."""
ASKED, BARE = 0, -1
"""The vectors of a question: as it stands, and without the names of those it is about. Often they are one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question's vectors (a row each), and those of its words where there are any."""

    vectors: NDArray[np.float32]
    tokens: NDArray[np.float32] | None = None
    words: tuple[str, ...] = ()
    """The word that each token is of."""


def heart_of(words: str) -> str:
    """What of a question takes part: all of it, or its beginning and its end, where what was pasted is asked about."""
    if len(words) <= HEAD + TAIL:
        return words
    words = words.strip()
    return f"{words[:HEAD]} {words[-TAIL:]}"


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
