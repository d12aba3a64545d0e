"""The tree part of a store: nodes, and what is to be built of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.as_of import AsOf
from everwhen.store.vector_model import VectorModel
from everwhen.types import Finding, Statement
from everwhen_time import Interval

Facts: TypeAlias = Mapping[str, tuple[str, ...]]
"""Ids of facts, each with those of a node's turns that it was learned from."""
Outcome: TypeAlias = Literal["built", "rebuilt", "same", "dropped", "late"]
"""What became of a mark. `late`: somebody marked or built the node meanwhile, and nothing was written."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The place of a node in the tree, built or not: its level, its window or session, and its parent."""

    id: str
    level: int
    start: datetime
    end: datetime
    session: str | None = None
    parent: str | None = None


class BuildMark(NamedTuple):
    """An entry of the list of nodes to build. `waits`: a node below it must be built first."""

    seq: int
    place: NodePlace
    waits: bool


class SessionSpan(NamedTuple):
    """A session, with when its first and its last turn were said."""

    session: str
    first: datetime
    last: datetime


class Ancestor(NamedTuple):
    """A node above a turn, at any level."""

    id: str
    level: int
    unit: int


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node as stored."""

    unit: int
    place: NodePlace
    interval: Interval
    text: str
    children: tuple[str, ...]
    statements: tuple[Statement, ...]
    facts: Facts
    fingerprint: str
    consolidator: str
    version: str
    problem: str | None
    first_at: datetime
    last_at: datetime
    recorded_at: datetime

    @property
    def turns(self) -> tuple[str, ...]:
        """Those that its text rests on."""
        return tuple(dict.fromkeys(turn for one in self.statements for turn in one.turns))


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node ready to be written. `above` is the place of its parent, None at the top."""

    place: NodePlace
    above: NodePlace | None
    interval: Interval
    text: str
    children: tuple[str, ...]
    statements: tuple[Statement, ...]
    fingerprint: str
    consolidator: str
    version: str
    first_at: datetime
    last_at: datetime
    recorded_at: datetime
    turns: tuple[str, ...]
    vectors: NDArray[np.float32]
    tokens: int
    facts: Facts = field(default_factory=dict)
    problem: str | None = None
    below: tuple[NewNode, ...] = ()
    """Nodes of level 1 that are written with their session."""
    kept: frozenset[str] = frozenset()
    """Those that are there already and stay; others under the session are dropped."""


class LevelOne(NamedTuple):
    """New nodes under a session, those that are there and stay, and whether the session stays on the list."""

    new: Sequence[NewNode]
    kept: frozenset[str]
    waits: bool


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result for a mark: a node, or None if nothing is left to make it from."""

    mark: BuildMark
    node: NewNode | None
    exchanges: LevelOne | None = None
    """Level 1 of a session that is not built itself: it alone is written then."""


class TreeStore(Protocol):
    """Above: `tree/` (writes), recall and `Memory` (reads). Below: the same database as the turns."""

    def told(self, turns: Sequence[str]) -> list[SessionSpan]:
        """The sessions of some turns."""
        ...

    def put(self, built: Sequence[BuildResult], made_with: VectorModel) -> list[Outcome]:
        """Write, replace or drop nodes in one transaction, and put what stands above them on the list.

        A mark that is not there any more, or was made again, leaves all as it is.
        """
        ...

    def restart(self, levels: str, *, drop: bool = True) -> None:
        """Note the levels, forget how far the turns were marked and empty the list; `drop` removes all nodes too."""
        ...

    def levels(self) -> str | None:
        """The levels that the tree is built by, as they were noted."""
        ...

    def nodes(
        self,
        level: int | None = None,
        between: Interval | None = None,
        *,
        ids: Sequence[str] | None = None,
        under: Sequence[str] | None = None,
    ) -> list[NodeRow]:
        """Nodes in the order of level and time: all, those whose interval overlaps, some, or the children of some."""
        ...

    def nodes_then(self, level: int | None, then: AsOf) -> list[NodeRow]:
        """The nodes that stood at `known_at`, each in the newest version that was built by then from nothing said
        after `as_of`; those without such a version are left out. In the order of level and time."""
        ...

    def sizes(self) -> dict[int, int]:
        """How many nodes are stored of each level that has any."""
        ...

    def before(self, level: int, instant: datetime, count: int) -> list[str]:
        """The texts of the last nodes of a level that start before an instant, oldest first."""
        ...

    def paths(self, turns: Sequence[str]) -> dict[str, list[Ancestor]]:
        """For each turn the nodes above it that are built, from its session up."""
        ...

    def for_reembedding(self) -> Iterator[tuple[str, str, str, list[str]]]:
        """Each node's id, text, consolidator and turns, for another embedder."""
        ...

    def check(self) -> list[Finding]: ...
