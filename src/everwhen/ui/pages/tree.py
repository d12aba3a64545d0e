"""The memory tree, from months down to the words that were said."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from html import escape

from everwhen.api.memory import Memory
from everwhen.errors import UsageError
from everwhen.types import Node, Turn
from everwhen.ui.components import badge, block, empty, markup, picked, press, row, said, spoken, turn_line
from everwhen.ui.page import UIPage

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
                markup(self._words(data.node), "wrap").props("id=node")
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

    def _open_then(self, node: Node) -> bool:
        """Whether, at the moment looked from, more was still to come: its words would tell the future."""
        then = self.session.as_of
        return then is not None and node.interval.end is not None and node.interval.end > then

    def _words(self, node: Node) -> str:
        if self._open_then(node):
            return "<span class='soft'>Still open then: what it says today rests on later days too.</span>"
        return escape(node.text)

    def _line(self, node: Node) -> str:
        open_ = self._open_then(node)
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
