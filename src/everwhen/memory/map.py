"""The part of `Memory` about its map: the vectors of each level of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everwhen.memory.tree import TreeMemory
from everwhen.store import Filter
from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from everwhen.map import Layer
    from everwhen.models.embed import Embedder
    from everwhen.types import Node


class MapMemory(TreeMemory):
    """What `Memory` inherits."""

    def layers(self, group: str | None = None) -> list[Layer]:
        """The points of each level: an exchange lies in the middle of its turns, a node where its text does.

        Every point is of the group that is given (a map of several banks), else of the month in which it starts. Its
        label is its day. What is not consolidated yet is not there.
        """
        from everwhen.map import Layer

        levels = self._levels()
        zone = zone_of(self._store.info.zone)
        out = []
        for level in range(1, levels.top + 1):
            nodes = self.tree(level=level)
            if not nodes:
                continue
            days = [node.interval.start.astimezone(zone).date() for node in nodes if node.interval.start]
            out.append(
                Layer(
                    level,
                    levels.name(level),
                    self._places(level, nodes),
                    tuple(group or f"{day:%Y-%m}" for day in days),
                    tuple(day.isoformat() for day in days),
                )
            )
        return out

    def _places(self, level: int, nodes: Sequence[Node]) -> NDArray[np.float32]:
        if level == 1:
            turns = [turn for node in nodes for turn in node.turns]
            vectors = self._store.graph.vectors(turns)
            ends = np.cumsum([len(node.turns) for node in nodes])
            middles = np.add.reduceat(vectors, np.append(0, ends[:-1]))
            return np.asarray(middles / np.linalg.norm(middles, axis=1, keepdims=True), np.float32)
        units = {row.place.id: row.unit for row in self._store.tree.nodes(level)}
        where = Filter(kinds=frozenset({"node"}))

        def places(_: Embedder) -> NDArray[np.float32]:
            nothing = np.zeros((1, self._store.info.dimension), np.float32)
            return self._store.scan(nothing, "", where).vectors_of([units[node.id] for node in nodes])

        return self._model.read(places)
