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
rule, fixed = book.rule, book.fixed


@dataclass(frozen=True, slots=True)
class Ahead(Meaning):
    """ "In zwei Wochen": counted from now; with a past verb it is how long something took."""

    confidence: ClassVar[float] = 0.8
    amount: Amount

    def span(self, ctx: Context) -> Span | None:
        return None if ctx.side == "past" else Ago(self.amount, 1).span(ctx)


# So much time


rule("<num>", gives="count")(number)


@rule(gives="count")
def two_or_three(first: int, second: int) -> Count | None:
    return Count(first, second) if second == first + 1 else None


fixed("few", Count(2, 5), "<few>", "<num> <few>", "<few> <of>", gives="count")
fixed("several", Count(3, 7), "<several>", gives="count")

rule("<count> <of>? <units>", "<count> <of>? <unit>", gives="amount", name="so many")(amount)


@rule("<half> <unit>", "<num> <half> <unit>", gives="amount")
def half_a_unit(*parts: int | Unit) -> Amount | None:
    unit = parts[-1]
    whole = 0 if len(parts) == 1 or parts[0] == 1 else None
    return None if whole is None else amount(Count(0.5, 0.5), unit)  # type: ignore[arg-type]


@rule("<num> <unit> <and> <half>", "<num> <units> <and> <half>", gives="amount")
def so_many_and_a_half(count: int, unit: Unit) -> Amount:
    return amount(Count(count + 0.5, count + 0.5), unit)


@rule("<half-a-year>", gives="amount")
def half_a_year(years: float) -> Amount:
    return amount(Count(years, years), "year")


@rule("<one-and-half> <unit>", "<one-and-half> <units>", "<unit> <and> <half>", gives="amount")
def one_and_a_half(unit: Unit) -> Amount:
    return amount(Count(1.5, 1.5), unit)


rule("<amount> <and>? <amount>", gives="amount", name="longer amount")(amounts_together)
rule("<ago> <amount>", "<amount> <ago-after>")(ago)


@rule("<ago> <units>", "<units> <ago-after>")
def ago_units(unit: Unit) -> Ago:
    return Ago(amount(Count(2, 5), unit), -1)


@rule()
def ago_one(unit: Unit) -> Ago:
    return Ago(amount(Count(1, 1), unit), -1)


rule("<ahead> <amount>", name="ahead")(Ahead)


@rule("<ahead> <unit>")
def ahead_one(unit: Unit) -> Ahead | None:
    return Ahead(amount(Count(1, 1), unit)) if unit in ("week", "month", "year", "hour") else None


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


@rule(
    "<ago> <amount> <on>? <weekday>",
    "<amount> <ago-after> <on>? <weekday>",
    "<amount> <ago-after> <of> <weekday>",
)
def weekday_so_long_ago(much: Amount, weekday: int) -> OnTheDay | None:
    return OnTheDay(Weekday(weekday), much, -1) if much.unit == "week" else None


# Windows up to now and from now


rule("<within> <amount>", "<within> <on> <amount>")(within)


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


@rule("<last> <units>", "<units> <last>")
def the_last_few(unit: Unit) -> Window:
    return Window(amount(Count(2, 5), unit), -1)


@rule("<next> <units>", "<units> <next>", "<coming> <units>")
def the_next_few(unit: Unit) -> Window:
    return Window(amount(Count(2, 5), unit), 1)


@rule("<nth> <amount> <of> <on>? <time>", "<num> <nth> <units> <of> <on>? <time>")
@rule("<nth> <amount> <in>? <time>")
def first_of_a_time(*parts: object) -> EdgeOf | None:
    return _edge(parts, 1)


@rule(
    "<last> <amount> <of> <on>? <time>",
    "<count> <last> <units> <of> <on>? <time>",
    "<last> <amount> <in>? <time>",
)
def last_of_a_time(*parts: object) -> EdgeOf | None:
    return _edge(parts, -1)


def _edge(parts: tuple[object, ...], sign: Sign) -> EdgeOf | None:
    whole = parts[-1]
    assert isinstance(whole, Meaning)
    if sign > 0 and parts[0 if isinstance(parts[1], Amount) else 1] != 1:
        return None
    much = next((part for part in parts if isinstance(part, Amount)), None)
    if much is None:
        count = next(part for part in parts if isinstance(part, (int, Count)))
        unit = next(part for part in parts if isinstance(part, str))
        much = amount(count if isinstance(count, Count) else Count(count, count), unit)  # type: ignore[arg-type]
    known = isinstance(whole, (Months, UnitAt)) or not isinstance(whole, (Ago, Window, Offset))
    return EdgeOf(much, sign, whole) if known and coarser("decade", GRAIN[much.unit]) else None
