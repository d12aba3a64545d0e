"""Amounts of time, and times counted with them: il y a trois jours, tra due mesi, die letzten zwei Wochen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from everwhen_time.calendar import Unit
from everwhen_time.cycles import Cycle, Months, Weekday
from everwhen_time.interval import coarser
from everwhen_time.meaning import GRAIN, Context, Meaning, Sign, Span, UnitAt
from everwhen_time.offsets import FEW, Ago, Amount, Beside, Count, EdgeOf, Offset, OnTheDay, Window, amount
from everwhen_time.parser import Make, SharedRules
from everwhen_time.rules.amounts import amounts_together, number
from everwhen_time.rules.relative import ago, few_units, is_counted, within

book = SharedRules()
add, rule, fixed = book.add, book.rule, book.fixed


@dataclass(frozen=True, slots=True)
class Ahead(Meaning):
    """ "In zwei Wochen": counted from now; with a past verb it is how long something took."""

    confidence: ClassVar[float] = 0.8
    amount: Amount

    def span(self, ctx: Context) -> Span | None:
        return None if ctx.side == "past" else Ago(self.amount, 1).span(ctx)


# So much time


add("number", number, "<num>", gives="count")
add(
    "two or three", lambda first, second: Count(first, second) if second == first + 1 else None, gives="count"
)
fixed("few", FEW, "<few>", "<num> <few>", "<few> <of>", gives="count")
fixed("several", Count(3, 7), "<several>", gives="count")
add("so many", amount, "<count> <of>? <units>", "<count> <of>? <unit>", gives="amount")


@rule("<half> <unit>", "<num> <half> <unit>", gives="amount")
def half_a_unit(*parts: int | Unit) -> Amount | None:
    return amount(0.5, parts[-1]) if parts[0] == 1 or len(parts) == 1 else None  # type: ignore[arg-type]


add(
    "so many and a half",
    lambda count, unit: amount(count + 0.5, unit),
    "<num> <unit>|<units> <and> <half>",
    gives="amount",
)


add("half a year", lambda years: amount(years, "year"), "<half-a-year>", gives="amount")


_ONE_AND_A_HALF = ("<one-and-half> <unit>|<units>", "<unit> <and> <half>")
add("one and a half", partial(amount, 1.5), *_ONE_AND_A_HALF, gives="amount")


add("longer amount", amounts_together, "<amount> <and>? <amount>", gives="amount")
add("ago", ago, "<ago> <amount>", "<amount> <ago-after>")
add("ago units", lambda unit: Ago(amount(FEW, unit), -1), "<ago> <units>", "<units> <ago-after>")
add("ago one", lambda unit: Ago(amount(1, unit), -1))


def _is_arranged_by(unit: Unit) -> bool:
    """Whether "in one" is a plan: in a week."""
    return unit in ("week", "month", "year", "hour")


add("ahead", Ahead, "<ahead> <amount>")


add("ahead one", lambda unit: Ahead(amount(1, unit)), "<ahead> <unit>", where=_is_arranged_by)


def _offset(sign: Sign) -> Make:
    def offset(*parts: Meaning | Amount) -> Offset | None:
        much = next(part for part in parts if isinstance(part, Amount))
        anchor = next(part for part in parts if isinstance(part, Meaning))
        return (
            None if isinstance(anchor, (Ago, Offset, Window)) else Offset(much, sign, anchor, ahead=sign > 0)
        )

    return offset


def _beside(sign: Sign) -> Make:
    def beside(thing: Unit | Cycle, anchor: Meaning) -> Beside | None:
        if isinstance(thing, Cycle):
            known = isinstance(thing, Weekday) and not isinstance(anchor, Weekday)
        else:
            known = is_counted(thing)
        return (
            Beside(thing, sign, anchor)
            if known and not isinstance(anchor, (Ago, Offset, Window, Beside))
            else None
        )

    return beside


_BEFORE = ("<day> <ago> <amount>", "<amount> <before> <day>", "<amount> <before> <on>? <time>")
add("before a day", _offset(-1), *_BEFORE)


_AFTER = (
    "<day>|<cycle> <ahead> <amount>",
    "<amount> <after> <on>? <time>",
    "<amount> <onward>|<since>|<from> <day>",
)
add("after a day", _offset(1), *_AFTER)


add("neighbour before", _beside(-1), "<unit>|<cycle> <before> <on>? <time>")


add("neighbour after", _beside(1), "<unit>|<cycle> <after> <on>? <time>")


add(
    "weekday so long ago",
    lambda much, weekday: OnTheDay(Weekday(weekday), much, -1) if much.unit == "week" else None,
    "<ago> <amount> <on>? <weekday>",
    "<amount> <ago-after> <on>? <weekday>",
    "<amount> <ago-after> <of> <weekday>",
)


# Windows up to now and from now


add("within", within, "<within> <amount>", "<within> <on> <amount>")


def _counted(sign: Sign) -> Make:
    return lambda count, unit: Window(amount(count, unit), sign)


_LAST = ("<last> <amount>", "<amount> <last>", "<since> <ago>? <amount>")
add("the last so long", lambda found: Window(found, -1), *_LAST)


_NEXT = ("<next>|<coming> <amount>", "<amount> <next>|<coming>")
add("the next so long", lambda found: Window(found, 1), *_NEXT)


add("the so many last", _counted(-1), "<count> <last> <units>", "<count> <units> <last>")


add("the so many next", _counted(1), "<count> <next>|<coming> <units>")


add("the last few", few_units(-1), "<last> <units>", "<units> <last>")


add("the next few", few_units(1), "<next>|<coming> <units>", "<units> <next>")


@rule("<nth> <amount> <of> <on>? <time>", "<num> <nth> <units> <of> <on>? <time>")
@rule("<nth> <amount> <in>? <time>")
def first_of_a_time(*parts: object) -> EdgeOf | None:
    return _edge(parts, 1)


add(
    "last of a time",
    lambda *parts: _edge(parts, -1),
    "<last> <amount> <of> <on>? <time>",
    "<count> <last> <units> <of> <on>? <time>",
    "<last> <amount> <in>? <time>",
)


def _edge(parts: tuple[object, ...], sign: Sign) -> EdgeOf | None:
    whole = parts[-1]
    assert isinstance(whole, Meaning)
    if sign > 0 and parts[0 if isinstance(parts[1], Amount) else 1] != 1:
        return None
    much = next((part for part in parts if isinstance(part, Amount)), None)
    if much is None:
        count = next(part for part in parts if isinstance(part, (int, Count)))
        unit = next(part for part in parts if isinstance(part, str))
        much = amount(count, unit)  # type: ignore[arg-type]
    known = isinstance(whole, (Months, UnitAt)) or not isinstance(whole, (Ago, Window, Offset))
    return EdgeOf(much, sign, whole) if known and coarser("decade", GRAIN[much.unit]) else None
