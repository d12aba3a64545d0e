"""The memory tree: from months down to the words that were said, and the map of where its memories lie."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from html import escape

import numpy as np
from numpy.typing import NDArray

from everwhen.api.memory import Memory
from everwhen.api.memory.derived import MapLevel
from everwhen.errors import UsageError
from everwhen.store.base import STOP_WORDS
from everwhen.tree.map import project
from everwhen.types import Node, Turn
from everwhen.ui.components import (
    badge,
    block,
    choice,
    empty,
    legend,
    markup,
    pick,
    picked,
    press,
    row,
    said,
    spoken,
    turn_line,
)
from everwhen.ui.page import UIPage

# Tree


MOST_NODES = 400
"""Nodes of the tree that are listed at once, newest first."""
DEEPEST = 12
"""Levels that are looked for; a bank has five unless it is set otherwise."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The way down to a node, and what is right under it; an empty way is the top."""

    path: list[Node]
    nodes: list[Node]
    turns: list[Turn]
    more: int
    built: bool

    @property
    def node(self) -> Node | None:
        return self.path[-1] if self.path else None


class TreeBrowser(UIPage):
    name, title, icon = "tree", "Tree", "account_tree"
    hint = "What was said, condensed; down to the words themselves."

    def draw(self, data: Branch) -> None:
        if data.node is None and not data.nodes:
            hint = "What was said is condensed here by exchange, session, day, week and month."
            past = "Nothing had been said by that day; move the slider to the right."
            empty("This bank has no tree yet.", hint if self.session.as_of is None else past, "account_tree")
            return
        self.path = data.path
        self._crumbs()
        if not data.built and self.may_change:
            with block("div", "sheet pad").style("margin-bottom: .9rem"):
                said("Sessions, days, weeks and months are not condensed yet.", "soft")
                press("Condense now", self._consolidate, "strong", icon="compress")
        if data.node is not None:
            with block("div", "sheet pad").style("margin-bottom: .9rem"):
                markup(self._node_text(data.node), "wrap").props("id=node")
        if data.turns:
            turns = "".join(turn_line(self.session, turn) for turn in data.turns)
            markup(turns, "sheet pad").props("id=turns")
        if data.nodes:
            lines = "".join(self._line(node) for node in data.nodes)
            picked(markup(lines, "sheet rows").props("id=nodes"), self._down)
        if data.more:
            said(f"and {data.more} older ones; open a larger unit of time to reach them", "faint small")

    # Reading

    def _read(self, memory: Memory) -> Branch:
        by_then, path = self.session.by_then, self._path(memory)
        here = path[-1] if path else None
        if here is None:
            level, nodes = self._top(memory)
            built = level > 1
        elif here.level == 1:
            turns = [memory.turn(id_) for id_ in here.children]
            return Branch(path, [], [turn for turn in turns if by_then(turn.said_at)], 0, True)
        else:
            nodes, built = self._under(memory, here), True
        nodes = [node for node in nodes if by_then(node.interval.start)]
        nodes = nodes[::-1] if here is None else nodes
        return Branch(path, nodes[:MOST_NODES], [], max(len(nodes) - MOST_NODES, 0), built)

    def _top(self, memory: Memory) -> tuple[int, list[Node]]:
        return self.kept("top", lambda: _top(memory))

    def _under(self, memory: Memory, node: Node) -> list[Node]:
        def read() -> list[Node]:
            under = set(node.children)
            return [one for one in memory.tree(level=node.level - 1, at=node.interval) if one.id in under]

        return self.kept(f"under {node.id}", read)

    def _path(self, memory: Memory) -> list[Node]:
        """The nodes that the address names, from the top down, as far as they are there."""
        path: list[Node] = []
        nodes = self._top(memory)[1]
        for id_ in filter(None, self.asked.get("path", "").split(",")):
            node = next((one for one in nodes if one.id == id_), None)
            if node is None:
                break
            path.append(node)
            nodes = self._under(memory, node) if node.level > 1 else []
        return path

    # Drawing

    def _still_open(self, node: Node) -> bool:
        """Whether, at the moment looked from, more was still to come: its words would tell the future."""
        as_of = self.session.as_of
        return as_of is not None and node.interval.end is not None and node.interval.end > as_of

    def _node_text(self, node: Node) -> str:
        if self._still_open(node):
            return "<span class='soft'>Still open then: what it says today rests on later days too.</span>"
        return escape(node.text)

    def _line(self, node: Node) -> str:
        open_ = self._still_open(node)
        first = node.text.split("\n")
        words = "still open then" if open_ else " ".join(first[1:3] if len(first) > 1 else first)[:260]
        of = f"{len(node.children)} {'turn' if node.level == 1 else 'part'}{'' if len(node.children) == 1 else 's'}"
        at = escape(spoken(node.interval, self.session.zone))
        marks = f"<span>{badge(node.name or f'level {node.level}', 'on')} {badge(of)}</span>"
        return row(node.id, at, escape(words), marks, "node open" if open_ else "node")

    def _crumbs(self) -> None:
        with block("nav", "crumbs", 'aria-label="Where in the tree"'):
            press("All", lambda: self._up(0), "plain")
            for depth, node in enumerate(self.path, start=1):
                said("›", "faint", "span")
                words = f"{node.name}: {spoken(node.interval, self.session.zone)}"
                press(words, partial(self._up, depth), "plain")

    # Acting

    async def _down(self, id_: str) -> None:
        await self.frame.change(path=",".join([*(node.id for node in self.path), id_]))

    async def _up(self, depth: int) -> None:
        await self.frame.change(path=",".join(node.id for node in self.path[:depth]))

    async def _consolidate(self) -> None:
        await self.frame.doing(
            lambda: self.session.write("consolidate", lambda memory: memory.consolidate("end"), alone=False),
            "Condensed.",
        )


