"""Parts of a longer time: early June, the second half of 2021, later this week, Friday morning."""

from __future__ import annotations

from datetime import datetime

from everwhen_time.cycles import DayOfMonth
from everwhen_time.meaning import (
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
from everwhen_time.offsets import TODAY, Ago, Count, Window, amount
from everwhen_time.parser import Make, RuleBook, not_ending_in
from everwhen_time.rules.relative import is_long, week_to_year

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same


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


add("part of a time", Part, "<position> the? <time>", where=not_ending_in(Part, Window, DayOfMonth))


@rule("<position> <decade>", "<position> <decade-word>")
def part_of_a_decade(position: Position, decade: Fixed | int) -> Part:
    return Part(position, decade if isinstance(decade, Fixed) else Fixed(datetime(decade, 1, 1), "decade"))


add("part of the unit", Part, "<position> <the-unit>", where=lambda _, whole: whole.unit != "day")


fixed("end of the week", Part("end", UnitAt("week")), "by? eow")
fixed("end of the month", Part("end", UnitAt("month")), "by? eom")
fixed("end of the year", Part("end", UnitAt("year")), "by? eoy")


def _of(position: Position) -> Make:
    return lambda unit: Part(position, UnitAt(unit))


add("end of a unit", _of("end"), "end of <unit>", "the? end of this <unit>", where=week_to_year)


add("start of a unit", _of("start"), "start|beginning of <unit>", where=week_to_year)


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


add("so far", ToDate, "so far this <unit>", "this <unit> so far", "the? <unit> to date", where=is_long)


fixed("year to date", ToDate("year"), "ytd")
fixed("month to date", ToDate("month"), "mtd")


# Parts of the day


add(
    "part of today",
    lambda part="night": PartOfDay(part, TODAY),
    "tonight|tonite",
    "this <daypart>",
    gives="tonight",
)


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


def _part_of_daypart(position: Position) -> Make:
    def part_of_daypart(*parts: object) -> Part | None:
        day = next(part for part in parts if isinstance(part, Meaning))
        name = next(part for part in parts if isinstance(part, str))
        return None if isinstance(day, (PartOfDay, Part)) else Part(position, PartOfDay(name, day))

    return part_of_daypart


_EARLY = (
    "<time> ,? early <daypart>",
    "<time> ,? early in the <daypart>",
    "in the early <daypart> of|on <time>",
)
add("early on a day", _part_of_daypart("early"), *_EARLY)
_LATE = ("<time> ,? late <daypart>", "<time> ,? late in the <daypart>", "in the late <daypart> of|on <time>")
add("late on a day", _part_of_daypart("late"), *_LATE)


_DAYPART_OF = ("the? <daypart> of <time>", "in the <daypart> on? <time>", "<daypart> on <time>")
add("daypart of", PartOfDay, *_DAYPART_OF, where=not_ending_in(PartOfDay))


same("first thing", "first thing <time>", "first thing in the? <time>", "bright and early <time>")
