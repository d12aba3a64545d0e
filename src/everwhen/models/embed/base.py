"""The seam between everything that needs vectors and whatever makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Text to unit vectors. Above: ingest, recall, the embedding cache. Below: one model, local or remote.

    Implementations load their model on first use, may be called from several threads at once, and give a
    text the same vector whatever else is embedded with it.
    """

    @property
    def name(self) -> str:
        """What a bank records, such as "minilm" or "openai:text-embedding-3-small"."""
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


def normalised(rows: Vectors) -> Vectors:
    """Each row divided by its length; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)
