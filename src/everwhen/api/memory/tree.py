"""The memory tree: what was said, condensed by exchange, session, day, week and month; and its map."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from everwhen.api.memory.bank import OpenBank
from everwhen.api.memory.events import find_entity
from everwhen.api.operations.base import does
from everwhen.api.operations.conversation import Consolidate, Profile, Tree
from everwhen.errors import UsageError
from everwhen.store.rows import AsOf
from everwhen.types import Consolidated, Listed, Node, Statement, Time
from everwhen_time import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from everwhen.models.embedder import Embedder
    from everwhen.tree.building import Now
    from everwhen.tree.levels import Levels
    from everwhen.tree.map import Layer


@dataclass(frozen=True, slots=True)
class MapLevel:
    """One level to look at: its points, the nodes they stand for, and the names of all the levels that there are."""

    names: tuple[str, ...]
    layer: Layer
    nodes: tuple[Node, ...]


class MemoryTree:
    """The tree of one bank. All of it waits for pending extraction."""

    def __init__(self, bank: OpenBank, process: Callable[[], object]) -> None:
        self._bank = bank
        self._process = process
        if bank.settings.tree_schedule != "asked":
            bank.worker.behind = lambda may_go_on: self._build(Consolidate(), may_go_on)

    @does(Consolidate)
    def consolidate(self, asked: Consolidate) -> Consolidated:
        self._process()
        return self._build(asked)

    def _build(self, asked: Consolidate, may_go_on: Callable[[], bool] = lambda: True) -> Consolidated:
        from everwhen.tree.building import consolidate, open_consolidator

        bank = self._bank
        moment: Now = "end" if asked.now == "end" else bank.clock().last(asked.now, "now")
        levels, consolidator = self.levels(), open_consolidator(bank.settings)
        return bank.model.write(
            lambda embedder: consolidate(
                bank.store,
                embedder,
                levels,
                consolidator,
                moment,
                asked.progress,
                dated=bank.settings.date_in_embedding,
                online=bank.settings.tree_schedule == "online",
                may_go_on=may_go_on,
            )
        )

    @does(Tree)
    def tree(self, asked: Tree) -> Listed[Node]:
        from everwhen.tree.node_reader import nodes

        levels, level = self.levels(), asked.level
        if level is not None and not 1 <= level <= levels.top:
            named = ", ".join(f"{one} {levels.name(one)}" for one in range(1, levels.top + 1))
            raise UsageError(f"there is no level {level!r} in the memory tree; there are: {named}")
        then = self._bank.as_of(asked)
        pending = self._bank.settle()
        return Listed(nodes(self._bank.store, levels, level, self._moment(asked.at), then), pending)

    @does(Profile)
    def profile(self, asked: Profile) -> Listed[Statement]:
        from everwhen.tree.node_reader import profile

        then = self._bank.as_of(asked)
        pending = self._bank.settle()
        found = profile(self._bank.store, self.levels(), then)
        if asked.about is not None:
            found = self._concerning(found, asked.about, then)
        return Listed(found, pending)

    def _concerning(self, every: Sequence[Statement], name: str, as_of: AsOf) -> list[Statement]:
        """The statements of somebody, and those that name them; by all names that they go by."""
        names = {name}
        if not any(one.speaker.casefold() == name.casefold() for one in every):
            entity = find_entity(self._bank.store.graph.entities(as_of), name)
            names = {entity.name, *entity.aliases}
        named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
        return [one for one in every if named.search(one.speaker) or named.search(one.text)]

    def levels(self) -> Levels:
        """The levels of this bank's tree: those it was built with, else those that are set."""
        from everwhen.tree.levels import read_levels

        chosen, store = self._bank.settings, self._bank.store
        return read_levels(store.tree.levels(), chosen.tree_windows, chosen.tree_exchanges, store.info.zone)

    def _moment(self, at: Time | Interval | None) -> Interval | None:
        """What is asked for; an instant as the shortest interval that holds it."""
        if at is None or isinstance(at, Interval):
            return at
        asked = self._bank.clock().interval(at, "at")
        if asked.start is None or asked.start != asked.end:
            return asked
        return Interval(asked.start, asked.start + timedelta(microseconds=1), "second")

    # Repair

    def reaches_open(self) -> bool:
        """Whether the tree was built up to windows that are open still."""
        store = self._bank.store
        newest, top = store.jobs.tree.watermark(), self.levels().top
        return newest is not None and any(row.place.end > newest for row in store.tree.nodes(top))

    def rebuild(self, open_too: bool) -> None:
        """Build all of it again, and the windows that are open still where they are wanted."""
        self._bank.store.tree.restart(str(self.levels()))
        self.consolidate(Consolidate("end" if open_too else None))

    # The map

    def layers(self, group: str | None = None) -> list[Layer]:
        """The points of each level: an exchange lies in the middle of its turns, a node where its text does."""
        levels = self.levels()
        found = ((level, self.tree(Tree(level))) for level in range(1, levels.top + 1))
        return [self._layer(level, levels.name(level), nodes, group=group) for level, nodes in found if nodes]

    def map_level(self, name: str, most: int) -> MapLevel | None:
        """One level of the map, by its name, or the finest of at most so many points."""
        from everwhen.tree.levels import EXCHANGE
        from everwhen.tree.node_reader import evenly

        store, levels = self._bank.store, self.levels()
        self._bank.settle()
        # Exchanges are cut when they are asked for: of about two turns each.
        sizes = store.tree.sizes() | {EXCHANGE: -(-store.stats().turns // 2)}
        there = {levels.name(level): level for level in range(EXCHANGE, levels.top + 1) if sizes.get(level)}
        if not there:
            return None
        fitting = (one for one in there.values() if sizes[one] <= most)
        level = there.get(name) or next(fitting, max(there.values()))
        nodes, units = evenly(store, levels, level, most)
        layer = self._layer(level, levels.name(level), nodes, units)
        return MapLevel(tuple(there), layer, tuple(nodes))

    def _layer(
        self,
        level: int,
        name: str,
        nodes: Sequence[Node],
        units: Sequence[int] | None = None,
        group: str | None = None,
    ) -> Layer:
        """The points of one level; those of a month are a group, where there is no other one."""
        from everwhen.tree.map import Layer
        from everwhen_time.zones import zone_of

        zone = zone_of(self._bank.zone)
        days = [one.interval.start.astimezone(zone).date().isoformat() for one in nodes if one.interval.start]
        groups = tuple(group or day[:7] for day in days)
        return Layer(level, name, self._places(level, nodes, units), groups, tuple(days))

    def _places(
        self, level: int, nodes: Sequence[Node], units: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        import numpy as np

        from everwhen.store.search import Filter, SearchQuery

        store = self._bank.store
        if level == 1:
            turns = [turn for node in nodes for turn in node.turns]
            vectors = store.graph.vectors(turns)
            ends = np.cumsum([len(node.turns) for node in nodes])
            middles = np.add.reduceat(vectors, np.append(0, ends[:-1]))
            return np.asarray(middles / np.linalg.norm(middles, axis=1, keepdims=True), np.float32)
        if units is None:
            by_id = {row.place.id: row.unit for row in store.tree.nodes(level)}
            units = [by_id[node.id] for node in nodes]
        query = SearchQuery(where=Filter(kinds=frozenset({"node"})))

        def places(_: Embedder) -> NDArray[np.float32]:
            found = store.search(query).evidence(units, vectors=True)
            assert found.vectors is not None
            held = dict(zip((row.seq for row in found.rows), found.vectors, strict=True))
            nothing = np.zeros(store.info.dimension, np.float32)
            return np.stack([held.get(unit, nothing) for unit in units])

        return self._bank.model.read(places)
