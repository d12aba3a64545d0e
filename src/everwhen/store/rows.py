"""What goes into a store and what comes out of it: rows of turns, facts, the graph, the tree and its work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable
from everwhen.store.base import VectorModel
from everwhen.types import Origin, Role, Statement, Turn
from everwhen.types.times import to_text
from everwhen_time import Grain, Interval

FOREVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a reader may see: what had been said by `as_of` and was recorded by `known_at`, both included.

    None leaves a side open. With both open it is the present.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        return self.as_of is None and self.known_at is None

    @property
    def said(self) -> Interval | None:
        """When what may be seen was said."""
        return (
            None if self.as_of is None else Interval(None, self.as_of + timedelta(microseconds=1), "second")
        )

    @property
    def texts(self) -> dict[str, str]:
        """Both times as a database compares them; an open side lies after everything."""
        return {"as_of": to_text(self.as_of or FOREVER), "known_at": to_text(self.known_at or FOREVER)}

    def sees(self, turn: Turn) -> bool:
        """Whether a turn had been said and recorded."""
        return (self.as_of is None or turn.said_at <= self.as_of) and (
            self.known_at is None or turn.recorded_at <= self.known_at
        )


NOW = AsOf()


R = TypeVar("R")
Standing: TypeAlias = Literal["believed", "disputed", "overruled"]
Act: TypeAlias = Literal["learn", "propose", "assert", "correct", "resolve"]
"""Whose word it is: `learn` is an extractor's, which reading the turns again may take back; so is `propose`, which is
overruled until a person confirms it. The others are people's."""
Outcome: TypeAlias = Literal["revised", "corrected", "outweighed", "retracted", "recast"]


@dataclass(frozen=True, slots=True)
class FactKey:
    """A (subject, predicate) pair as it was first spelled. `last_at` is its newest transaction time."""

    seq: int
    subject: str
    predicate: str
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class FactRow:
    """One version of a fact. All versions of a fact have the same `id`.

    `claimed_to` is the end that was claimed; `valid_to` is that end, cut at the start of the next fact in the slot.
    `stated_at` is when the fact itself was last stated: a version that a neighbour cut short keeps it.
    """

    id: str
    version: int
    slot: int
    object: str
    object_key: str
    domain: str | None
    grain: Grain
    valid_from: datetime
    claimed_to: datetime | None
    valid_to: datetime | None
    stated_at: datetime
    recorded_at: datetime
    confidence: float
    origin: Origin
    act: Act
    standing: Standing = "believed"
    superseded_at: datetime | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    support: int = 1
    confirmed_at: datetime | None = None
    tokens: int = 0
    seq: int = 0
    key: int = 0
    subject: str = ""
    predicate: str = ""
    zone: str | None = field(default=None, compare=False)
    """The zone of the first turn that said it; None where no turn did. Read with it, not written."""

    @property
    def is_proposed(self) -> bool:
        return self.act == "propose" and self.superseded_at is None

    def covers(self, instant: datetime) -> bool:
        """Whether the instant lies in `[valid_from, valid_to)`."""
        return self.valid_from <= instant and (self.valid_to is None or instant < self.valid_to)


class FadingFact(NamedTuple):
    """What a scan for stale facts needs of a fact: from when its age counts, its confidence, domain and predicate."""

    seq: int
    since: datetime
    confidence: float
    domain: str | None
    predicate: str


class ConflictRow(NamedTuple):
    id: str
    incumbent: str
    challenger: str
    why: str
    opened_at: datetime
    resolved_at: datetime | None
    kept: str | None


class Report(NamedTuple):
    kind: Literal["missing", "change"]
    ref: str
    at: datetime


class DeclaredPredicate(NamedTuple):
    """A predicate that the bank declares itself."""

    key: str
    name: str
    multi: bool
    domain: str | None
    synonyms: tuple[str, ...]