def _top(memory: Memory) -> tuple[int, list[Node]]:
    """The highest level that has nodes; the lowest, which is made from the turns, is read last."""
    for level in range(DEEPEST, 0, -1):
        try:
            nodes = memory.tree(level=level)
        except UsageError:  # so many levels there are not
            continue
        if nodes:
            return level, nodes
    return 0, []


# Map


MAP_COLOURS = 8
"""Colours that people tell apart: of more months, quarters or years are coloured."""
MAP_LABELS = 9
"""Regions of the map that get a name."""
MOST_POINTS = 500
"""Points of the map's level; of more, evenly chosen ones."""
KMEANS_STEPS = 12
EVERYWHERE = 0.2
"""A word in more of the texts than this share, such as a speaker's name, distinguishes no region."""
COMMON = frozenset(
    f"{STOP_WORDS} yesterday today tomorrow really just also still only even much well good great "
    "think know want make made take took come came going went gone like love right "
    "time year week month said told thing things something".split()
)
"""Words that name no region."""
_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class LevelPlane:
    """One level, flat: a point for each of its nodes."""

    level: MapLevel
    points: NDArray[np.float64]
    words: tuple[frozenset[str], ...]
    """Of each node, those that may name a region."""
    titles: tuple[str, ...]


class MemoryMap(UIPage):
    name, title, icon = "map", "Map", "scatter_plot"
    hint = "What is about the same lies close together; words name a region."

    def _read(self, memory: Memory) -> LevelPlane | None:
        """The level that is asked for, else the finest of which every point is shown; its points stay while the slider
        moves."""
        level = self.asked.get("level", "")
        return self.kept(f"plane {level}", lambda: self._plane(memory.map_level(level, MOST_POINTS)))

    def draw(self, data: LevelPlane | None) -> None:
        if data is None:
            hint = "Memories that mean similar things will lie close together here."
            empty("There is nothing to map yet.", hint, "scatter_plot")
            return
        colours = self.asked.get("colour", "") != "none"
        level, nodes = data.level, data.level.nodes
        unit, groups = _coloured(level.layer.labels)
        change = self.frame.change
        with block("div", "tools"):
            levels = {name: name.capitalize() for name in level.names}
            choice("Level", levels, level.layer.name, lambda name: change(level=name))
            if unit:
                offered = {"": f"Colour by {unit}", "none": "One colour"}
                choice("Colours", offered, "" if colours else "none", lambda chosen: change(colour=chosen))
        shown = [n for n, node in enumerate(nodes) if self.session.by_then(node.interval.start)]
        if not shown:
            empty("Nothing had been said by that day.", "Move the slider to the right.", "scatter_plot")
            return
        groups = groups if colours else None
        hues = {name: n for n, name in enumerate(dict.fromkeys(groups))} if groups else {}
        with block("div", "sheet pad"):
            svg = self._svg(data, shown, [hues[name] for name in groups] if groups else None)
            picked(markup(svg), lambda number: self._open(nodes[int(number)]))
            legend({name: f"--hue-{n}" for name, n in hues.items()})

    def _svg(self, plane: LevelPlane, shown: list[int], hues: list[int] | None) -> str:
        low, high = plane.points.min(axis=0), plane.points.max(axis=0)
        flat = 4 + 92 * (plane.points - low) / np.maximum(high - low, 1e-9)
        size = 4.5 if len(shown) > 300 else 6.5
        marks = [
            f'<circle {pick(n)} cx="{flat[n][0]:.2f}%" '
            f'cy="{100 - flat[n][1]:.2f}%" r="{size}" fill="var(--hue-{hues[n] if hues else 0})">'
            f"<title>{plane.titles[n]}</title></circle>"
            for n in shown
        ]
        names = [
            f'<text x="{min(max(x, 6), 94):.2f}%" y="{100 - min(y, 97):.2f}%">{escape(word)}</text>'
            for word, x, y in regions(flat[shown], [plane.words[n] for n in shown])
        ]
        return f'<svg class="map" role="group" aria-label="{len(shown)} points">{"".join(marks)}{"".join(names)}</svg>'

    def _plane(self, level: MapLevel | None) -> LevelPlane | None:
        if level is None:
            return None
        points = project(level.layer.vectors.astype(np.float64), "pca")
        titles = tuple(escape(f"{self._when(node)}: {node.text[:100]}") for node in level.nodes)
        return LevelPlane(level, points, telling_words([node.text for node in level.nodes]), titles)

    def _when(self, node: Node) -> str:
        return spoken(node.interval, self.session.zone)

    async def _open(self, node: Node) -> None:
        await self.show_turns(self._when(node), node.turns[:12], node.text)


