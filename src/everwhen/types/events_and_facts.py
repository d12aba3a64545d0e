"""What happened, who and what has a name, and what is true from when to when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from everwhen.types.event_title import event_title
from everwhen.when import Interval

EventStatus: TypeAlias = Literal["happened", "ongoing", "planned", "hypothetical", "negated"]


@dataclass(frozen=True, slots=True)
class EventHit:
    """One event that `grep` found: the line that was searched, and where in it the pattern stands."""

    event: Event
    text: str
    spans: tuple[tuple[int, int], ...]


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
    network: str = "world"
    superseded_at: datetime | None = None
    """When something was said that made another version of it: moved, called off or put right."""
    replaces: str | None = None
    """The version before it, by its id."""

    @property
    def title(self) -> str:
        """What happened, for a line that has its date beside it: without "yesterday"."""
        return event_title(self.text, self.expression)

    @property
    def told_in(self) -> str:
        """The turn that tells it: the first, and of a later version the last."""
        return (self.turns[-1] if self.replaces else self.turns[0]) if self.turns else ""


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


LinkType: TypeAlias = Literal["temporal", "semantic", "entity", "causal", "replaces"]
"""`replaces` leads from an event to the one that it is the next version of; nobody walks along it."""


class Linked(NamedTuple):
    """One edge of the graph."""

    source: int
    target: int
    type: LinkType
    weight: float


Origin: TypeAlias = Literal["observation", "user", "inference"]
ORIGINS: tuple[Origin, ...] = ("observation", "user", "inference")
Status: TypeAlias = Literal["believed", "disputed", "overruled", "superseded", "corrected", "retracted"]
Signal: TypeAlias = Literal["age", "contradiction", "context_mismatch", "user_correction", "external_change"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of what was believed: subject, predicate, object, and two times.

    `valid` is when it is true in the world; `recorded_at` to `superseded_at` is when the memory believed this
    version. `id` is the same in all versions of a fact. `confidence` is that of the assertion: what age leaves of
    it is `facts.confidence_at(fact, instant)`.
    """

    id: str
    version: int
    subject: str
    predicate: str
    object: str
    valid: Interval
    recorded_at: datetime
    superseded_at: datetime | None
    confidence: float
    origin: Origin
    status: Status
    domain: str | None = None
    support: int = 1
    confirmed_at: datetime | None = None
    sources: tuple[str, ...] = ()
    reason: str | None = None
    note: str | None = field(default=None, compare=False)
    """What of an assertion was not taken over, in one sentence: only in what `facts.assert_` gives back."""

    @property
    def valid_from(self) -> datetime:
        assert self.valid.start is not None  # a fact always has a beginning
        return self.valid.start

    @property
    def valid_to(self) -> datetime | None:
        """None while it holds."""
        return self.valid.end

    @property
    def text(self) -> str:
        """The fact as words."""
        return f"{self.subject} {self.predicate.replace('_', ' ')} {self.object}"


@dataclass(frozen=True, slots=True)
class StaleFact:
    """A fact that should not be relied on as it stands: what says so, and what to do about it."""

    fact: Fact
    confidence: float
    signal: Signal
    action: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts between which no rule decides. The first is still believed, the second waits."""

    id: str
    subject: str
    predicate: str
    sides: tuple[Fact, Fact]
    why: str
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class FactDiff:
    """What changed from one instant of valid time to another, as believed now."""

    t1: datetime
    t2: datetime
    began: tuple[Fact, ...]
    ended: tuple[Fact, ...]
    changed: tuple[tuple[Fact, Fact], ...]
    """Pairs of what a slot held at t1 and what it held at t2."""


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Days after which a fact of a domain is half as sure: the bank's own over the settings'."""

    by_domain: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 365.0

    def with_own(self, own: Mapping[str, float]) -> HalfLives:
        """With those of a bank over these; its own for all other domains is under an empty name."""
        return HalfLives({**self.by_domain, **own}, own.get("", self.otherwise))

    def of(self, domain: str | None) -> float:
        return self.by_domain.get(domain, self.otherwise) if domain is not None else self.otherwise
