"""What goes into a store and what comes out of it: rows of turns, facts, the graph, the tree and its work; and a
question with its answers.

A question is put to a bank by the `Search` protocol, which every store implements. Used by: recall, which decides what
to ask for and how to weigh the answers. Uses: a store's index; that of SQLite is in memory (`memory_search`). It fits a
database at a distance too: a recall takes a few calls, each says all that it wants, and the answers grow with the
candidates, never with the bank. All answers of a search come from one snapshot of the index. Filters are exact: the
best among those that pass are found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable
from everwhen.store.base import VectorModel, label_key
from everwhen.types import ROLES, LinkType, Origin, Role, Statement, Turn, UnitRow
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


Floats: TypeAlias = NDArray[np.float32]

# Searching

ENDING = 160
"""Characters of the turn before that evidence shows."""
DERIVED = frozenset({"event", "narrative", "fact"})
"""Kinds that have a time of their own, beside that of the turn which they came from."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Hard constraints: what does not meet them is not found, however similar it is."""

    between: Interval | None = None
    known_at: datetime | None = None
    kinds: frozenset[str] | None = None
    networks: frozenset[str] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Scored(NamedTuple):
    """A unit found by a search, by the `seq` that the store knows it under."""

    unit: int
    score: float


@dataclass(frozen=True, slots=True)
class SaidBy:
    """A selection of speakers: by name, or by role."""

    speakers: frozenset[str] = frozenset()
    role: Role | None = None

    def among(self, speakers: NDArray[np.int64], roles: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Which turns they said, by the key of each turn's speaker (`label_key`) and its role."""
        if self.role is not None:
            return np.asarray(roles == ROLES.index(self.role))
        said = np.zeros(len(speakers), np.bool_)
        for name in self.speakers:  # one to three of them: faster than `np.isin`
            said |= speakers == label_key(name)
        return said


@dataclass(frozen=True, slots=True, eq=False)
class SearchQuery:
    """A question as a store sees it: its vector, its words, and what may be found."""

    vector: Floats | None = None
    """None where only words are searched."""
    words: str = ""
    where: Filter = field(default_factory=Filter)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The candidates that a recall starts from: `limit` by meaning, and as many by words."""

    limit: int
    floor: float = -1.0
    """The lowest cosine of what is found by meaning."""
    meaning: bool = True
    words: bool = True
    whose: Sequence[SaidBy | None] = (None,)
    """By whom: a list of each kind for each of these; None is anybody and anything."""
    windows: Sequence[Interval] = ()
    """The times that the question names."""
    timed: int = 0
    """How many are wanted of each window's turns, and of what was derived."""
    timed_floor: float = -1.0
    """Their lowest cosine."""


class Timed(NamedTuple):
    """A unit with its time: when a turn was said, when an event happened, from when to when a fact holds."""

    unit: int
    kind: str
    cosine: float
    when: Interval


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best units, best first; equal ones in the order of time."""

    meaning: Sequence[list[Scored]] = ()
    """By cosine, a list for each of `Wanted.whose`."""
    words: Sequence[list[Scored]] = ()
    """By BM25, in the same way; only what has one of the words."""
    timed: Sequence[Timed] = ()
    """The nearest turns said in each window; and the nearest events, narratives and facts that have a time, whatever it
    is. Their kind may be outside the filter."""


class Near(NamedTuple):
    """What a walk needs to know of a unit."""

    kind: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Links:
    """What leaves some units."""

    edges: Sequence[tuple[int, int, float]]
    """From, to, and how strong."""
    made_of: Sequence[tuple[int, int]]
    """A derived unit and a turn that it was made of, where one of them was asked for."""
    units: Mapping[int, Near]
    """Those units, and those they lead to, as far as they pass the filter but for its kinds."""


class Turns(NamedTuple):
    """Turns in columns. -1 is the unit of one that is not there; the rest of it is 0."""

    units: NDArray[np.int64]
    cosines: Floats
    counts: Floats
    """A column for each term of the question: how often it stands in the turn."""
    lengths: Floats
    asks: NDArray[np.bool_]
    """Whether the turn ends as a question."""


class Sums(NamedTuple):
    """The terms of the whole session of each unit: its counts and length."""

    counts: Floats
    lengths: Floats


@dataclass(frozen=True, slots=True)
class Terms:
    """What the bank says of the question's terms, an entry each, whatever the filter."""

    idf: Floats
    mean_length: float
    """Of a unit of the bank."""
    names: NDArray[np.bool_]
    """Which are names of `people`; none where that would be all of them."""
    said: NDArray[np.bool_]
    """Which stand anywhere in what passes the filter and `who` said."""
    telling: Floats
    """Of each of `tokens`: the idf of its rarest term, 0 for a stop word."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a store knows of some units, an entry each, by ascending unit. Those that were removed, or do not pass the
    filter, are left out."""

    rows: Sequence[UnitRow]
    at: NDArray[np.int64]
    """When it was said or, where nobody said it, when its turn was said: microseconds."""
    sessions: NDArray[np.int64]
    """A key; what nobody said has one of its own."""
    places: NDArray[np.int64]
    """The place in the session, among the turns that pass the filter."""
    speakers: NDArray[np.int64]
    roles: NDArray[np.int8]
    """-1 where nobody said it."""
    own: Turns
    before: Turns
    """The turn right before each in its session, of those that pass."""
    after: Turns
    terms: Terms
    said_before: Callable[[Sequence[int]], list[str]]
    """For some of them, by their places here, the end of the turn before, with its speaker; empty where none is."""
    session: Sums | None = None
    vectors: Floats | None = None
    """Of the first piece of each."""
    codes: NDArray[np.object_] | None = None
    """Coded token vectors, as bytes; empty where there are none."""

    def __len__(self) -> int:
        return len(self.rows)

    def said_by(self, who: SaidBy) -> NDArray[np.bool_]:
        """Which of them they said."""
        return who.among(self.speakers, self.roles)

    def only(self, stay: Collection[int]) -> Evidence:
        """Those of some units."""
        places = [place for place, row in enumerate(self.rows) if row.seq in stay]
        if len(places) == len(self.rows):
            return self
        taken: dict[str, Any] = {"rows": [self.rows[place] for place in places]}
        taken["said_before"] = lambda some: self.said_before([places[place] for place in some])
        for name in (one.name for one in fields(self) if one.name not in (*taken, "terms")):
            held = getattr(self, name)
            if isinstance(held, tuple):
                taken[name] = type(held)(*(column[places] for column in held))
            elif held is not None:
                taken[name] = held[places]
        return replace(self, **taken)


def ending(speaker: str, text: str) -> str:
    """The end of what somebody said, as evidence shows it."""
    return f"{speaker}: {text}"[-ENDING:]


class Search(Protocol):
    """A question's view of the bank, in four calls."""

    voices_changed: bool
    """Whether by its first call the bank had other voices than those last known."""

    @property
    def way(self) -> str:
        """How the nearest were found: "exact" where all vectors were compared, else the kind of index, which finds
        nearly all of them."""
        ...

    def candidates(self, wanted: Wanted) -> Candidates:
        """What a recall starts from."""
        ...

    def links(
        self,
        units: Sequence[int],
        types: Sequence[LinkType] | None = None,
        floor: float = 0.0,
        fan_out: int = 50,
    ) -> Links:
        """The links of some types (None: all) that leave some units, of at least a weight; and what was made of what.

        An entity that more than `fan_out` units mention links none, so that the answer stays small.
        """
        ...

    def evidence(
        self,
        units: Iterable[int],
        *,
        who: SaidBy | None = None,
        people: Iterable[str] = (),
        tokens: Sequence[str] = (),
        sessions: bool = False,
        vectors: bool = False,
        codes: bool = False,
    ) -> Evidence:
        """What is known of some units, and of the question's terms; with `sessions`, `vectors` and `codes` also these,
        which are large or costly."""
        ...

    def around(self, units: Sequence[int], reach: int) -> dict[int, list[UnitRow]]:
        """For each unit the turns of its session at most `reach` before and after it, in order, those that pass."""
        ...


def contains(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every wanted key is there with the wanted value."""
    return all(key in metadata and same(metadata[key], value) for key, value in wanted.items())


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `1` is `1.0` and is not `true`; the order of an object's keys says nothing."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
