"""What happened, and who and what has a name: the event calendar, entities, and the graph between memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, get_args

from everwhen.api.operations.arguments import (
    AsOfTime,
    Choice,
    Help,
    KnownAtTime,
    Label,
    Name,
    Names,
    Stretch,
    Text,
    Whole,
)
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import Between, Entity, Event, EventStatus, Linked, Listed, UnitRow

STATUSES: tuple[EventStatus, ...] = get_args(EventStatus)


@frozen
class Events(Operation[Listed[Event]]):
    """The event calendar: who did what, when, in the order of what happened.

    `between` keeps what may have occurred in it; `about` the events that words or meaning connect with it.
    Of a plan that changed the last version counts: with `as_of` the last that had been told by then, with
    `known_at` the last that the memory held then.
    """

    spec = Spec("GET /events", paged=True)
    about: Annotated[str | None, Text("topic", most=512), Help("Only what is about this.")] = None
    between: Annotated[Between | None, Stretch(), Help("When it may have happened.")] = None
    subject: Annotated[str | None, Text(most=512), Help("Who did it.")] = None
    verb: Annotated[str | None, Text(most=512)] = None
    status: Annotated[str | None, Choice(among=STATUSES)] = None
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@frozen
class Entities(Operation[Listed[Entity]]):
    """Everyone and everything that has a name, those spoken of most first.

    With `as_of`, those who had been spoken of by then, and by the names that had been said. With `known_at`, those
    whom the memory knew then, before later names, merges, splits and renames.
    """

    spec = Spec("GET /entities", paged=True)
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@frozen
class OneEntity(Operation[Entity]):
    """One entity by its id, its name or another name it goes by."""

    spec = Spec("GET /entities/{name}")
    name: Annotated[str, Text("name")]


@frozen
class MergeEntities(Operation[Entity]):
    """Say that two entities are one; the first keeps its name. `undo_entities` takes it back."""

    spec = Spec("POST /entities/merge", scope="write", traced="update_memory")
    a: Annotated[str, Name(), Help("Keeps its name.", "Ana")]
    b: Annotated[str, Name(), Help(example="Anna")]


@frozen
class SplitEntity(Operation[Entity]):
    """Give some of the names that an entity goes by an identity of their own; the new entity."""

    spec = Spec("POST /entities/{name}/split", scope="write", traced="update_memory")
    name: Annotated[str, Text("name")]
    names: Annotated[Sequence[str], Names(least=1), Help(example=["Annie"])]
    type: Annotated[str | None, Name()] = None


@frozen
class RenameEntity(Operation[Entity]):
    """Give an entity another name; it goes on to answer to the old one."""

    spec = Spec("POST /entities/{name}/rename", scope="write", traced="update_memory")
    name: Annotated[str, Text("name")]
    new: Annotated[str, Label("name"), Help(example="Ana Sousa")]


@frozen
class UndoEntities(Operation[str | None]):
    """Take back the last merge, split or rename; what it was, None where there is none."""

    spec = Spec("POST /entities/undo", scope="write", traced="update_memory", answer="action")


@frozen
class Mentions(Operation[list[UnitRow]]):
    """The memories that mention an entity, newest first."""

    spec = Spec("GET /entities/{name}/mentions")
    name: Annotated[str, Text("name")]
    limit: Annotated[int, Whole(least=1, most=1000)] = 20


@frozen
class SeenWith(Operation[list[tuple[str, int]]]):
    """Who else is mentioned where an entity is, with how many memories, the most frequent first."""

    spec = Spec("GET /entities/{name}/seen-with")
    name: Annotated[str, Text("name")]


@frozen
class Links(Operation[list[Linked]]):
    """The neighbours of a memory in the graph, best first."""

    spec = Spec("GET /units/{unit}/links", runs="quick")
    unit: Annotated[int, Whole(least=1, most=2**53)]
    fan_out: Annotated[int, Whole(least=1, most=1000)] = 50
