"""The vocabulary: frozen dataclasses, with no behaviour beyond their own invariants."""

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

EventStatus: TypeAlias = Literal["happened", "ongoing", "planned", "hypothetical", "negated"]
Origin: TypeAlias = Literal["observation", "user", "inference"]
ORIGINS: tuple[Origin, ...] = ("observation", "user", "inference")
Status: TypeAlias = Literal["believed", "disputed", "overruled", "superseded", "corrected", "retracted"]
Signal: TypeAlias = Literal["age", "contradiction", "context_mismatch", "user_correction", "external_change"]

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


@dataclass(frozen=True, slots=True)
class EventHit:
    """One event that `grep` found: the line that was searched, and where in it the pattern stands."""

    event: Event
    text: str
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
    network: str = "world"
    superseded_at: datetime | None = None
    """When something was said that made another version of it: moved, called off or put right."""
    replaces: str | None = None
    """The version before it, by its id."""

    @property
    def told_in(self) -> str:
        """The turn that tells it: the first, and of a later version the last."""
        return (self.turns[-1] if self.replaces else self.turns[0]) if self.turns else ""

    def known(self, then: datetime | None = None) -> bool:
        """Whether it is the version that counts; or counted then."""
        if then is None:
            return self.superseded_at is None
        told = self.said_at is None or self.said_at <= then
        return told and (self.superseded_at is None or self.superseded_at > then)


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
    recalls: int = 0
    """Recalls that were counted (setting `count_access`)."""
    nodes: int = 0


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


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` noticed, in one sentence, and whether it was mended.

    `original` says that what was said is damaged itself: nothing else holds it, so nothing rebuilds it.
    """

    check: str
    problem: str
    fixed: bool = False
    original: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What forgetting took, or with `dry_run` would take: ids and counts, none of the words.

    `rebuilt` are the turns that stay and are read again without what was forgotten. `erased` says that no byte of it is
    left under the home folder; where it is False, `notes` say what stands in the way and what finishes it.
    """

    at: datetime
    dry_run: bool
    turns: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Those that have no turn left."""
    events: tuple[str, ...] = ()
    narratives: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    vectors: int = 0
    links: int = 0
    cached: int = 0
    """Embedded texts that the cache was told to drop."""
    rebuilt: tuple[str, ...] = ()
    erased: bool = False
    notes: tuple[str, ...] = ()


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
class Evidence:
    """What says when: the sentence as it was said, and the interval that its words mean.

    `inferred` says that no words date it: it was told on that day. `turn` is None for a fact that nobody said.
    """

    turn: str | None
    quote: str
    speaker: str
    said_at: datetime
    interval: Interval
    expression: str = ""
    inferred: bool = False
    event: str | None = None
    fact: str | None = None


@dataclass(frozen=True, slots=True)
class TimeAnswer:
    """When something was, is or will be. `confidence` is the chance that the interval is the right one."""

    interval: Interval
    confidence: float
    evidence: tuple[Evidence, ...]
    zone: str = "UTC"
    pending: int = 0
    """Turns that were not read yet when this was answered."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart two things are, in days of the calendar; a range where the intervals leave it open."""

    least: int
    most: int
    text: str

    @property
    def exact(self) -> bool:
        return self.least == self.most


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison: what was asked, and when it was, where the memory knows."""

    query: str
    answer: TimeAnswer | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which of two things came first, and how far apart they are.

    With `order` "before", `first` is the earlier one. With "overlap" the intervals do not tell, and with "unknown"
    one of them is not known: both then stand in the order in which they were asked.
    """

    first: Compared
    second: Compared
    order: Literal["before", "overlap", "unknown"]
    gap: Gap | None
    evidence: tuple[Evidence, ...]
    pending: int = 0
    """Turns that were not read yet when this was answered."""


EntryKind: TypeAlias = Literal["event", "fact began", "fact ended", "session"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a timeline. `group` is the day, week, month or year that it stands under, where one was asked for.

    `status` is that of an event (happened, ongoing, planned, …), and empty for all else.
    """

    interval: Interval
    text: str
    kind: EntryKind
    turns: tuple[str, ...]
    confidence: float
    status: str = ""
    inferred: bool = False
    group: Interval | None = None
    ids: tuple[str, ...] = ()
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a node or the profile says, and what bears it out.

    `first` and `last` are when it was said, `support` how often, `turns` where. A statement that is a fact of the
    facts store names it; `ended` is when that ceased to hold, None while it does.
    """

    text: str
    speaker: str
    first: datetime
    last: datetime
    support: int = 1
    turns: tuple[str, ...] = ()
    fact: str | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the memory tree. `children` are ids: of nodes one level below, of turns at level 1.

    `interval` is the hull of its window and its children; `turns` are those that its text rests on.
    """

    id: str
    level: int
    interval: Interval
    text: str
    children: tuple[str, ...]
    name: str = ""
    """What the level is called: exchange, session, day, …"""
    parent: str | None = None
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What `consolidate` did: nodes that are new, and nodes that took the place of older ones.

    `dropped` had nothing left under them; `failed` were to be written by a model and are extractive instead; `waiting`
    are still to be built when their window closes.
    """

    built: int = 0
    rebuilt: int = 0
    dropped: int = 0
    failed: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking took: requests sent and answered, tokens, dollars (None: the price is not known), seconds."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        priced = [part.cost for part in (self, other) if part.requests]
        known = [cost for cost in priced if cost is not None]
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known) if known and len(known) == len(priced) else None,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A turn that bears an answer out, and the words of it that do: `quote` stands in the stored turn."""

    turn: str
    quote: str
    said_at: datetime
    speaker: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` gives back. `abstained` says that the memory does not tell; `text` then says what was looked for.

    `intervals` are the times that the answer rests on. `confidence` is the chance that it is right: calibrated for an
    extractive answer, and what the model says of itself, which is not, for a model's. `trace` names the `method`
    (`extractive`, or the model) and tells what was done.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    intervals: tuple[Interval, ...] = ()
    abstained: bool = False
    confidence: float = 0.0
    usage: Usage = field(default_factory=Usage)
    trace: Mapping[str, Any] = field(default_factory=dict)
    pending: int = 0
    """Turns that were not read yet when this was answered."""

    @property
    def method(self) -> str:
        """What answered: `extractive`, or the name of a model."""
        return str(self.trace.get("method", "extractive"))
