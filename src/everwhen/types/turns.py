"""What was said: messages, turns and sessions; and the words that callers use for times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypeVar

from everwhen.when import Interval

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
