"""The maintenance part of a store: forgetting, retention, snapshots and loading, and what must not be added again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable
from everwhen.store.facts import FactLedger
from everwhen.store.tree import NodePlace
from everwhen.store.vector_model import VectorModel
from everwhen.types import Turn
from everwhen_time import Grain

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
    """By kind, those derived from the turns that are gone."""
    entities: tuple[str, ...]
    texts: tuple[str, ...]
    """What had been embedded of units that are gone."""
    vectors: int
    links: int
    unlinked: Mapping[int, int]
    """Units whose lists of neighbours have lost somebody, with how many of the list of neighbours in meaning."""


class RemovedNodes(NamedTuple):
    """Tree nodes that were removed, with their texts and the end of the last of their windows."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    until: datetime | None = None


class Eraser(Protocol):
    """Removals inside one transaction: all or nothing."""

    @property
    def facts(self) -> FactLedger: ...

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        """As `MaintenanceStore.followers`, at this moment."""
        ...

    def remember(self, turns: Sequence[str], at: datetime) -> None:
        """Write a tombstone for each turn, so that it cannot be added again."""
        ...

    def uncite(self, turns: Sequence[str]) -> dict[str, list[str]]:
        """Take turns from the sources of facts; the facts that had them, each with the sources that are left."""
        ...

    def is_only_learned(self, fact: str) -> bool:
        """Whether no person ever spoke of a fact."""
        ...

    def fact_words(self, fact: str) -> str:
        """The subjects and objects of all versions of a fact."""
        ...

    def facts_about(self, names: Sequence[str]) -> list[str]:
        """The facts with one of some folded names for a subject or object."""
        ...

    def erase_facts(self, facts: Sequence[str]) -> tuple[str, ...]:
        """Every version, conflict and quotation of some facts; the words of theirs that had been embedded."""
        ...

    def uproot(self, turns: Sequence[str], places: Sequence[NodePlace]) -> RemovedNodes:
        """Remove the nodes above some turns and mark them to be built again; `places` are those of the sessions."""
        ...

    def mark(self, places: Sequence[NodePlace]) -> None:
        """Mark sessions to be checked when the tree is next built: the facts learned from them may change."""
        ...

    def told_with(self, turns: Sequence[str]) -> list[str]:
        """The turns, and those that share an event with one of them, and so on."""
        ...

    def remove(
        self,
        turns: Sequence[str],
        again: Sequence[str],
        retold: Sequence[ReembeddedTurn],
        *,
        reports: Sequence[str] = (),
    ) -> RemovedUnits:
        """Remove turns with all that was made of them, and put others on the to-do list to be read again.

        `retold` are the followers' new contexts. `reports` are names whose reports of change go as well.
        """
        ...

    def echoes(self, words: Sequence[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Derived units that contain a word which no turn says: id, kind and turns."""
        ...

    def expire(self, turns: Sequence[str], retold: Sequence[ReembeddedTurn], at: datetime) -> RemovedUnits:
        """Delete the text of turns; what was derived from them stays, and still says where it came from."""
        ...

    def drop_old(self, kind: str, before: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove events, narratives or nodes (whole trees) from before an instant; their ids and words."""
        ...

    def drop_unspoken(self) -> tuple[str, ...]:
        """Remove entities and names that nothing mentions any more; the ids of the entities."""
        ...

    def old_facts(self, before: datetime) -> list[str]:
        """Facts that were not stated or confirmed since an instant."""
        ...

    def remove_everything(self) -> None:
        """Remove everything but the bank's settings and its tombstones."""
        ...

    def undo(self) -> None:
        """Roll back: this was a dry run."""
        ...


class Snapshot(Protocol):
    """A bank at one moment, as records of the domain (docs/reliability.md has their kinds)."""

    def counts(self) -> dict[str, int]:
        """How many records there are of each kind."""
        ...

    def values(self) -> dict[str, str]:
        """What the bank says of itself."""
        ...

    def records(self, *, vectors: bool = True) -> Iterator[Record]:
        """Every record, in an order in which what is named comes before whoever names it."""
        ...


class Loader(Protocol):
    """A bank that is being built from records, beside the bank that it will replace."""

    offset: int
    chain: str

    def put(self, records: Sequence[Record], offset: int, chain: str) -> None:
        """Write records, and how far this came, in one transaction."""
        ...

    def finish(self, counts: Mapping[str, int], name: str) -> None:
        """Make what follows from the records, and check that all are there."""
        ...

    def close(self) -> None: ...


class MaintenanceStore(Protocol):
    """Above: `upkeep/`, and ingest, which asks what must not be added again. Below: the same database as the
    turns."""

    def forgotten(self, turns: Iterable[Turn]) -> frozenset[str]:
        """Those of the turns that have been forgotten, by id."""
        ...

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        """The turns that are searched with the end of one of these, and are none of them."""
        ...

    def around(self, turn: Turn, before: int, after: int) -> list[str]:
        """The ids of so many turns of its session on each side of a turn."""
        ...

    def turns_about(self, entity: str) -> tuple[list[str], list[str]]:
        """The turns that name an identity or that it spoke, and the names that it goes by."""
        ...

    def forgetting(self) -> AbstractContextManager[Eraser]: ...

    def said_before(self, instant: datetime) -> list[str]:
        """The turns that were said before an instant, were read, and still have their words."""
        ...

    def rule(self, name: Rule) -> str:
        """A rule of the bank as a sentence; empty where none was set."""
        ...

    def set_rule(self, name: Rule, text: str) -> None: ...

    def pseudonym(self, text: str) -> str:
        """A short name for a text, made with the bank's secret: the same each time, and the text cannot be guessed from
        it."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...

    def loader(self, source: str) -> Loader:
        """Begin to load a bank, or go on with what was begun from the same source."""
        ...

    def take_over(self) -> None:
        """Replace this bank by the loaded one, in one transaction: others see the old or the new."""
        ...

    def unfound(self) -> list[str]:
        """The ids of turns that cannot be found by search, because they have no unit."""
        ...

    def badly_embedded(self, dimension: int) -> dict[str, str]:
        """Units that lack a vector, or have one of another dimension or length than one: id and kind."""
        ...

    def put_vectors(
        self, vectors: Mapping[str, NDArray[np.float32]], codes: Mapping[str, bytes], made_with: VectorModel
    ) -> None:
        """Give some units, by id, other vectors."""
        ...

    def unfinished(self) -> list[str]:
        """Turns under derived units that are not whole: they are to be read again."""
        ...

    def unit_texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The words of derived units."""
        ...

    def unit_dates(self, ids: Sequence[str]) -> dict[str, tuple[datetime, str, Grain]]:
        """What derived units are about in time, for their embedded text: an instant, its zone, and how exact it is.

        When an event occurred and a node begins, since when a fact holds; else when it was told, as a day.
        """
        ...

    def first_vectors(self, units: Sequence[int]) -> dict[int, NDArray[np.float32]]: ...

    def placed(self, units: Sequence[int]) -> dict[int, str]:
        """Those of some units that lie on a line of time, with its kind."""
        ...
