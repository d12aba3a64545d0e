"""What was said, and what a recall finds of it: messages, turns, sessions; memories given back, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from everwhen_time import Interval

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]

ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

KINDS = ("turn", "event", "narrative", "fact", "node")
"""What a retrievable memory can be."""

NETWORKS = ("world", "experience", "opinion")
"""Whose it is: people and things, what the agent itself did or said, and held beliefs."""

Time: TypeAlias = datetime | str
"""A time as callers give it: an aware datetime, ISO 8601 text or an expression such as "last Friday"."""

Between: TypeAlias = Interval | str | Sequence[Time | None]
"""A stretch of time as callers give it: an interval, an expression ("last week"), or its two sides."""

Metadata: TypeAlias = Mapping[str, Any]
"""Free, JSON-shaped facts about a turn; `recall(metadata={…})` filters by them."""

T = TypeVar("T")


class Listed(list[T]):
    """A list that says how many turns were not read yet when it was made: what they tell is missing in it."""

    def __init__(self, items: Iterable[T] = (), pending: int = 0) -> None:
        super().__init__(items)
        self.pending = pending


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a caller gives it, checked and normalised; not yet remembered.

    `said_at` is in the zone that it was given in, which is the speaker's where `zone` does not say otherwise.
    """

    text: str
    role: Role = "user"
    name: str | None = None
    said_at: datetime | None = None
    zone: str | None = None
    id: str | None = None
    session: str | None = None
    metadata: Metadata = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """Who said it: the name where there is one, else the role."""
        return self.name or self.role


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as said: a line of the turn calendar. Never changed once written."""

    id: str
    session: str
    seq: int
    role: Role
    speaker: str
    text: str
    said_at: datetime
    zone: str
    recorded_at: datetime
    tokens: int = 0
    segment: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """A stretch of conversation, as its turns draw it."""

    id: str
    turns: int
    first: datetime
    last: datetime
    speakers: tuple[str, ...]
    zone: str = "UTC"
    """Where its first turn was said."""


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` made durable: the turns in order (those that were there already included).

    `conflicts` are ids that were there already with other words; nothing is overwritten, so the new words
    were not kept.
    """

    turns: tuple[str, ...]
    session: str
    new: int = 0
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that `grep` found, with where in the text the pattern stands."""

    turn: Turn
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one recalled memory: its rank and score in each channel, and what fusion made of them.

    `fused` is relative to the best memory, `parts` what each feature added to the sum behind it (the reranker's among
    them); `affinity` is how well its date fits those of the other hits, where SATF took part. A memory that is here
    only because it stands next to another one names that in `beside`.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    fused: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    affinity: float | None = None
    beside: str | None = None

    def __str__(self) -> str:
        parts = [f"{name} #{rank} ({self.scores[name]:.2f})" for name, rank in self.ranks.items()]
        return ", ".join(parts) or "no channel"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory given back: its words, when it was said, where it comes from, and why it is here.

    `occurred` is the time that it is about. A turn that speaks of several times has the interval that covers them all.
    """

    id: str
    kind: str
    text: str
    said_at: datetime
    zone: str
    turns: tuple[str, ...]
    session: str
    speaker: str
    score: float
    why: Why
    tokens: int
    occurred: Interval | None = None
    metadata: Metadata = field(default_factory=dict)
    level: int = 0
    """Of a node of the tree; 0 for all else."""
    shown: str = ""
    """The text with the dates of what it says, as a prompt has it; empty where that is the text itself. The tokens are
    those of what is shown."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that was found and not returned. One that no channel found, or that a filter excludes, is not listed."""

    id: str
    reason: str
    """Such as `no room in max_tokens`, `beyond top_k`, `it does not hold at the time asked about`."""
    score: float
    """Relative to the best memory, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Accessed:
    """A memory with how often recall gave it back, and when last."""

    id: str
    kind: str
    text: str
    speaker: str
    said_at: datetime
    zone: str
    count: int
    last_at: datetime


class UnitRow(NamedTuple):
    """A retrievable memory as stored. A raw one is a single turn; `text` is what was said, without context.

    A tuple, as recall reads hundreds for each question and a frozen dataclass takes four times as long to make.
    """

    seq: int
    id: str
    kind: str
    network: str
    text: str
    said_at: datetime
    zone: str
    session: str
    speaker: str
    tokens: int
    turns: tuple[str, ...]
    metadata: Mapping[str, Any]
    occurred: Interval | None = None
    confidence: float | None = None
    level: int = 0
    """Of a node of the tree; 0 for all else."""
