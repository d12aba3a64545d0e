"""The keeping part of a store: forgetting that reaches everything, and what must not come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable
from everwhen.store.facts import FactLedger
from everwhen.store.model import Model
from everwhen.store.tree import Place
from everwhen.types import Turn
from everwhen.when import Grain


class Forgotten(Unavailable):
    """A turn that was being read has been forgotten meanwhile: what was read of it must not be written."""


class Follower(NamedTuple):
    """A turn that is searched with the end of one that goes, and the turn that will stand before it."""

    turn: Turn
    before: Turn | None


@dataclass(frozen=True, slots=True)
class Retold:
    """A follower with its new context, and the vectors that go with it."""

    turn: str
    before: str | None
    context: str
    vectors: NDArray[np.float32]
    made_with: Model
    codes: bytes = b""


@dataclass(frozen=True, slots=True)
class Gone:
    """What a removal took, by id, with the words that must leave the caches too."""

    units: Mapping[str, tuple[str, ...]]
    """By kind, those derived from the turns that are gone."""
    entities: tuple[str, ...]
    texts: tuple[str, ...]
    """What had been embedded of units that are gone."""
    vectors: int
    links: int
    unlinked: tuple[int, ...]
    """Units whose lists of neighbours have lost somebody."""


class Uprooted(NamedTuple):
    """Nodes that were taken out, with their words and the end of the last of their windows."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    until: datetime | None = None


class Eraser(Protocol):
    """Removals inside one transaction; all of it happens, or nothing."""

    @property
    def facts(self) -> FactLedger: ...

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        """As `KeepStore.followers`, at this moment."""
        ...

    def remember(self, turns: Sequence[str], at: datetime) -> None:
        """Put up a tombstone for each turn, so that it does not come back."""
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

    def uproot(self, turns: Sequence[str], places: Sequence[Place]) -> Uprooted:
        """Remove the nodes above some turns and have them built again; `places` are those of the sessions."""
        ...

    def mark(self, places: Sequence[Place]) -> None:
        """Have sessions looked at again when the tree is next built: what was learned from them may change."""
        ...

    def told_with(self, turns: Sequence[str]) -> list[str]:
        """Turns with those that an event rests on together with one of them, and so on."""
        ...

    def remove(
        self,
        turns: Sequence[str],
        again: Sequence[str],
        retold: Sequence[Retold],
        *,
        reports: Sequence[str] = (),
    ) -> Gone:
        """Remove turns with all that was made of them, and put others on the to-do list to be read again.

        `retold` are the followers' new contexts. `reports` are names whose reports of change go as well.
        """
        ...

    def echoes(self, words: Sequence[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        """What is derived and has a word in it that no turn says: its id, kind and turns."""
        ...

    def expire(self, turns: Sequence[str], retold: Sequence[Retold], at: datetime) -> Gone:
        """Take the words from turns; what was made of them stays, and still says where it came from."""
        ...

    def drop_old(self, kind: str, before: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove events, narratives or nodes (whole trees) from before an instant; their ids and words."""
        ...

    def drop_unspoken(self) -> tuple[str, ...]:
        """Remove identities and names that nothing mentions any more; the ids of the identities."""
        ...

    def old_facts(self, before: datetime) -> list[str]:
        """Facts that nothing has been heard of since an instant."""
        ...

    def remove_everything(self) -> None:
        """Leave nothing but the bank's settings and its tombstones."""
        ...

    def undo(self) -> None:
        """Nothing of this is to happen: it was a look at what would."""
        ...


class Snapshot(Protocol):
    """A bank as it is at one moment, as rows of tables."""

    @property
    def schema(self) -> int: ...

    def tables(self) -> dict[str, int]:
        """The tables that make up a bank, with the number of their rows."""
        ...

    def sequences(self) -> dict[str, int]:
        """The last number given in each table that never gives one twice."""
        ...

    def values(self) -> dict[str, str]:
        """What the bank says of itself."""
        ...

    def rows(self, table: str) -> Iterator[dict[str, Any]]: ...


class Loader(Protocol):
    """A bank that is being made from rows, beside the one whose place it will take."""

    offset: int
    chain: str

    def put(self, rows: Sequence[tuple[str, Mapping[str, Any]]], offset: int, chain: str) -> None:
        """Write rows, and how far this came, in one transaction."""
        ...

    def finish(self, counts: Mapping[str, int], sequences: Mapping[str, int], name: str) -> None:
        """Make what follows from the rows, and check that all is there."""
        ...

    def close(self) -> None: ...


class KeepStore(Protocol):
    """Above: `keep/`, and ingest, which asks what must not come back. Below: the same database as the turns."""

    def forgotten(self, turns: Iterable[Turn]) -> frozenset[str]:
        """The ids of those turns that were forgotten, as they are."""
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

    @property
    def retention(self) -> str:
        """The bank's rule of how long what is kept; empty for ever."""
        ...

    def set_retention(self, rule: str) -> None: ...

    @property
    def redaction(self) -> str:
        """What the bank masks before storing, as it was set; empty where it was not."""
        ...

    def set_redaction(self, rule: str) -> None: ...

    def pseudonym(self, text: str) -> str:
        """A short name for a text under the bank's own secret: the same each time, and not to be guessed from."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...

    def loader(self, schema: int, source: str) -> Loader:
        """Begin to load a bank of a schema, or go on with what was begun from the same source."""
        ...

    def take_over(self) -> None:
        """Put what was loaded into this bank's place, in one transaction: others see the old or the new."""
        ...

    def unfound(self) -> list[str]:
        """The ids of the turns that nothing finds, because they have no unit."""
        ...

    def badly_embedded(self, dimension: int) -> dict[str, str]:
        """Units that lack a vector, or have one of another dimension or length than one: id and kind."""
        ...

    def put_vectors(
        self, vectors: Mapping[str, NDArray[np.float32]], codes: Mapping[str, bytes], made_with: Model
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
