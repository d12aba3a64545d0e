"""Answers about time: when something was, what came first, what happened in a while."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from everwhen.api.operations.arguments import AsOfTime, Choice, Flag, Help, KnownAtTime, Moment, Stretch, Text
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import Between, Comparison, Entry, Listed, Time, TimeAnswer
from everwhen_time import Grain

GRAINS: tuple[Grain, ...] = ("day", "week", "month", "year")


@frozen
class When(Operation[TimeAnswer | None]):
    """When something happened, holds or is planned: the interval that the memory's words mean, how sure it is
    and the sentences that say so. None where the memory does not tell.

    `query` is a question ("when did Ana move") or names the event ("Ana's move to Porto"). It may ask for the
    first or last time, for a unit ("in which month"), since when, or lean on another event ("the week after my
    vacation"). `between` keeps answers that may lie in it; `as_of` leaves out what was said later, `known_at` what
    was recorded later. A duration asked for ("how long after …") is what `compare` computes.
    """

    spec = Spec("POST /when")
    query: Annotated[str, Text(), Help("A question, or the event itself.", "When did Ana move to Porto?")]
    _: KW_ONLY
    at: Annotated[Time | None, Moment(), Help("The moment of asking.")] = None
    between: Annotated[Between | None, Stretch()] = None
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@frozen
class Compare(Operation[Comparison]):
    """Which of two events came first and how many days lie between them, as exactly as their dates allow.

    `as_of` leaves out what was said later, `known_at` what was recorded later.
    """

    spec = Spec("POST /compare")
    a: Annotated[str, Text("first event"), Help(example="Ana's move to Porto")]
    b: Annotated[str, Text("second event"), Help(example="Ana's new job")]
    _: KW_ONLY
    at: Annotated[Time | None, Moment(), Help("The moment of asking.")] = None
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@frozen
class Timeline(Operation[Listed[Entry]]):
    """What happened, what began or ended to be true, and the conversations, in the order of time.

    An event that was told twice comes once. `about` keeps what words or meaning connect with it, `between` what
    may lie in it; `grain` (day, week, month or year) puts entries under units of time. What was planned or only
    supposed says so; what did not happen is left out, unless `negated` asks for it. With `as_of`, only what had been
    said by then, with `known_at`, only what the memory held then; of plans and facts that changed, the version of then.
    """

    spec = Spec("POST /timeline", paged=True)
    about: Annotated[str | None, Text("topic"), Help("Only what is about this.", "Porto")] = None
    between: Annotated[Between | None, Stretch()] = None
    grain: Annotated[Grain | None, Choice(among=GRAINS)] = None
    _: KW_ONLY
    negated: Annotated[bool, Flag(), Help("Also what did not happen.")] = False
    as_of: AsOfTime = None
    known_at: KnownAtTime = None