def _coloured(days: Sequence[str]) -> tuple[str, list[str] | None]:
    """The finest unit of time of which there are few enough to tell apart by colour, and that of each day."""
    units = {
        "month": [f"{date.fromisoformat(one):%b %Y}" for one in days],
        "quarter": [f"{one[:4]} Q{(int(one[5:7]) + 2) // 3}" for one in days],
        "year": [one[:4] for one in days],
    }
    return next(((unit, of) for unit, of in units.items() if 1 < len(set(of)) <= MAP_COLOURS), ("", None))


def telling_words(texts: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The words of each text that may tell a region from another."""
    words = [{word for word in _WORD.findall(text) if word.lower() not in COMMON} for text in texts]
    said_in = Counter(word for several in words for word in several)
    return tuple(
        frozenset(word for word in several if said_in[word] <= EVERYWHERE * len(texts)) for several in words
    )


def regions(points: NDArray[np.float64], words: Sequence[frozenset[str]]) -> list[tuple[str, float, float]]:
    """A word for each crowded region, and where it stands: the one that is said there most and elsewhere least.

    Regions are found by k-means, begun with the point farthest from those that were chosen: the same points give
    the same names.
    """
    count = min(MAP_LABELS, len(points) // 5)
    if count < 2:
        return []
    centres = points[[int(np.argmin(points.sum(axis=1)))]]
    while len(centres) < count:
        far = np.linalg.norm(points[:, None] - centres[None], axis=2).min(axis=1)
        centres = np.vstack([centres, points[int(far.argmax())]])
    of = np.zeros(len(points), np.int64)
    for _ in range(KMEANS_STEPS):
        of = np.linalg.norm(points[:, None] - centres[None], axis=2).argmin(axis=1)
        centres = np.stack(
            [points[of == n].mean(axis=0) if (of == n).any() else centres[n] for n in range(count)]
        )
    said_in = Counter(word for several in words for word in several)
    named: list[tuple[str, float, float]] = []
    for n in np.argsort(-np.bincount(of, minlength=count)):
        inside = [several for several, region in zip(words, of, strict=True) if region == n]
        here = Counter(word for several in inside for word in several)
        taken = {_stem(word) for word, _, _ in named}
        distinct = [
            word for word in here if _stem(word) not in taken and (here[word] > 1 or len(inside) == 1)
        ]
        if distinct and len(inside) > 1:
            best = max(distinct, key=lambda word: (here[word] ** 2 / said_in[word], word))
            named.append((best, float(centres[n][0]), float(centres[n][1])))
    return named


def _stem(word: str) -> str:
    """What "walk" and "walks" share."""
    return word.lower().rstrip("s")
