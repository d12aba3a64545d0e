"""The Store protocol: the one narrow seam between the engine and a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.as_of import NOW, AsOf
from everwhen.store.facts import FactStore
from everwhen.store.graph import GraphStore
from everwhen.store.jobs import Jobs
from everwhen.store.maintenance import MaintenanceStore
from everwhen.store.search import Search, SearchQuery
from everwhen.store.tree import TreeStore
from everwhen.store.vector_model import VectorModel
from everwhen.types import Finding, Role, Session, Stats, Turn, UnitRow
from everwhen_time import Interval

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BankInfo:
    """What a bank says of itself: with which embedder it was made, and in which zone its texts are."""

    name: str
    embedder: str
    dimension: int
    zone: str
    schema: int

    @property
    def model(self) -> VectorModel:
        return VectorModel(self.embedder, self.dimension)


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


class Store(Protocol):
    """One bank's database, spoken to in the words of the domain.

    Above: ingest, recall, facts, tree. Below: one database and the search index derived from it. What a
    write call returned is durable; every derived thing can be rebuilt from the rows. Whoever writes vectors says with
    which model they were made: where the bank has another by then, nothing is written (`ModelChanged`).
    """

    @property
    def info(self) -> BankInfo: ...

    @property
    def graph(self) -> GraphStore: ...

    @property
    def facts(self) -> FactStore: ...

    @property
    def tree(self) -> TreeStore: ...

    @property
    def keep(self) -> MaintenanceStore: ...

    @property
    def jobs(self) -> Jobs: ...

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        """Write turns, their units, vectors and terms in one transaction; False where the id was there, or the turn
        was forgotten."""
        ...

    def add_missing_units(self, turns: Sequence[NewTurn]) -> None:
        """Make turns findable that are stored and have no unit; others are passed over."""
        ...

    def known(self, ids: Sequence[str]) -> dict[str, str]:
        """Those of the turn ids that are stored already, with their words."""
        ...

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        """For turn ids, what of the turn before is searched with each."""
        ...

    def turns(
        self,
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        between: Interval | None = None,
    ) -> Iterator[Turn]:
        """Turns in the order of time, then of arrival."""
        ...

    def last_turn(self, session: str, before: datetime) -> Turn | None:
        """The turn of the session that was said last, at or before an instant."""
        ...

    def turns_around(self, turn: Turn, reach: int) -> list[Turn]:
        """A turn with so many of its session before and after it, in the order of time, then of arrival."""
        ...

    def segment_speakers(self, segment: str, limit: int) -> list[str]:
        """Who spoke in an exchange, turn by turn, in its first turns."""
        ...

    def sessions(self, then: AsOf = NOW) -> list[Session]:
        """Conversations by when they began, as far as their turns had been said and recorded."""
        ...

    def search(self, query: SearchQuery) -> Search:
        """One question against the bank as it is now: see `Search`."""
        ...

    def voices(self, *, latest: bool = True) -> Voices:
        """Who has spoken, and who is spoken of; where not the `latest` is wanted, what was last known of it."""
        ...

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        """Those of some units that are there, ascending."""
        ...

    def turns_without_codes(self, format: bytes) -> list[str]:
        """The ids of the turns without codes that begin with these bytes."""
        ...

    def put_codes(self, codes: Mapping[str, bytes], made_with: VectorModel) -> None:
        """Give turns, by their ids, their codes; one that is gone meanwhile is passed over."""
        ...

    def replace_vectors(
        self,
        embedder: str,
        dimension: int,
        vectors: Mapping[str, Vectors],
        codes: Mapping[str, bytes] | None = None,
    ) -> list[str]:
        """Give every unit, by its id (a turn's is the turn's own), new vectors, and codes to those that have
        any, all at once.

        Or none, when some units have no new ones yet: their ids are returned.
        """
        ...

    def count_accesses(self, recalls: int, counts: Mapping[str, Access]) -> None:
        """Add a number of recalls, and what they gave back, by unit id; a unit that is gone is passed over.

        Hardly waits for another process: `Unavailable` when one goes on writing.
        """
        ...

    def accesses(self, limit: int) -> dict[int, Access]:
        """The units that were given back most often, those first."""
        ...

    def set_zone(self, zone: str) -> None: ...

    def stats(self) -> Stats: ...

    def check(self, *, fix: bool = False) -> list[Finding]:
        """Compare rows, vectors, full text and index with one another; `fix` rebuilds what is derived."""
        ...

    def refresh(self) -> None:
        """Read again what the bank says of itself: another one took its place, or it has another model."""
        ...

    def close(self) -> None: ...
