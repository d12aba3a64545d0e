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
rule = book.rule

_LONG: tuple[Unit, ...] = ("week", "month", "quarter", "year", "decade", "century")


@rule("the? early", gives="position")
def early() -> Position:
    return "early"


@rule("the? very? beginning|start|opening of", gives="position")
def start() -> Position:
    return "start"


@rule("mid -?", "the mid -?", "middle of", "the middle of", "midway through", gives="position")
def middle() -> Position:
    return "mid"


@rule("the? late", gives="position")
def late() -> Position:
    return "late"


@rule("the? very? end|close of", "the? tail|back end of", gives="position")
def end() -> Position:
    return "end"


@rule("early in|on", "early -", gives="position")
def early_in() -> Position:
    return "early"


@rule("late in|on", "late -", gives="position")
def late_in() -> Position:
    return "late"


@rule("the? first half of", gives="position")
def first_half() -> Position:
    return "first half"


@rule("the? second|latter|last half of", gives="position")
def second_half() -> Position:
    return "second half"


@rule("<position> the? <time>")
def part_of_a_time(position: Position, whole: Meaning) -> Part | None:
    return None if isinstance(whole, (Part, Window, DayOfMonth)) else Part(position, whole)


@rule("<position> <decade>", "<position> <decade-word>")
def part_of_a_decade(position: Position, decade: Fixed | int) -> Part:
    return Part(position, decade if isinstance(decade, Fixed) else Fixed(datetime(decade, 1, 1), "decade"))


@rule("<position> <the-unit>")
def part_of_the_unit(position: Position, whole: UnitAt) -> Part | None:
    return Part(position, whole) if whole.unit != "day" else None


@rule("by? eow")
def end_of_the_week() -> Part:
    return Part("end", UnitAt("week"))


@rule("by? eom")
def end_of_the_month() -> Part:
    return Part("end", UnitAt("month"))


@rule("by? eoy")
def end_of_the_year() -> Part:
    return Part("end", UnitAt("year"))


@rule("end of <unit>", "the? end of this <unit>")
def end_of_a_unit(unit: Unit) -> Part | None:
    return Part("end", UnitAt(unit, 0)) if unit in ("week", "month", "quarter", "year") else None


@rule("start|beginning of <unit>")
def start_of_a_unit(unit: Unit) -> Part | None:
    return Part("start", UnitAt(unit, 0)) if unit in ("week", "month", "quarter", "year") else None


@rule(
    "earlier <whole>",
    "earlier in <whole>",
    "earlier in|this <cycle>",
    "earlier on? in <the-unit>",
    "earlier <day>",
    "earlier <tonight>",
)
def earlier_in(whole: Meaning) -> HalfSoFar | None:
    return HalfSoFar(whole, -1)


@rule(
    "later <whole>",
    "later in <whole>",
    "later in|this <cycle>",
    "later on? in <the-unit>",
    "later on? <day>",
    "later on? <tonight>",
)
def later_in(whole: Meaning) -> HalfSoFar | None:
    return HalfSoFar(whole, 1)


@rule("the? rest|remainder|remaining of <the-unit>", "the? rest|remainder|remaining of <whole>")
def rest_of(whole: Meaning) -> Rest:
    return Rest(whole)


@rule("the? rest of <day>", "the? rest of the day")
def rest_of_today(day: UnitAt = TODAY) -> HalfSoFar:
    return HalfSoFar(day, 1)


@rule("so far this <unit>", "this <unit> so far", "the? <unit> to date")
def so_far(unit: Unit) -> ToDate | None:
    return ToDate(unit) if unit in _LONG else None


@rule("ytd")
def year_to_date() -> ToDate:
    return ToDate("year")


@rule("mtd")
def month_to_date() -> ToDate:
    return ToDate("month")


# Parts of the day


@rule("tonight", "tonite", "this <daypart>", gives="tonight")
def part_of_today(part: str = "night") -> PartOfDay:
    return PartOfDay(part, TODAY)


@rule("<tonight>")
def today_at_that_time(found: PartOfDay) -> PartOfDay:
    return found


@rule("last <daypart>")
def last_night(part: str) -> PartOfDay | None:
    return PartOfDay(part, UnitAt("day", -1)) if part in ("night", "evening") else None


@rule("the? night before last")
def night_before_last() -> PartOfDay:
    return PartOfDay("night", UnitAt("day", -2))


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


@rule("first thing <time>", "first thing in the? <time>", "bright and early <time>")
def first_thing(found: Meaning) -> Meaning:
    return found
