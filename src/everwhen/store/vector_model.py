"""The model that vectors were made with: every write of vectors names it, and the bank compares it with its own."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class NamedEmbedder(Protocol):
    """What a bank records of an embedder: its name and dimension."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...


class VectorModel(NamedTuple):
    """An embedder's name, and the dimension of its vectors."""

    embedder: str
    dimension: int

    @classmethod
    def of(cls, embedder: NamedEmbedder) -> VectorModel:
        return cls(embedder.name, embedder.dim)

    def __str__(self) -> str:
        return f"{self.embedder} ({self.dimension})"
