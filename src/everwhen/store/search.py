"""The Search protocol: one question against one bank, which every store implements.

Above: recall, which decides what to ask for and how to weigh the answers. Below: a store's index; that of SQLite is in
memory (`memory_search`). It fits a database at a distance too: a recall takes a few calls, each says all that it wants,
and the answers grow with the candidates, never with the bank. All answers of a search come from one snapshot of the
index. Filters are exact: the best among those that pass are found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.index import label_key
from everwhen.types import ROLES, LinkType, Role, UnitRow
from everwhen_time import Interval

Floats: TypeAlias = NDArray[np.float32]

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
        """Which turns they said, by the key of each turn's speaker (`terms.label_key`) and its role."""
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
