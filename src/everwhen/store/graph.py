"""The graph part of a store: what was derived from turns, and how it hangs together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.as_of import NOW, AsOf
from everwhen.store.jobs import ExtractionResult
from everwhen.store.vector_model import VectorModel
from everwhen.types import Entity, Event, Finding, Linked, LinkType, Usage
from everwhen_time import Interval

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


class GraphWriter(ExtractionResult, Protocol):
    """The writes of one batch, inside one transaction. What takes several things asks the database once for all."""

    def add_units(self, units: Sequence[NewUnit], extractor: str, version: str) -> dict[str, int]:
        """Write units that are not there yet; each id with its seq, new or known."""
        ...

    def unit_of_turns(self, turns: Sequence[str]) -> dict[str, int]:
        """The raw unit of each turn; raises `Forgotten` where one is gone."""
        ...

    def drop_superseded(self, kind: str, turns: Sequence[str], but: Sequence[str]) -> None:
        """Remove units of a kind all of whose turns are among the given ones, save those with the ids."""
        ...

    def entities(self) -> list[EntityRow]: ...

    def names_version(self) -> str:
        """The same for as long as `entities` would give the same, whoever writes."""
        ...

    def last_seen(self, entities: Iterable[int]) -> dict[int, datetime]:
        """When each of some entities was mentioned last; those that never were are left out."""
        ...

    def neighbours_of(self, entity: int) -> frozenset[int]:
        """The entities that are mentioned together with one."""
        ...

    def add_entity(self, name: str, type_: str, heard: Heard | None = None) -> int: ...

    def rename_entity(self, entity: int, name: str, heard: Heard | None = None) -> None:
        """List an entity under a fuller name; it goes on to answer to the other ones."""
        ...

    def mention(self, mentions: Sequence[Mention]) -> None:
        """Units name somebody. What is asked of this writer afterwards knows it."""
        ...

    def place(self, moments: Sequence[Moment]) -> None:
        """Place units on the timelines of their kinds."""
        ...

    def timeline(self, units: Iterable[int], count: int) -> list[Moment]:
        """Units with those next to them on the timeline of their kind, so many on each side of each.

        In the order of kinds, times and numbers; a unit that is on no timeline is left out.
        """
        ...

    def present(self, units: Iterable[int]) -> frozenset[int]:
        """Those that still exist: another process may have forgotten some since they were found."""
        ...

    def relink(self, type_: LinkType, lists: Mapping[int, Sequence[tuple[int, float]]]) -> None:
        """Replace the lists of neighbours of one type that some units have."""
        ...

    def links_of(self, units: Iterable[int], type_: LinkType) -> dict[int, list[tuple[int, float]]]:
        """The neighbours of one type of each unit, best first; units without any are left out."""
        ...

    def replaces(self, unit: int, event: str) -> None:
        """An event is the next version of another one, which is given by its id and stays as it is."""
        ...

    def used(self, model: str, usage: Usage) -> None: ...


class GraphStore(Protocol):
    """Above: ingest (writes), recall and `Memory` (reads). Below: the same database as the turns."""

    def note_usage(self, purpose: str, model: str, usage: Usage) -> None:
        """Record what a model call cost; durable when it returns."""
        ...

    def usage(self) -> Usage:
        """What models took in this bank so far, for whatever purpose."""
        ...

    def writing(self, made_with: VectorModel) -> AbstractContextManager[GraphWriter]:
        """One transaction for all that a batch brings; its vectors, and what was compared, are of the model."""
        ...

    def similar(self, vectors: Vectors, kind: str, floor: float, limit: int) -> list[list[tuple[int, float]]]:
        """For each vector, the units of a kind with a cosine above the floor, best first."""
        ...

    def vectors(self, turns: Sequence[str]) -> Vectors:
        """The first vector of each turn, in the order given."""
        ...

    def events(
        self,
        *,
        between: Interval | None = None,
        subject: str | None = None,
        verb: str | None = None,
        status: str | None = None,
        units: Sequence[int] | None = None,
        then: AsOf | None = None,
    ) -> list[Event]:
        """The event calendar, in the order of what happened; with `then`, only the versions that counted then."""
        ...

    def events_told(self, turns: Sequence[str], units: Sequence[int] = (), then: AsOf = NOW) -> list[Event]:
        """The events that came from some turns, and some by their units, in the order in which they were told.

        With `then`, those that had been told, superseded only where that had been told as well.
        """
        ...

    def entities(self, then: AsOf = NOW) -> list[Entity]:
        """Everyone who has a name, as it was known then: with the names, merges and splits of then."""
        ...

    def names(self) -> frozenset[str]:
        """Every name of every entity; held until somebody gets or loses one."""
        ...

    def units_of_entity(self, entity: str, limit: int) -> list[int]:
        """The units that mention an entity, newest first."""
        ...

    def seen_with(self, entity: str) -> list[tuple[str, int]]:
        """The names of those who are mentioned with an entity, and in how many units, most first."""
        ...

    def links(self, unit: int, types: Sequence[LinkType] | None = None, fan_out: int = 50) -> list[Linked]:
        """A unit's neighbours, best first; entity links are expanded here, the nearest in time first."""
        ...

    def neighbours(
        self,
        units: Sequence[int],
        types: Sequence[LinkType] | None = None,
        floor: float = 0.0,
        fan_out: int = 50,
    ) -> list[Linked]:
        """The links that leave some units, of at least a weight, in one reading.

        Entity links are expanded here; an entity that more than `fan_out` units mention has none, so that what is
        read stays bounded.
        """
        ...

    def provenance(self, units: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of a derived unit and the raw unit of a turn that it came from, where one of them is asked for."""
        ...

    def merge(self, kept: str, gone: str, at: datetime) -> None: ...

    def split(self, entity: str, names: Sequence[str], type_: str | None, at: datetime) -> str:
        """Give some of an entity's names an identity of their own; its id."""
        ...

    def rename(self, entity: str, name: str, at: datetime) -> None: ...

    def undo(self, at: datetime | None = None) -> dict[str, Any] | None:
        """Take back the last merge, split or rename that was not taken back yet; what it was."""
        ...

    def derived_texts(self) -> Iterator[tuple[str, str]]:
        """Id and text of every derived unit, for another embedder."""
        ...

    def check(self) -> list[Finding]: ...
