"""What happened, and who and what has a name."""

from __future__ import annotations

from dataclasses import dataclass
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
