"""Times that count from a date mentioned before: two days later, the next morning, the year after."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar

from everwhen_time.calendar import Unit, shift
from everwhen_time.cycles import Cycle, after, before
from everwhen_time.meaning import GRAIN, Context, Meaning, NoSuchTime, Piece, Sign, Span, UnitAt
from everwhen_time.offsets import Ago, Amount
from everwhen_time.parser import Item
from everwhen_time.tokenizer import Token, word_set

REACH = 400
"""Characters before it in which the date that it counts from is looked for."""
TRIGGERS = word_set("later earlier following next after before afterwards afterward")
"""One of these is in every such phrase."""


@dataclass(frozen=True, slots=True)
class Later(Meaning):
    """An amount of time after or before the date mentioned; as approximate as "two weeks ago" is."""

    confidence: ClassVar[float] = 0.75
    amount: Amount
    sign: Sign

    def span(self, ctx: Context) -> Span | None:
        told = _told(ctx, self.amount.unit)
        return Ago(self.amount, self.sign, loose=True).span(ctx.at(told.start))


@dataclass(frozen=True, slots=True)
class NextTo(Meaning):
    """The calendar unit, weekday or season next to the date mentioned: the following week, the Monday after."""

    confidence: ClassVar[float] = 0.75
    thing: Unit | Cycle
    sign: Sign
    of_a_story: bool = False  # "the next week" counts from now, unless the verb is past

    def span(self, ctx: Context) -> Span | None:
        if self.of_a_story and not (ctx.side == "past" and ctx.certain):
            return None
        thing = self.thing
        told = _told(ctx, thing.every if isinstance(thing, Cycle) else thing)
        if isinstance(thing, Cycle):
            return before(thing, ctx, told.start) if self.sign < 0 else after(thing, ctx, told.end)
        start = shift(ctx.floor(told.start, thing), thing, self.sign)
        return Span(start, shift(start, thing, 1), GRAIN[thing])


@dataclass(frozen=True, slots=True)
class Following(Meaning):
    """ "The following week": the next one; in a story, the one after what was told before."""

    confidence: ClassVar[float] = 0.8
    unit: Unit

    def span(self, ctx: Context) -> Span | None:
        return None if ctx.side == "past" and ctx.certain else UnitAt(self.unit, 1).span(ctx)


def _told(ctx: Context, unit: Unit) -> Piece:
    """The date told before, unless it is vaguer than what is counted: two days after "in 2016" are no day."""
    if ctx.told is None or ctx.told.end > shift(ctx.told.start, unit, 1):
        raise NoSuchTime
    return ctx.told


def counts_from_told(value: object) -> bool:
    """Whether the meaning, or what it is made of, counts from a date told before."""
    if isinstance(value, (Later, NextTo)):
        return True
    if not isinstance(value, Meaning) or not is_dataclass(value):
        return False
    return any(counts_from_told(getattr(value, field.name)) for field in fields(value))


def is_complete(item: Item, tokens: list[Token]) -> bool:
    """Whether nothing follows that it hangs on instead: "the year after I graduated", "the next day of rest"."""
    if item.start and tokens[item.start - 1].lower == "for":
        return False  # "pack your bag for the next day": any
    following = tokens[item.end].lower if item.end < len(tokens) else ""
    if tokens[item.end - 1].lower in _NEEDS_END:
        return not following or following in _ENDS
    return following not in _GOES_ON


_NEEDS_END = word_set("after before")
_ENDS = word_set('. , ! ? ; : ) - … and but so while because "')
_GOES_ON = word_set("of off than that when after before - following which who")
