"""The fact part of a store: rows with valid time and transaction time, and the operations on them in one
transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.store.as_of import AsOf
from everwhen.store.vector_model import VectorModel
from everwhen.types import Origin
from everwhen_time import Grain

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
    """Where the first turn that told it was said; None where no turn told it. Read with it, not written."""

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


class FactLedger(Protocol):
    """The facts of a bank inside one write transaction: nobody else writes between a read and a write."""

    def key(self, subject_key: str, predicate_key: str, subject: str, predicate: str) -> FactKey:
        """The key, made when it is new."""
        ...

    def find_key(self, subject_key: str, predicate_key: str) -> FactKey | None: ...

    def keys_of(self, predicate_keys: Sequence[str]) -> list[tuple[FactKey, str]]:
        """The keys under some predicates, each with the predicate's key."""
        ...

    def touch(self, key: int, at: datetime) -> datetime:
        """Note a transaction time and return the one that counts: that of a key never runs backwards."""
        ...

    def slot(self, key: int, name: str) -> int: ...

    def slots(self, key: int) -> list[int]: ...

    def last_started(self, slot: int, instant: datetime) -> FactRow | None:
        """The believed version that started last, at or before an instant."""
        ...

    def next_started(self, slot: int, instant: datetime) -> FactRow | None:
        """The believed version that starts first after an instant."""
        ...

    def started_between(self, slot: int, first: datetime, last: datetime) -> list[FactRow]:
        """The believed versions that start from `first` to `last`, both included."""
        ...

    def disputed(self, slot: int) -> list[FactRow]: ...

    def proposed(self, slot: int) -> list[FactRow]: ...

    def unsettled(self, key: int) -> list[FactRow]:
        """All believed, disputed or proposed versions of a key, in the order in which they were recorded."""
        ...

    def fact(self, fact_id: str) -> FactRow | None:
        """The newest version of a fact."""
        ...

    def insert(self, row: FactRow) -> FactRow: ...

    def supersede(self, row: FactRow, at: datetime, outcome: Outcome, reason: str | None = None) -> None:
        """End the belief in a version at a transaction time."""
        ...

    def reinforce(self, row: FactRow, at: datetime, confirmed_at: datetime, support: int) -> None:
        """Log that an equal fact was asserted (support 1) or confirmed (0)."""
        ...

    def cite(self, fact_id: str, sources: Iterable[str], at: datetime) -> None: ...

    def uncite(self, fact_id: str, sources: Iterable[str]) -> None:
        """Remove sources from a fact that has others."""
        ...

    def adopt(self, fact_id: str, other: str) -> None:
        """Give a fact the sources of another one, which turned out to be the same."""
        ...

    def add_unit(self, row: FactRow, text: str, vectors: NDArray[np.float32], made_with: VectorModel) -> None:
        """Make a fact searchable by its words and its meaning."""
        ...

    def open_conflict(self, conflict: ConflictRow, key: int) -> None: ...

    def conflict(self, conflict_id: str) -> ConflictRow | None: ...

    def open_conflicts(self, key: int) -> list[ConflictRow]: ...

    def settle(self, conflict_id: str, at: datetime, kept: str | None) -> None: ...

    def predicates(self) -> list[DeclaredPredicate]:
        """What the bank declares, as it is at this moment."""
        ...

    def declare(self, predicate: DeclaredPredicate) -> None: ...

    def report(self, report: Report) -> None: ...

    def erase(self, fact_ids: Sequence[str]) -> None:
        """Remove every version, confirmation and unit of some facts: what forgetting asks for."""
        ...


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


class FactStore(Protocol):
    """Facts as versions with valid time and transaction time. Above: `facts/`. Below: one database.

    An instant selects what is valid then; `known_at` selects what was believed at that transaction time, None what is
    believed now.
    """

    def write(self, change: Callable[[FactLedger], R], read: Sequence[str] = ()) -> R:
        """Run a change in one transaction that no other writer can interleave with; what it returns, once committed.

        It may be run again, from the beginning, where the database could not commit it: it has no effect but on the
        ledger. `read` are the turns that were read for it: raises `TurnForgotten` where one of them is gone.
        """
        ...

    def valid_at(
        self,
        instant: datetime,
        subjects: Set[str] | None,
        predicates: Set[str] | None,
        known_at: datetime | None,
    ) -> list[FactRow]:
        """What holds at an instant, of some or all subjects and predicates (their keys)."""
        ...

    def history(self, subject: str, predicate: str | None, *, versions: bool) -> list[FactRow]:
        """Of a key (or a subject): what is believed, in valid-time order, or every version as recorded."""
        ...

    def every_version(self) -> Iterator[FactRow]: ...

    def ids(self) -> list[str]:
        """Every fact once, whatever became of it."""
        ...

    def fading(self, instant: datetime) -> Iterator[FadingFact]:
        """Everything believed and in force at an instant, with only what is needed to compute the age of each."""
        ...

    def by_seq(self, seqs: Sequence[int]) -> list[FactRow]: ...

    def by_id(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> list[FactRow]:
        """The believed version of each fact that has one."""
        ...

    def newest(self, fact_id: str) -> FactRow | None: ...

    def shown(
        self, turns: Sequence[str], facts: Sequence[str], instant: datetime, known_at: datetime | None = None
    ) -> ShownFacts:
        """The facts that came from some turns, and some by their ids, with all that a recall shows of them: as it was
        known then, and what holds at an instant."""
        ...

    def naming(self, words: str) -> list[FactRow]:
        """Believed facts that contain some words."""
        ...

    def beside_corrected(self) -> list[tuple[FactRow, datetime, bool]]:
        """Facts that a user's correction casts doubt on, when it was made, and whether the value itself was
        the one corrected (else it shares a source with it)."""
        ...

    def known_turns(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that are turns of this bank."""
        ...

    def sources(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> dict[str, list[str]]: ...

    def believed_then(self, fact_ids: Sequence[str], then: AsOf) -> list[FactRow]:
        """The version of each fact that was believed by what had been stated by `as_of` and was held at `known_at`.

        What was learned from turns was held from when they were recorded on; what a person said, from its transaction
        time on.
        """
        ...

    def sources_then(self, fact_ids: Sequence[str], then: AsOf) -> dict[str, list[str]]:
        """The sources that had been said and recorded by then."""
        ...

    def from_sources(self, sources: Sequence[str]) -> list[str]:
        """Ids of the facts that came from some turns or other sources."""
        ...

    def conflicts(self) -> list[ConflictRow]:
        """Those that nobody has resolved yet."""
        ...

    def proposals(self) -> list[FactRow]:
        """What waits for a person's yes or no."""
        ...

    def reports(self, until: datetime) -> list[Report]: ...

    def predicates(self) -> list[DeclaredPredicate]: ...

    def half_lives(self) -> dict[str, float]:
        """Days by domain, where the bank has its own."""
        ...

    def set_half_life(self, domain: str, days: float) -> None: ...

    def texts(self) -> Iterator[tuple[str, str]]:
        """Id and searchable text of every fact that is searchable."""
        ...