class ShownFacts(NamedTuple):
    """Facts as a recall shows them."""

    of_turns: Mapping[str, Sequence[str]]
    """Those that came from one of the turns: each with its turns, in the order of time."""
    believed: Mapping[str, FactRow]
    """The version of each that was believed; nothing for one that was not."""
    holding: Mapping[str, Sequence[FactRow]]
    """What holds at the instant in the slots of each: its successors, or it itself."""
    before: Mapping[int, FactRow]
    """What held in the same slot before a version, by its seq; nothing for one that was the first."""
    sources: Mapping[str, Sequence[str]]
    turns: frozenset[str]
    """Those of the sources that are turns of the bank."""
    half_lives: Mapping[str, float]
    """The bank's own."""


Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EventPart:
    """The fields that an event has beyond those of other units."""

    subject: str
    verb: str
    object: str
    status: str
    polarity: int
    quantity: str
    expression: str
    inferred: bool
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewUnit:
    """A derived unit ready to be written. `context` is searched with the text but never shown: its aliases."""

    id: str
    kind: str
    network: str
    text: str
    context: str
    occurred: Interval | None
    turns: tuple[str, ...]
    vectors: Vectors
    tokens: int
    confidence: float
    at: datetime
    event: EventPart | None = None


class EntityRow(NamedTuple):
    """An entity with all its names, as entity resolution reads it."""

    seq: int
    id: str
    name: str
    type: str
    names: frozenset[str]


class Heard(NamedTuple):
    """When the turn that gives a name was said and recorded."""

    said_at: datetime
    recorded_at: datetime


class Mention(NamedTuple):
    """A unit names somebody; `found_at` is when that was found, where not with the unit itself."""

    unit: int
    entity: int
    name: str
    type: str
    found_at: datetime | None = None


class Moment(NamedTuple):
    """The place of a unit on the timeline of its kind."""

    unit: int
    kind: str
    at: datetime


Facts: TypeAlias = Mapping[str, tuple[str, ...]]
"""Ids of facts, each with those of a node's turns that it was learned from."""
BuildOutcome: TypeAlias = Literal["built", "rebuilt", "same", "dropped", "late"]
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


@dataclass(frozen=True, slots=True)
class Work:
    """Turns of one session that nobody has extracted, claimed for the caller, and those before them."""

    session: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]


class Seen(NamedTuple):
    """How far the list of what is to be built goes: the last turn, and the last time that a fact was taken back."""

    turn: int
    taken_back: str


Record: TypeAlias = dict[str, Any]
"""One thing that a bank holds, under the name of its `kind`."""
Rule: TypeAlias = Literal["retention", "redaction"]
"""How long the bank keeps what, and what it masks before storing."""


class TurnForgotten(Unavailable):
    """Raised when a turn that was being extracted has been forgotten meanwhile: nothing derived from it may be
    written."""


class Follower(NamedTuple):
    """A turn whose search context is the end of a removed turn, and the turn that will come before it."""

    turn: Turn
    before: Turn | None


@dataclass(frozen=True, slots=True)
class ReembeddedTurn:
    """A follower with its new context and the vectors made with it."""

    turn: str
    before: str | None
    context: str
    vectors: NDArray[np.float32]
    made_with: VectorModel
    codes: bytes = b""


@dataclass(frozen=True, slots=True)
class RemovedUnits:
    """What a removal deleted, by id, with the texts that must leave the caches too."""

    units: Mapping[str, tuple[str, ...]]
    """By kind, those derived from the turns that were removed."""
    entities: tuple[str, ...]
    texts: tuple[str, ...]
    """What had been embedded of units that were removed."""
    vectors: int
    links: int
    unlinked: Mapping[int, int]
    """Units whose lists of neighbours have lost somebody, with how many of the list of neighbours in meaning."""


class RemovedNodes(NamedTuple):
    """Tree nodes that were removed, with their texts and the end of the last of their windows."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn ready to be written, with a vector for each piece of it. `turn.seq` is given by the store.

    `made_with` is the model of its vectors and codes. `codes` are its coded token vectors, bytes that the store keeps
    and does not read; empty for none. `context` is what of the turn before (`before`, its id) takes part in the search
    for this one.
    """

    turn: Turn
    vectors: Vectors
    made_with: VectorModel
    context: str = ""
    before: str | None = None
    network: str = "world"
    codes: bytes = b""


class Access(NamedTuple):
    """How often a memory was given back, and when last."""

    times: int
    last_at: datetime


class Voices(NamedTuple):
    """Everybody who has spoken, the roles in which anybody has, and every name that an entity goes by."""

    speakers: frozenset[str]
    roles: frozenset[Role]
    names: frozenset[str]
