"""Plain dense retrieval: the cosine of every turn with the question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from everwhen.models.embedder import Vectors
from everwhen_bench.peers.base import Lent, Said


class Dense:
    def __init__(self, folder: Path, lent: Lent) -> None:
        self._folder, self._lent = folder, lent
        self._ids: list[str] = []
        self._vectors: Vectors = np.zeros((0, lent.dim), np.float32)

    def add(self, turns: Sequence[Said]) -> None:
        self._ids += [turn.id for turn in turns]
        self._vectors = np.concatenate([self._vectors, self._lent.embed([turn.text for turn in turns])])

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        order = np.argsort(-(self._vectors @ self._lent.ask(query)), kind="stable")
        return [self._ids[place] for place in order[:k]]

    def close(self) -> None:
        np.save(self._folder / "vectors.npy", self._vectors)


def open_peer(folder: Path, lent: Lent, variant: str) -> Dense:
    return Dense(folder, lent)
