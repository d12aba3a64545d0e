"""The Consolidator protocol, its input and output, and the turns of a session cut into exchanges, which are level 1.

Above: the tree's builder. Below: rules, or a language model. The exchanges depend only on the turns, not on the order
in which they arrived. (The segment that a turn gets when it arrives knows only the turns that were there.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from everwhen.store.rows import FactRow, Facts, NodePlace
from everwhen.tree.levels import Kind, Levels
from everwhen.types import Statement, Turn
from everwhen.types.turns import line
from everwhen.write.remember import begins_exchange
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


# Exchanges


def in_order(turns: Iterable[Turn]) -> list[Turn]:
    """By time; at one instant by the id, shorter ones first, as numbered ids count (D1:9, D1:10)."""
    return sorted(turns, key=lambda turn: (turn.said_at, len(turn.id), turn.id))


def exchanges(turns: Sequence[Turn], many: int = 1) -> list[list[Turn]]:
    """The turns of a session, in their order, as exchanges, or as pieces of several exchanges."""
    cut: list[list[Turn]] = []
    heard: list[str] = []  # who spoke in the exchange: its first speaker, another one, its last
    for turn in turns:
        if begins_exchange(heard, turn.speaker):
            cut.append([turn])
            heard = [turn.speaker]
        else:
            cut[-1].append(turn)
            heard = [heard[0], *(one for one in heard[1:2] if one != heard[0]), turn.speaker]
    return [
        [turn for exchange in cut[at : at + many] for turn in exchange] for at in range(0, len(cut), many)
    ]


def children_of_session(turns: Sequence[Turn], levels: Levels) -> list[Child]:
    return [child_of_turns(some, levels) for some in exchanges(turns, levels.exchanges)]


def child_of_turns(some: Sequence[Turn], levels: Levels) -> Child:
    """One exchange, or a piece of several."""
    place = levels.exchange(some[0].session, some[0].id, some[0].said_at, some[-1].said_at)
    return Child(
        place=place,
        interval=Interval(place.start, place.end, "second"),
        text="".join(line(turn.speaker, turn.text) for turn in some).rstrip("\n"),
        statements=tuple(
            Statement(turn.text, turn.speaker, turn.said_at, turn.said_at, 1, (turn.id,)) for turn in some
        ),
        fingerprint="\x1f".join(turn.id for turn in some),
        speakers=tuple(dict.fromkeys(turn.speaker for turn in some)),
    )
