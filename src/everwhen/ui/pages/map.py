"""Where memories lie: the vectors of one level of the tree on a plane, by principal components."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from html import escape

import numpy as np
from numpy.typing import NDArray

from everwhen.map.project import project
from everwhen.memory import Memory
from everwhen.types import Node
from everwhen.ui.components import block, choice, empty, markup, pick, picked, said, show_turns, spoken
from everwhen.ui.page import UIPage
from everwhen.ui.settings import MOST_POINTS

HUES = 8
MOST_NAMED = 16
"""Months that the legend names."""


@dataclass(frozen=True, slots=True)
class LevelPlane:
    """One level, flat: a point, a month and a node each."""

    name: str
    points: NDArray[np.float64]
    groups: tuple[str, ...]
    nodes: tuple[Node, ...]


class MemoryMap(UIPage):
    name, title, icon = "map", "Map", "scatter_plot"
    hint = "What is about the same lies close together."

    def controls(self) -> None:
        self.level = ""
        self.planes: list[LevelPlane] | None = None

    async def load(self) -> list[LevelPlane]:
        if self.planes is None:  # the slider moves over the same points
            self.planes = await self.session.read(_planes)
        return self.planes

    def draw(self, data: list[LevelPlane]) -> None:
        if not data:
            with block("div", "sheet"):
                empty(
                    "There is nothing to map yet.",
                    "Memories that mean similar things will lie close together here.",
                    "scatter_plot",
                )
            return
        names = [plane.name for plane in data]
        if self.level not in names:
            self.level = names[0]
        plane = data[names.index(self.level)]
        with block("div", "tools"):
            choice("Level", {name: name.capitalize() for name in names}, self.level, self._choose)
            said("A point is placed by its meaning and coloured by its month.", "faint small", "span")
        then = self.session.as_of
        shown = [n for n, node in enumerate(plane.nodes) if _before(node, then)]
        if not shown:
            with block("div", "sheet"):
                empty("Nothing had been said by that day.", "Move the slider to the right.", "scatter_plot")
            return
        with block("div", "sheet pad"):
            picked(markup(self._svg(plane, shown)), lambda number: self._open(plane.nodes[int(number)]))
            groups = list(dict.fromkeys(plane.groups))
            markup(
                "".join(
                    f'<span style="--of: var(--hue-{n % HUES})">{escape(name)}</span>'
                    for n, name in enumerate(groups[:MOST_NAMED])
                ),
                "legend",
            )

    def _svg(self, plane: LevelPlane, shown: list[int]) -> str:
        low, high = plane.points.min(axis=0), plane.points.max(axis=0)
        flat = 4 + 92 * (plane.points - low) / np.maximum(high - low, 1e-9)
        groups = {name: n % HUES for n, name in enumerate(dict.fromkeys(plane.groups))}
        size = 4.5 if len(shown) > 300 else 6.5
        marks = []
        for n in shown:
            node = plane.nodes[n]
            title = escape(f"{spoken(node.interval, self.session.zone)}: {node.text[:140]}")
            marks.append(
                f'<circle {pick(n)} aria-label="{title}" cx="{flat[n][0]:.2f}%" '
                f'cy="{100 - flat[n][1]:.2f}%" r="{size}" fill="var(--hue-{groups[plane.groups[n]]})">'
                f"<title>{title}</title></circle>"
            )
        return f'<svg class="map" role="group" aria-label="{len(shown)} points">{"".join(marks)}</svg>'

    async def _choose(self, level: str) -> None:
        self.level = level
        await self.frame.refresh()

    async def _open(self, node: Node) -> None:
        title = spoken(node.interval, self.session.zone)
        await self.frame.doing(
            lambda: show_turns(self.session, title, node.turns[:12], node.text), redraw=False
        )


def _planes(memory: Memory) -> list[LevelPlane]:
    out = []
    for layer in memory.layers():
        nodes = memory.tree(level=layer.level)
        if len(nodes) != len(layer.vectors):  # something was added meanwhile
            continue
        kept = np.unique(np.linspace(0, len(nodes) - 1, min(len(nodes), MOST_POINTS)).astype(int))
        points = project(layer.vectors[kept].astype(np.float64), "pca")
        out.append(
            LevelPlane(
                layer.name, points, tuple(layer.groups[n] for n in kept), tuple(nodes[n] for n in kept)
            )
        )
    return out


def _before(node: Node, then: datetime | None) -> bool:
    return then is None or (node.interval.start is not None and node.interval.start < then)
