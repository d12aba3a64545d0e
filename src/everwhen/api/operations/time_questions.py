"""Answers about time: when something was, what came first, what happened in a while."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field

from everwhen.api.operations.base import Operation, Spec, operation
from everwhen.api.operations.fields import AsOfTime, KnownAtTime, Moment, OneOf, Stretch, Text
from everwhen.types import Comparison, Entry, Listed, TimeAnswer
from everwhen_time import Grain

GRAINS: tuple[Grain, ...] = ("day", "week", "month", "year")


@operation
class When(Operation[TimeAnswer | None]):
    """When something happened, holds or is planned: the interval that the memory's words mean, how sure it is
    and the sentences that say so. None where the memory does not tell.

    `query` is a question ("when did Ana move") or names the event ("Ana's move to Porto"). It may ask for the
    first or last time, for a unit ("in which month"), since when, or lean on another event ("the week after my
    vacation"). `between` keeps answers that may lie in it; `as_of` leaves out what was said later, `known_at` what
    was recorded later. A duration asked for ("how long after …") is what `compare` computes.
    """

    spec = Spec("POST /when")
    query: Annotated[
        Text, Field(description="A question, or the event itself.", examples=["When did Ana move to Porto?"])
    ]
    _: KW_ONLY
    at: Annotated[Moment | None, Field(description="The moment of asking.")] = None
    between: Stretch | None = None
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@operation
class Compare(Operation[Comparison]):
    """Which of two events came first and how many days lie between them, as exactly as their dates allow.

    `as_of` leaves out what was said later, `known_at` what was recorded later.
    """

    spec = Spec("POST /compare")
    a: Annotated[Text, Field(examples=["Ana's move to Porto"])]
    b: Annotated[Text, Field(examples=["Ana's new job"])]
    _: KW_ONLY
    at: Annotated[Moment | None, Field(description="The moment of asking.")] = None
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@operation
class Timeline(Operation[Listed[Entry]]):
    """What happened, what began or ended to be true, and the conversations, in the order of time.

    An event that was told twice comes once. `about` keeps what words or meaning connect with it, `between` what
    may lie in it; `grain` (day, week, month or year) puts entries under units of time. What was planned or only
    supposed says so; what did not happen is left out, unless `negated` asks for it. With `as_of`, only what had been
    said by then, with `known_at`, only what the memory held then; of plans and facts that changed, the version of then.
    """

    spec = Spec("POST /timeline", paged=True)
    about: Annotated[Text | None, Field(description="Only what is about this.", examples=["Porto"])] = None
    between: Stretch | None = None
    grain: Annotated[Grain, OneOf(GRAINS)] | None = None
    _: KW_ONLY
    negated: Annotated[bool, Field(description="Also what did not happen.")] = False
    as_of: AsOfTime = None
    known_at: KnownAtTime = None
