"""Amounts of time, and times counted with them: il y a trois jours, tra due mesi, die letzten zwei Wochen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from everwhen.when.calendar import Unit
from everwhen.when.cycles import Cycle, Months, Weekday
from everwhen.when.interval import coarser
from everwhen.when.languages.rules.shared import SharedRules
from everwhen.when.meaning import GRAIN, Context, Meaning, Sign, Span, UnitAt
from everwhen.when.offsets import Ago, Amount, Beside, Count, EdgeOf, Offset, OnTheDay, Window, amount
from everwhen.when.rules.amounts import amounts_together, number
from everwhen.when.rules.relative import ago, within

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
fixed("few", Count(2, 5), "<few>", "<num> <few>", "<few> <of>", gives="count")
fixed("several", Count(3, 7), "<several>", gives="count")
add("so many", amount, "<count> <of>? <units>", "<count> <of>? <unit>", gives="amount")


@rule("<half> <unit>", "<num> <half> <unit>", gives="amount")
def half_a_unit(*parts: int | Unit) -> Amount | None:
    unit = parts[-1]
    whole = 0 if len(parts) == 1 or parts[0] == 1 else None
    return None if whole is None else amount(0.5, unit)  # type: ignore[arg-type]


@rule("<num> <unit> <and> <half>", "<num> <units> <and> <half>", gives="amount")
def so_many_and_a_half(count: int, unit: Unit) -> Amount:
    return amount(count + 0.5, unit)


add("half a year", lambda years: amount(years, "year"), "<half-a-year>", gives="amount")


@rule("<one-and-half> <unit>", "<one-and-half> <units>", "<unit> <and> <half>", gives="amount")
def one_and_a_half(unit: Unit) -> Amount:
    return amount(1.5, unit)


add("longer amount", amounts_together, "<amount> <and>? <amount>", gives="amount")
add("ago", ago, "<ago> <amount>", "<amount> <ago-after>")
add("ago units", lambda unit: Ago(amount(Count(2, 5), unit), -1), "<ago> <units>", "<units> <ago-after>")
add(
    "ago one",
    lambda unit: Ago(amount(1, unit), -1),
)
add("ahead", Ahead, "<ahead> <amount>")


@rule("<ahead> <unit>")
def ahead_one(unit: Unit) -> Ahead | None:
    return Ahead(amount(1, unit)) if unit in ("week", "month", "year", "hour") else None


@rule("<day> <ago> <amount>", "<amount> <before> <day>", "<amount> <before> <on>? <time>")
def before_a_day(*parts: Meaning | Amount) -> Offset | None:
    return _offset(parts, -1)


@rule("<day> <ahead> <amount>", "<cycle> <ahead> <amount>", "<amount> <after> <on>? <time>")
@rule("<amount> <onward> <day>", "<amount> <since> <day>", "<amount> <from> <day>")
def after_a_day(*parts: Meaning | Amount) -> Offset | None:
    return _offset(parts, 1)


def _offset(parts: tuple[Meaning | Amount, ...], sign: Sign) -> Offset | None:
    much = next(part for part in parts if isinstance(part, Amount))
    anchor = next(part for part in parts if isinstance(part, Meaning))
    return None if isinstance(anchor, (Ago, Offset, Window)) else Offset(much, sign, anchor, ahead=sign > 0)


@rule("<unit> <before> <on>? <time>", "<cycle> <before> <on>? <time>")
def neighbour_before(thing: Unit | Cycle, anchor: Meaning) -> Beside | None:
    return _beside(thing, -1, anchor)


@rule("<unit> <after> <on>? <time>", "<cycle> <after> <on>? <time>")
def neighbour_after(thing: Unit | Cycle, anchor: Meaning) -> Beside | None:
    return _beside(thing, 1, anchor)


def _beside(thing: Unit | Cycle, sign: Sign, anchor: Meaning) -> Beside | None:
    if isinstance(anchor, (Ago, Offset, Window, Beside)):
        return None
    if isinstance(thing, Cycle):
        return (
            Beside(thing, sign, anchor)
            if isinstance(thing, Weekday) and not isinstance(anchor, Weekday)
            else None
        )
    return Beside(thing, sign, anchor) if thing in ("day", "week", "month", "year") else None


add(
    "weekday so long ago",
    lambda much, weekday: OnTheDay(Weekday(weekday), much, -1) if much.unit == "week" else None,
    "<ago> <amount> <on>? <weekday>",
    "<amount> <ago-after> <on>? <weekday>",
    "<amount> <ago-after> <of> <weekday>",
)


# Windows up to now and from now


add("within", within, "<within> <amount>", "<within> <on> <amount>")


@rule("<last> <amount>", "<amount> <last>", "<since> <amount>", "<since> <ago> <amount>")
def the_last_so_long(found: Amount) -> Window:
    return Window(found, -1)


@rule("<next> <amount>", "<amount> <next>", "<coming> <amount>", "<amount> <coming>")
def the_next_so_long(found: Amount) -> Window:
    return Window(found, 1)


@rule("<count> <last> <units>", "<count> <units> <last>")
def the_so_many_last(count: Count, unit: Unit) -> Window:
    return Window(amount(count, unit), -1)


@rule("<count> <next> <units>", "<count> <coming> <units>")
def the_so_many_next(count: Count, unit: Unit) -> Window:
    return Window(amount(count, unit), 1)


add("the last few", lambda unit: Window(amount(Count(2, 5), unit), -1), "<last> <units>", "<units> <last>")


@rule("<next> <units>", "<units> <next>", "<coming> <units>")
def the_next_few(unit: Unit) -> Window:
    return Window(amount(Count(2, 5), unit), 1)


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
