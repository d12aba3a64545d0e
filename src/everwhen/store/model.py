"""With which model vectors were made: what every write of vectors says, and the bank compares."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Named(Protocol):
    """What of an embedder a bank records."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...


class Model(NamedTuple):
    """An embedder by its name, and the width of its vectors."""

    embedder: str
    dimension: int

    @classmethod
    def of(cls, embedder: Named) -> Model:
        return cls(embedder.name, embedder.dim)

    def __str__(self) -> str:
        return f"{self.embedder} ({self.dimension})"
