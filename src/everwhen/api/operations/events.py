"""What happened, and who and what has a name: the event calendar, entities, and the graph between memories."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, get_args

from annotated_types import Ge, Le
from pydantic import Field

from everwhen.api.operations.base import Operation, Spec, operation
from everwhen.api.operations.fields import (
    WHOLE,
    AsOfTime,
    KnownAtTime,
    Label,
    Limit,
    Name,
    OneOf,
    SomeNames,
    Stretch,
    Text,
)
from everwhen.types import Entity, Event, EventStatus, Linked, Listed, UnitRow

STATUSES: tuple[EventStatus, ...] = get_args(EventStatus)


@operation
class Events(Operation[Listed[Event]]):
    """The event calendar: who did what, when, in the order of what happened.

    `between` keeps what may have occurred in it; `about` the events that words or meaning connect with it.
    Of a plan that changed the last version counts: with `as_of` the last that had been told by then, with
    `known_at` the last that the memory held then.
    """

    spec = Spec("GET /events", paged=True)
    about: Annotated[Name | None, Field(description="Only what is about this.")] = None
    between: Annotated[Stretch | None, Field(description="When it may have happened.")] = None
    subject: Annotated[Name | None, Field(description="Who did it.")] = None
    verb: Name | None = None
    status: Annotated[str, OneOf(STATUSES)] | None = None
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@operation
class Entities(Operation[Listed[Entity]]):
    """Everyone and everything that has a name, those spoken of most first.

    With `as_of`, those who had been spoken of by then, and by the names that had been said. With `known_at`, those
    whom the memory knew then, before later names, merges, splits and renames.
    """

    spec = Spec("GET /entities", paged=True)
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@operation
class OneEntity(Operation[Entity]):
    """One entity by its id, its name or another name it goes by."""

    spec = Spec("GET /entities/{name}")
    name: Text


@operation
class MergeEntities(Operation[Entity]):
    """Say that two entities are one; the first keeps its name. `undo_entities` takes it back."""

    spec = Spec("POST /entities/merge", scope="write", traced="update_memory")
    a: Annotated[Name, Field(description="Keeps its name.", examples=["Ana"])]
    b: Annotated[Name, Field(examples=["Anna"])]


@operation
class SplitEntity(Operation[Entity]):
    """Give some of the names that an entity goes by an identity of their own; the new entity."""

    spec = Spec("POST /entities/{name}/split", scope="write", traced="update_memory")
    name: Text
    names: Annotated[SomeNames, Field(examples=[["Annie"]])]
    type: Name | None = None


@operation
class RenameEntity(Operation[Entity]):
    """Give an entity another name; it goes on to answer to the old one."""

    spec = Spec("POST /entities/{name}/rename", scope="write", traced="update_memory")
    name: Text
    new: Annotated[Label, Field(examples=["Ana Sousa"])]


@operation
class UndoEntities(Operation[str | None]):
    """Take back the last merge, split or rename; what it was, None where there is none."""

    spec = Spec("POST /entities/undo", scope="write", traced="update_memory", answer="action")


@operation
class Mentions(Operation[list[UnitRow]]):
    """The memories that mention an entity, newest first."""

    spec = Spec("GET /entities/{name}/mentions")
    name: Text
    limit: Limit = 20


@operation
class SeenWith(Operation[list[tuple[str, int]]]):
    """Who else is mentioned where an entity is, with how many memories, the most frequent first."""

    spec = Spec("GET /entities/{name}/seen-with")
    name: Text


@operation
class Links(Operation[list[Linked]]):
    """The neighbours of a memory in the graph, best first."""

    spec = Spec("GET /units/{unit}/links", runs="quick")
    unit: Annotated[int, Ge(1), Le(2**53), WHOLE]
    fan_out: Limit = 50
