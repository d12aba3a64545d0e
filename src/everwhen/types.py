"""The vocabulary: frozen dataclasses, with no behaviour beyond their own invariants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from everwhen.when import Interval

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

EventStatus: TypeAlias = Literal["happened", "ongoing", "planned", "hypothetical", "negated"]

Metadata: TypeAlias = Mapping[str, Any]
"""Free, JSON-shaped facts about a turn; `recall(metadata={…})` filters by them."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a caller gives it, checked and normalised; not yet remembered."""

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
    """What `add` made durable: the turns in order (those that were there already included)."""

    turns: tuple[str, ...]
    session: str
    new: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that `grep` found, with where in the text the pattern stands."""

    turn: Turn
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one recalled memory: its rank and score in each channel, and what fusion made of them."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    fused: float = 0.0

    def __str__(self) -> str:
        parts = [f"{name} #{rank} ({self.scores[name]:.2f})" for name, rank in self.ranks.items()]
        return ", ".join(parts) or "no channel"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory given back: its words, when it was said, where it comes from, and why it is here."""

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


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that was found and not returned, and the reason."""

    id: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the event calendar: who did what, when, and whether it happened.

    `occurred` is what the time expression means, or the turn's day where there is none (`inferred`).
    """

    id: str
    subject: str
    verb: str
    object: str
    occurred: Interval | None
    status: EventStatus
    aliases: tuple[str, ...]
    confidence: float
    turns: tuple[str, ...]
    text: str = ""
    expression: str = ""
    inferred: bool = False
    polarity: int = 1
    quantity: str = ""
    said_at: datetime | None = None
    zone: str = "UTC"
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """A resolved identity: the names it goes by, and when it was first and last spoken of."""

    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    mentions: int


@dataclass(frozen=True, slots=True)
class Stats:
    """How much a bank holds."""

    bank: str
    turns: int
    sessions: int
    segments: int
    passages: int
    first: datetime | None
    last: datetime | None
    embedder: str
    dimension: int
    bytes: int
    schema: int
    events: int = 0
    narratives: int = 0
    entities: int = 0
    links: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` noticed, in one sentence, and whether it was mended."""

    check: str
    problem: str
    fixed: bool = False
