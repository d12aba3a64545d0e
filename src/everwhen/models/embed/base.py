"""The seam between everything that needs vectors and whatever makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

IN_CONTEXT = "\x1e"
"""Between what an embedder that `reads_context` only reads and the text that it embeds (ASCII's record separator)."""


class Embedder(Protocol):
    """Text to unit vectors. Above: ingest, recall, the embedding cache. Below: one model, local or remote.

    Implementations load their model on first use, may be called from several threads at once, and give a
    text the same vector whatever else is embedded with it.
    """

    @property
    def name(self) -> str:
        """What a bank records, such as "conversation-1" or "openai:text-embedding-3-small"."""
        ...

    @property
    def dim(self) -> int:
        """The width of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised float32 row for each text, in order; no texts give a matrix without rows."""
        ...

    def pieces(self, text: str) -> list[str]:
        """Overlapping substrings that cover the text and each fit the model; the text itself when it fits."""
        ...


class TokenEmbedder(Embedder, Protocol):
    """An embedder whose model also tells the tokens of a text apart. Others simply do not have these methods."""

    @property
    def code_format(self) -> bytes:
        """How each code begins; empty where there are none after all."""
        ...

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        """What `embed` gives for the texts and then the plain ones, and the texts' coded token vectors.

        All of it comes from one run of the model; a code is empty where there are no token vectors.
        """
        ...

    def embed_question(self, text: str, others: Sequence[str] = ()) -> tuple[Vectors, Vectors, list[str]]:
        """A question's vector, followed by those of other texts; and the vectors of the question's tokens in full
        precision, with the word that each is of. All from one run."""
        ...


def gives_tokens(embedder: Embedder) -> TypeGuard[TokenEmbedder]:
    """Whether an embedder is a `TokenEmbedder`; its width is not asked for, since that may load a model."""
    return hasattr(embedder, "embed_with_codes")


def reads_context(embedder: Embedder) -> bool:
    """Whether an embedder understands `IN_CONTEXT`."""
    return bool(getattr(embedder, "reads_context", False))


def normalised(rows: Vectors) -> Vectors:
    """Each row divided by its length; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def centroid(rows: Vectors) -> Vectors:
    """The direction in which some vectors point together, as one row; the first of them where they cancel out."""
    mean = rows.mean(axis=0, keepdims=True)
    return normalised(mean if np.linalg.norm(mean) > 1e-6 else rows[:1])
