"""A question as the embedder sees it: shortened if it is long, and its vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.base import gives_tokens
from everwhen.recall.plan import Plan

HEAD, TAIL = 3_000, 1_000
"""Characters of a long question that take part: its time grows with each word, and the embedder reads a few hundred."""


@dataclass(frozen=True, slots=True)
class Query:
    """The vector of a question, and those of its words if the embedder gives them."""

    vector: NDArray[np.float32]
    tokens: NDArray[np.float32] | None = None
    words: tuple[str, ...] = ()
    """The word that each token is of."""


def shortened(words: str) -> str:
    """The part of a question that is searched: all of it or, if it is very long, its beginning and its end."""
    if len(words) <= HEAD + TAIL:
        return words
    words = words.strip()
    return f"{words[:HEAD]} {words[-TAIL:]}"


def embed(embedder: Embedder, plan: Plan) -> Query:
    """Embed a question in one run; of a long one, its first piece."""
    if gives_tokens(embedder):
        vectors, tokens, words = embedder.embed_question(plan.query)
        return Query(vectors[0], tokens, tuple(words))
    return Query(embedder.embed([embedder.pieces(plan.query)[0]])[0])
