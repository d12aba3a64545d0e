"""everwhen itself, by its public `Memory`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen.api.memory import Memory
from everwhen.types.recall import MID, Recipe
from everwhen_bench.metrics import unique
from everwhen_bench.peers.base import Lent, Said
from everwhen_bench.retrieval import EVERYTHING
from everwhen_bench.speed import LOW


class Engine:
    def __init__(self, folder: Path, lent: Lent, recipe: Recipe | None, extract: str) -> None:
        settings: dict[str, Any] = {} if lent.home else {"cache_entries": 0}
        if lent.home:  # the same cache as that of the others
            (folder / "cache").symlink_to(lent.home / "cache")
        self._recipe = recipe
        self._memory = Memory.open(folder, "peer", extract=extract, **settings)

    def add(self, turns: Sequence[Said]) -> None:
        self._memory.add_many([turn.message for turn in turns])
        self._memory.flush()

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        found = self._memory.recall(query, at=at, max_tokens=EVERYTHING, recipe=self._recipe)
        return [str(one) for one in unique(turn for memory in found.memories for turn in memory.turns)][:k]

    def close(self) -> None:
        self._memory.close()


RECIPES = {"rrf": replace(MID, name="rrf", fusion="rrf", rrf_k=10), "low": LOW}
"""By variant; any other is asked by the default."""


def open_peer(folder: Path, lent: Lent, variant: str) -> Engine:
    return Engine(folder, lent, RECIPES.get(variant), "rules" if variant == "rules" else "none")
