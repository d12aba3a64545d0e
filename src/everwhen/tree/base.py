"""The Consolidator protocol, its input and output, and the turns of a session cut into exchanges, which are level 1.

Used by: the tree's builder. Implemented by: rules (`extractive.py`) and a language model (`llm.py`). The exchanges
depend only on the turns, not on the order in which they arrived. (The segment that a turn gets when it arrives knows
only the turns that were there.) TiMem is explained in docs/five-documents.md.
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
    """One node to write. `facts` are those learned from its turns that are believed now; `retracted` are those that
    people retracted or corrected; `sources` has the turns of each, `said_at_by_turn` when these were said."""

    place: NodePlace
    kind: Kind
    name: str
    zone: str
    children: tuple[Child, ...]
    history: tuple[str, ...] = ()
    facts: tuple[FactRow, ...] = ()
    retracted: tuple[FactRow, ...] = ()
    sources: Facts = field(default_factory=dict)
    said_at_by_turn: Mapping[str, datetime] = field(default_factory=dict)
    assistants: frozenset[str] = frozenset()
    """Those of the speakers who are assistants or tools."""
    child_name: str = "part"
    """What one of its children is called."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """The zones of turns that were said in another zone than the bank's: "yesterday" is counted in the speaker's."""


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """The text of a node, and the statements it is made of. With `by_meaning` its own text is embedded; otherwise its
    vector is made from those of the turns it quotes."""

    text: str
    statements: tuple[Statement, ...]
    consolidator: str
    version: str
    problem: str | None = None
    by_meaning: bool = False


class Consolidator(Protocol):
    """Writes nodes from their children.

    The result for a task depends on that task alone. It never raises because of what a task or a model says.
    """

    name: str
    """What is written beside every node, such as "extractive" or "llm:openai:gpt-5-mini"."""
    writes_exchanges: bool
    """Whether it writes level 1 too. Otherwise the text of an exchange is its turns, as they were said."""
    history: int
    """How many nodes of the same level before it each node is given (TiMem's w)."""
    batch_size: int
    """Nodes of a level that are written together in one transaction; none of them knows the others. 1 where there is a
    history: each node waits for the one before it."""

    @property
    def version(self) -> str: ...

    def consolidate(self, tasks: Sequence[Task]) -> list[NodeDraft]: ...


# Exchanges


def in_order(turns: Iterable[Turn]) -> list[Turn]:
    """By time; at one instant by the id, shorter ones first, as numbered ids count (D1:9, D1:10)."""
    return sorted(turns, key=lambda turn: (turn.said_at, len(turn.id), turn.id))


def cut_into_exchanges(turns: Sequence[Turn], exchanges_per_piece: int = 1) -> list[list[Turn]]:
    """The turns of a session, in their order, cut into exchanges, or into pieces of several exchanges.

    Unlike the segments of turns, an exchange of the tree has no greatest length: `begins_exchange` is given only the
    speakers that its rule about answers needs, so never as many as `LONGEST_EXCHANGE`.
    """
    cut: list[list[Turn]] = []
    speakers: list[str] = []  # the first speaker of the exchange, another one, and the last
    for turn in turns:
        if begins_exchange(speakers, turn.speaker):
            cut.append([turn])
            speakers = [turn.speaker]
        else:
            cut[-1].append(turn)
            speakers = [speakers[0], *(one for one in speakers[1:2] if one != speakers[0]), turn.speaker]
    return [
        [turn for exchange in cut[start : start + exchanges_per_piece] for turn in exchange]
        for start in range(0, len(cut), exchanges_per_piece)
    ]


def children_of_session(turns: Sequence[Turn], levels: Levels) -> list[Child]:
    """The pieces of a session that are the children of its node."""
    return [child_of_turns(piece, levels) for piece in cut_into_exchanges(turns, levels.exchanges_per_piece)]


def child_of_turns(piece: Sequence[Turn], levels: Levels) -> Child:
    """One exchange, or a piece of several."""
    place = levels.exchange(piece[0].session, piece[0].id, piece[0].said_at, piece[-1].said_at)
    return Child(
        place=place,
        interval=Interval(place.start, place.end, "second"),
        text="".join(line(turn.speaker, turn.text) for turn in piece).rstrip("\n"),
        statements=tuple(
            Statement(turn.text, turn.speaker, turn.said_at, turn.said_at, 1, (turn.id,)) for turn in piece
        ),
        fingerprint="\x1f".join(turn.id for turn in piece),
        speakers=tuple(dict.fromkeys(turn.speaker for turn in piece)),
    )
