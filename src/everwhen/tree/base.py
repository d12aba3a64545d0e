"""The Consolidator protocol, and its input and output. Above: the tree's builder. Below: rules, or a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from everwhen.store.rows import FactRow, Facts, NodePlace
from everwhen.tree.levels import Kind
from everwhen.types import Statement
from everwhen_time import Interval


@dataclass(frozen=True, slots=True)
class Child:
    """Input of a node: a node one level below or, for a session, an exchange."""

    place: NodePlace
    interval: Interval
    text: str
    statements: tuple[Statement, ...]
    fingerprint: str
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One node to write. `facts` are those learned from its turns that are believed now; `denied` are those that people
    retracted; `sources` says from which turns each came; `said` is when those turns were said."""

    place: NodePlace
    kind: Kind
    name: str
    zone: str
    children: tuple[Child, ...]
    history: tuple[str, ...] = ()
    facts: tuple[FactRow, ...] = ()
    denied: tuple[FactRow, ...] = ()
    sources: Facts = field(default_factory=dict)
    said: Mapping[str, datetime] = field(default_factory=dict)
    assistants: frozenset[str] = frozenset()
    """Those of the speakers who are assistants or tools."""
    below: str = "part"
    """What one of its children is called."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Turns that were said in another zone than the bank's: "yesterday" is the speaker's."""


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """The text of a node, and the statements it is made of. With `by_meaning` its vector is that of its own text, else
    that of the turns it quotes."""

    text: str
    statements: tuple[Statement, ...]
    consolidator: str
    version: str
    problem: str | None = None
    by_meaning: bool = False


class Consolidator(Protocol):
    """Turns children into a node. Above: the tree's builder. Below: rules, or a language model.

    The result for a task depends on that task alone. It never raises because of what a task or a model says.
    """

    name: str
    """What is written beside every node, such as "extractive" or "llm:openai:gpt-5-mini"."""
    exchanges: bool
    """Whether it writes level 1 too. Else an exchange is its turns, as they were said."""
    history: int
    """How many nodes of the same level before it each node is given (TiMem's w)."""
    at_once: int
    """Nodes of a level that are made together, and written in one transaction; none of them knows the others. 1 where
    there is a history: each node waits for the one before it."""

    @property
    def version(self) -> str: ...

    def consolidate(self, tasks: Sequence[Task]) -> list[NodeDraft]: ...
