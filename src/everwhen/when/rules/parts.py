"""Parts of a longer time: early June, the second half of 2021, later this week, Friday morning."""

from __future__ import annotations

from datetime import datetime

from everwhen.when.calendar import Unit
from everwhen.when.cycles import DayOfMonth
from everwhen.when.meaning import (
    AtClock,
    Fixed,
    HalfSoFar,
    Meaning,
    Part,
    PartOfDay,
    Position,
    Rest,
    ToDate,
    UnitAt,
)
from everwhen.when.offsets import TODAY, Ago, Count, Window, amount
from everwhen.when.parser import RuleBook

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_LONG: tuple[Unit, ...] = ("week", "month", "quarter", "year", "decade", "century")


fixed("early", "early", "the? early", gives="position")
fixed("start", "start", "the? very? beginning|start|opening of", gives="position")
fixed(
    "middle", "mid", "mid -?", "the mid -?", "middle of", "the middle of", "midway through", gives="position"
)
fixed("late", "late", "the? late", gives="position")
fixed("end", "end", "the? very? end|close of", "the? tail|back end of", gives="position")
fixed("early in", "early", "early in|on", "early -", gives="position")
fixed("late in", "late", "late in|on", "late -", gives="position")
fixed("first half", "first half", "the? first half of", gives="position")
fixed("second half", "second half", "the? second|latter|last half of", gives="position")


@rule("<position> the? <time>")
def part_of_a_time(position: Position, whole: Meaning) -> Part | None:
    return None if isinstance(whole, (Part, Window, DayOfMonth)) else Part(position, whole)


@rule("<position> <decade>", "<position> <decade-word>")
def part_of_a_decade(position: Position, decade: Fixed | int) -> Part:
    return Part(position, decade if isinstance(decade, Fixed) else Fixed(datetime(decade, 1, 1), "decade"))


@rule("<position> <the-unit>")
def part_of_the_unit(position: Position, whole: UnitAt) -> Part | None:
    return Part(position, whole) if whole.unit != "day" else None


fixed("end of the week", Part("end", UnitAt("week")), "by? eow")
fixed("end of the month", Part("end", UnitAt("month")), "by? eom")
fixed("end of the year", Part("end", UnitAt("year")), "by? eoy")


@rule("end of <unit>", "the? end of this <unit>")
def end_of_a_unit(unit: Unit) -> Part | None:
    return Part("end", UnitAt(unit, 0)) if unit in ("week", "month", "quarter", "year") else None


@rule("start|beginning of <unit>")
def start_of_a_unit(unit: Unit) -> Part | None:
    return Part("start", UnitAt(unit, 0)) if unit in ("week", "month", "quarter", "year") else None


add(
    "earlier in",
    lambda whole: HalfSoFar(whole, -1),
    "earlier <whole>",
    "earlier in <whole>",
    "earlier in|this <cycle>",
    "earlier on? in <the-unit>",
    "earlier <day>",
    "earlier <tonight>",
)
add(
    "later in",
    lambda whole: HalfSoFar(whole, 1),
    "later <whole>",
    "later in <whole>",
    "later in|this <cycle>",
    "later on? in <the-unit>",
    "later on? <day>",
    "later on? <tonight>",
)
add(
    "rest of", Rest, "the? rest|remainder|remaining of <the-unit>", "the? rest|remainder|remaining of <whole>"
)
add("rest of today", lambda day=TODAY: HalfSoFar(day, 1), "the? rest of <day>", "the? rest of the day")


@rule("so far this <unit>", "this <unit> so far", "the? <unit> to date")
def so_far(unit: Unit) -> ToDate | None:
    return ToDate(unit) if unit in _LONG else None


fixed("year to date", ToDate("year"), "ytd")
fixed("month to date", ToDate("month"), "mtd")


# Parts of the day


@rule("tonight", "tonite", "this <daypart>", gives="tonight")
def part_of_today(part: str = "night") -> PartOfDay:
    return PartOfDay(part, TODAY)


same("today at that time", "<tonight>")


@rule("last <daypart>")
def last_night(part: str) -> PartOfDay | None:
    return PartOfDay(part, UnitAt("day", -1)) if part in ("night", "evening") else None


fixed("night before last", PartOfDay("night", UnitAt("day", -2)), "the? night before last")


@rule("<time> 's? <daypart>", "<time> ,? in|at|around the? <daypart>", "<time> during the <daypart>")
def daypart_of_a_day(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, (PartOfDay, AtClock)) else PartOfDay(part, day)


@rule("<count> <dayparts> ago")
def dayparts_ago(count: Count, part: str) -> PartOfDay | None:
    """Three evenings ago."""
    return PartOfDay(part, Ago(amount(count, "day"), -1)) if count.low == count.high else None


@rule("<time> ,? early <daypart>", "<time> ,? early in the <daypart>", "in the early <daypart> of|on <time>")
def early_on_a_day(*parts: object) -> Part | None:
    return _part_of_daypart("early", *parts)


@rule("<time> ,? late <daypart>", "<time> ,? late in the <daypart>", "in the late <daypart> of|on <time>")
def late_on_a_day(*parts: object) -> Part | None:
    return _part_of_daypart("late", *parts)


def _part_of_daypart(position: Position, *parts: object) -> Part | None:
    day = next(part for part in parts if isinstance(part, Meaning))
    name = next(part for part in parts if isinstance(part, str))
    return None if isinstance(day, (PartOfDay, Part)) else Part(position, PartOfDay(name, day))


@rule("the? <daypart> of <time>", "in the <daypart> on? <time>", "<daypart> on <time>")
def daypart_of(part: str, day: Meaning) -> PartOfDay | None:
    return None if isinstance(day, PartOfDay) else PartOfDay(part, day)


same("first thing", "first thing <time>", "first thing in the? <time>", "bright and early <time>")
