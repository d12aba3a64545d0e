"""What was said: adding it, reading it, finding words in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any

from everwhen.api.operations.arguments import (
    Choice,
    Flag,
    Given,
    Help,
    Here,
    Label,
    Messages,
    Metadata,
    Moment,
    Progress,
    Stretch,
    Text,
    Whole,
    Zone,
)  # fmt: skip
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import Added, Between, Session, Time, Turn
from everwhen.types.time_arguments import local

LONGEST_PATTERN = 1000
"""Characters of a pattern in a request."""
CALENDARS = ("turns", "events")


@frozen
class Add(Operation[Added]):
    """Remember one or more messages. Durable, and recallable, when it returns.

    A message is a string or `{role, content, name?, timestamp?, id?, media?}`. Its time is its own
    timestamp, else `at`, else now; without a session it belongs to the conversation of its day. "Today" in it is
    the day in `zone`, else in the zone or at the offset of that time, else in the bank's zone; UTC alone says
    nothing of where somebody is. A message whose id is known already is left as it is.
    """

    spec = Spec("POST /turns", scope="write", runs="quick", creates=True, status=201, traced="create_memory")
    messages: Annotated[
        Given | Iterable[Given],
        Messages(single=True),
        Help(example=[{"role": "user", "name": "Ana", "content": "I moved to Porto last week"}]),
    ]
    _: KW_ONLY
    session: Annotated[str | None, Label(), Help("The conversation it belongs to.")] = None
    at: Annotated[Time | None, Moment()] = None
    zone: Annotated[str | None, Zone()] = None
    metadata: Annotated[Mapping[str, Any] | None, Metadata()] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", local(self.at, self.zone))  # a naive time is local time of the zone
        Operation.__post_init__(self)


@frozen
class AddMany(Operation[Added]):
    """Remember many messages, in batches that are each durable; `progress` hears how many are done.

    Interrupted and started again with the same ids, it goes on where it stopped.
    """

    spec = Spec("", scope="write")
    messages: Annotated[Iterable[Given], Messages()]
    _: KW_ONLY
    session: Annotated[str | None, Label()] = None
    at: Annotated[Time | None, Moment()] = None
    zone: Annotated[str | None, Zone()] = None
    metadata: Annotated[Mapping[str, Any] | None, Metadata()] = None
    progress: Annotated[Progress | None, Here()] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", local(self.at, self.zone))
        Operation.__post_init__(self)


@frozen
class Turns(Operation[list[Turn]]):
    """The turn calendar: what was said, in the order of time."""

    spec = Spec("GET /turns", runs="quick", paged=True)
    session: Annotated[str | None, Label(), Help("Only this conversation.")] = None
    between: Annotated[Between | None, Stretch(), Help("When it was said.")] = None


@frozen
class OneTurn(Operation[Turn]):
    """One turn by its id."""

    spec = Spec("GET /turns/{turn_id}", runs="quick")
    turn_id: Annotated[str, Text("turn's id")]


@frozen
class TurnsAround(Operation[list[Turn]]):
    """A turn with those right before and after it in its conversation, in the order of time."""

    spec = Spec("GET /turns/{turn_id}/around", runs="quick")
    turn_id: Annotated[str, Text("turn's id")]
    reach: Annotated[int, Whole(least=0, most=1000)] = 1


@frozen
class Sessions(Operation[list[Session]]):
    """The conversations."""

    spec = Spec("GET /sessions", runs="quick", paged=True)


@frozen
class Grep(Operation[list[Any]]):
    """Turns (`Hit`), or events (`EventHit`), whose words contain a pattern, whatever the case, in the order of time.

    Bounded in time. `between` is when a turn was said, or when an event may have occurred.
    """

    spec = Spec("POST /grep", runs="quick")
    pattern: Annotated[
        str,
        Text(most=LONGEST_PATTERN, spaces=True),
        Help("Words as they were written, whatever the case.", "Porto"),
    ]
    _: KW_ONLY
    calendar: Annotated[str, Choice(among=CALENDARS)] = "turns"
    regex: Annotated[bool, Flag()] = False
    between: Annotated[Between | None, Stretch()] = None
    limit: Annotated[int, Whole(least=1, most=1000)] = 50
