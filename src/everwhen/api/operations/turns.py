"""What was said: adding it, reading it, finding words in it."""

from __future__ import annotations

from dataclasses import KW_ONLY
from datetime import datetime
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import Field, SkipValidation

from everwhen.api.operations.base import Operation, Spec, operation
from everwhen.api.operations.fields import (
    LOCAL,
    WHOLE,
    AnyMetadata,
    Label,
    Limit,
    LocalMoment,
    Messages,
    OneOf,
    OneOrMessages,
    Pattern,
    Progress,
    Stretch,
    Text,
    Zone,
)
from everwhen.types import Added, Session, Time, Turn
from everwhen.types.instants import aware
from everwhen.types.time_arguments import local

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
        Field(examples=[[{"role": "user", "name": "Ana", "content": "I moved to Porto last week"}]]),
    ]
    _: KW_ONLY
    session: Annotated[Label | None, Field(description="The conversation it belongs to.")] = None
    at: LocalMoment | None = None
    zone: Zone | None = None
    metadata: AnyMetadata | None = None

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
class Turns(Operation[list[Turn]]):
    """The turn calendar: what was said, in the order of time."""

    spec = Spec("GET /turns", runs="quick", paged=True)
    session: Annotated[Label | None, Field(description="Only this conversation.")] = None
    between: Annotated[Stretch | None, Field(description="When it was said.")] = None


@operation
class OneTurn(Operation[Turn]):
    """One turn by its id."""

    spec = Spec("GET /turns/{turn_id}", runs="quick")
    turn_id: Text


@operation
class TurnsAround(Operation[list[Turn]]):
    """A turn with those right before and after it in its conversation, in the order of time."""

    spec = Spec("GET /turns/{turn_id}/around", runs="quick")
    turn_id: Text
    reach: Annotated[int, Ge(0), Le(1000), WHOLE] = 1


@operation
class Sessions(Operation[list[Session]]):
    """The conversations."""

    spec = Spec("GET /sessions", runs="quick", paged=True)


@operation
class Grep(Operation[list[Any]]):
    """Turns (`Hit`), or events (`EventHit`), whose words contain a pattern, whatever the case, in the order of time.

    Bounded in time. `between` is when a turn was said, or when an event may have occurred.
    """

    spec = Spec("POST /grep", runs="quick")
    pattern: Annotated[
        Pattern, Field(description="Words as they were written, whatever the case.", examples=["Porto"])
    ]
    _: KW_ONLY
    calendar: Annotated[str, OneOf(CALENDARS)] = "turns"
    regex: bool = False
    between: Stretch | None = None
    limit: Limit = 50
