"""What was said and what was made of it: turns, events, entities, links and the memory tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from datetime import datetime
from typing import Annotated, Any, get_args

from annotated_types import Ge, Le
from pydantic import Field, SkipValidation

from everwhen.api.operations.base import (
    LOCAL,
    WHOLE,
    AnyMetadata,
    BothTimes,
    CommandLine,
    Label,
    Limit,
    LocalMoment,
    Messages,
    MomentOrEnd,
    MomentOrInterval,
    Name,
    OneOf,
    OneOrMessages,
    Operation,
    Pattern,
    Progress,
    SomeNames,
    Spec,
    Stretch,
    Text,
    Zone,
    operation,
)
from everwhen.types import (
    Added,
    Consolidated,
    Entity,
    Event,
    EventStatus,
    Linked,
    ListWithPending,
    Node,
    Session,
    Statement,
    Time,
    Turn,
    UnitRow,
)
from everwhen.types.times import aware, local

LONGEST_PATTERN = 1000
"""Characters of a pattern in a request."""
CALENDARS = ("turns", "events")


def _in_zone(at: Time | None, zone: str | None) -> Time | None:
    """A naive time is local time of the zone beside it; without one it is a mistake."""
    found = local(at, zone)
    if isinstance(found, datetime):
        aware(found, "at")
    return found


@operation
class Add(Operation[Added]):
    """Remember one or more messages. Durable, and recallable, when it returns.

    A message is a string or `{role, content, name?, timestamp?, id?, media?}`. Its time is its own
    timestamp, else `at`, else now; without a session it belongs to the conversation of its day. "Today" in it is
    the day in `zone`, else in the zone or at the offset of that time, else in the bank's zone; UTC alone says
    nothing of where somebody is. A message whose id is known already is left as it is.
    """

    spec = Spec("POST /turns", scope="write", runs="quick", creates=True, status=201, traced="create_memory")
    messages: Annotated[
        OneOrMessages,
        Field(
            description="What was said, one message each; on the command line, - reads one from standard input.",
            examples=[[{"role": "user", "name": "Ana", "content": "I moved to Porto last week"}]],
        ),
    ]
    _: KW_ONLY
    session: Annotated[Label | None, Field(description="The conversation it belongs to.")] = None
    at: Annotated[LocalMoment | None, Field(description="When it was said. Left out: now.")] = None
    zone: Zone | None = None
    metadata: Annotated[AnyMetadata | None, Field(description="What else is kept with it.")] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _in_zone(self.at, self.zone))


@operation
class AddMany(Operation[Added]):
    """Remember many messages, in batches that are each durable; `progress` hears how many are done.

    Interrupted and started again with the same ids, it goes on where it stopped.
    """

    spec = Spec("", scope="write")
    messages: Messages
    _: KW_ONLY
    session: Label | None = None
    at: LocalMoment | None = None
    zone: Zone | None = None
    metadata: AnyMetadata | None = None
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _in_zone(self.at, self.zone))


@operation
class Turns(BothTimes, Operation[list[Turn]]):
    """The turn calendar: what was said, in the order of time."""

    spec = Spec("GET /turns", runs="quick", paged=True)
    session: Annotated[Label | None, Field(description="Only this conversation.")] = None
    between: Annotated[Stretch | None, Field(description="When it was said.")] = None


@operation
class OneTurn(BothTimes, Operation[Turn]):
    """One turn by its id."""

    spec = Spec("GET /turns/{turn_id}", runs="quick")
    turn_id: Annotated[Text, Field(description="Its id; `show turns` lists them.")]


@operation
class TurnsAround(BothTimes, Operation[list[Turn]]):
    """A turn with those right before and after it in its conversation, in the order of time."""

    spec = Spec("GET /turns/{turn_id}/around", runs="quick")
    turn_id: Annotated[Text, Field(description="Its id; `show turns` lists them.")]
    reach: Annotated[int, Ge(0), Le(1000), WHOLE, Field(description="So many before and after it.")] = 1


@operation
class Sessions(BothTimes, Operation[list[Session]]):
    """The conversations."""

    spec = Spec("GET /sessions", runs="quick", paged=True)


@operation
class Grep(BothTimes, Operation[list[Any]]):
    """Turns (`Hit`), or events (`EventHit`), whose words contain a pattern, whatever the case, in the order of time.

    Bounded in time. `between` is when a turn was said, or when an event may have occurred.
    """

    spec = Spec("POST /grep", runs="quick")
    pattern: Annotated[
        Pattern, Field(description="Words as they were written, whatever the case.", examples=["Porto"])
    ]
    _: KW_ONLY
    calendar: Annotated[str, OneOf(CALENDARS), Field(description="What is searched.")] = "turns"
    regex: Annotated[bool, Field(description="The pattern is a regular expression."), CommandLine("-E")] = (
        False
    )
    between: Stretch | None = None
    limit: Limit = 50


STATUSES: tuple[EventStatus, ...] = get_args(EventStatus)


@operation
class Events(BothTimes, Operation[ListWithPending[Event]]):
    """The event calendar: who did what, when, in the order of what happened.

    `between` keeps what may have occurred in it; `about` the events that words or meaning connect with it.
    Of a plan that changed the last version counts: with `as_of` the last that had been said by then, with
    `known_at` the last that the memory held then.
    """

    spec = Spec("GET /events", paged=True)
    about: Annotated[
        Name | None, Field(description="Only what is about this."), CommandLine(positional=True)
    ] = None
    between: Annotated[Stretch | None, Field(description="When it may have happened.")] = None
    subject: Annotated[Name | None, Field(description="Who did it.")] = None
    verb: Annotated[Name | None, Field(description="What was done, such as 'move'.")] = None
    status: Annotated[Annotated[str, OneOf(STATUSES)] | None, Field(description="Whether it happened.")] = (
        None
    )


@operation
class Entities(BothTimes, Operation[ListWithPending[Entity]]):
    """Everyone and everything that has a name, those spoken of most first.

    With `as_of`, those who had been spoken of by then, and by the names that had been said. With `known_at`, those
    whom the memory knew then, before later names, merges, splits and renames.
    """

    spec = Spec("GET /entities", paged=True)


@operation
class OneEntity(BothTimes, Operation[Entity]):
    """One entity by its id, its name or another name it goes by."""

    spec = Spec("GET /entities/{name}")
    name: Annotated[Text, Field(description="Its id, its name or another name it goes by.")]


@operation
class MergeEntities(Operation[Entity]):
    """Say that two entities are one; the first keeps its name. `undo_entities` takes it back."""

    spec = Spec("POST /entities/merge", scope="write", traced="update_memory")
    a: Annotated[Name, Field(description="Keeps its name.", examples=["Ana"])]
    b: Annotated[Name, Field(description="Is the same.", examples=["Anna"])]


@operation
class SplitEntity(Operation[Entity]):
    """Give some of the names that an entity goes by an identity of their own; the new entity."""

    spec = Spec("POST /entities/{name}/split", scope="write", traced="update_memory")
    name: Annotated[Text, Field(description="Its id, its name or another name it goes by.")]
    names: Annotated[SomeNames, Field(description="Names of it that are another.", examples=[["Annie"]])]
    type: Annotated[Name | None, Field(description="What the new one is, such as 'person'.")] = None


@operation
class RenameEntity(Operation[Entity]):
    """Give an entity another name; it goes on to answer to the old one."""

    spec = Spec("POST /entities/{name}/rename", scope="write", traced="update_memory")
    name: Annotated[Text, Field(description="Its id, its name or another name it goes by.")]
    new: Annotated[Label, Field(description="Its new name.", examples=["Ana Sousa"])]


@operation
class UndoEntities(Operation[str | None]):
    """Take back the last merge, split or rename; what it was, None where there is none."""

    spec = Spec("POST /entities/undo", scope="write", traced="update_memory", answer="action")


@operation
class Mentions(BothTimes, Operation[list[UnitRow]]):
    """The memories that mention an entity, newest first; with `as_of` or `known_at` turns and events."""

    spec = Spec("GET /entities/{name}/mentions")
    name: Annotated[Text, Field(description="Its id, its name or another name it goes by.")]
    limit: Limit = 20


@operation
class SeenWith(BothTimes, Operation[list[tuple[str, int]]]):
    """Who else is mentioned where an entity is, with how many memories, the most frequent first.

    With `as_of` or `known_at` turns and events are counted.
    """

    spec = Spec("GET /entities/{name}/seen-with")
    name: Annotated[Text, Field(description="Its id, its name or another name it goes by.")]


@operation
class Links(BothTimes, Operation[list[Linked]]):
    """The neighbours of a memory in the graph, best first.

    With `as_of` or `known_at`, those of its present neighbours that had been said, or were known, by then.
    """

    spec = Spec("GET /units/{unit}/links", runs="quick")
    unit: Annotated[int, Ge(1), Le(2**53), WHOLE, Field(description="The number of the memory.")]
    fan_out: Annotated[Limit, Field(description="Neighbours at the most.")] = 50


@operation
class Consolidate(Operation[Consolidated]):
    """Build the nodes of the tree whose windows are closed, and build again those that late turns changed.

    A window is closed when the newest turn of the bank lies behind it; `now` says another moment, and "end" takes
    the open ones too. `progress` hears how many nodes are written and how many are on the list.
    """

    spec = Spec("POST /consolidate", scope="write", runs="long", traced="update_memory")
    now: Annotated[
        MomentOrEnd | None, Field(description="Windows before it are closed; `end`: the open ones too.")
    ] = None
    _: KW_ONLY
    progress: Annotated[Callable[[int, int], None] | None, SkipValidation, LOCAL] = None


@operation
class Tree(BothTimes, Operation[ListWithPending[Node]]):
    """The nodes of the memory tree, by level and time.

    `at` keeps those whose interval contains an instant, or overlaps a day, an expression or an interval. Level 1
    is always there; the levels above are what `consolidate` has built.

    With `known_at`, the nodes that stood then, in the version of then. With `as_of`, a node is there in its newest
    version that was built from nothing said later; a window that has no such version is left out.
    """

    spec = Spec("GET /tree", paged=True)
    level: Annotated[Annotated[int, Ge(1), Le(100), WHOLE] | None, Field(description="1 is exchanges.")] = (
        None
    )
    at: Annotated[
        MomentOrInterval | None, Field(description="Nodes whose interval contains it, or overlaps it.")
    ] = None


@operation
class Profile(BothTimes, Operation[ListWithPending[Statement]]):
    """What the tree's top level says, over all of time: statements with support, dates and turns.

    `as_of` and `known_at` choose the versions of its nodes as `tree` does, and the facts as they were believed then;
    of a window that went on after `as_of`, the statements that had been made by then.
    """

    spec = Spec("GET /profile", paged=True)
    about: Annotated[
        Name | None,
        Field(description="Only what concerns this person or thing."),
        CommandLine(positional=True),
    ] = None
