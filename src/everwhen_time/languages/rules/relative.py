"""Times counted from now: letzte Woche, el viernes que viene, il y a trois jours, tra due mesi, gisteravond."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from everwhen_time.calendar import Unit
from everwhen_time.cycles import Coming, Cycle, Pick, Weekday, Within
from everwhen_time.meaning import HalfSoFar, Meaning, PartOfDay, Rest, Sign, UnitAt
from everwhen_time.parser import Make, SharedRules, turned
from everwhen_time.reference import Recurrence
from everwhen_time.rules.anchored import weekday_of_a_week
from everwhen_time.rules.parts import last_night
from everwhen_time.rules.relative import cycle_after_next, cycle_before_last, is_long

book = SharedRules()
add, rule, same = book.add, book.rule, book.same


def _is_long(unit: Unit) -> bool:
    return is_long(unit) or unit == "half"


def _unit(offset: int) -> Make:
    return lambda unit: UnitAt(unit, offset) if _is_long(unit) else None


def _half(sign: Sign) -> Make:
    """The half so far or to come of a unit that the present one is of."""
    known = (UnitAt("week"), UnitAt("month"), UnitAt("year"))
    return lambda whole: HalfSoFar(whole, sign) if whole in known else None


same("as in english", "<said>", bare=None)
same("a day", "<day>")


# Last, this, next


add("last unit", _unit(-1), "<last> <unit>", "<unit> <last>", gives="whole")
add("this unit", _unit(0), "<this> <unit>", "<unit> <this>", gives="whole")
add("next unit", _unit(1), "<next>|<coming> <unit>", "<unit> <next>|<coming>", gives="whole")
add("unit before last", _unit(-2), "<before-last> <unit>", "<unit> <before-last>", gives="whole")
add("unit after next", _unit(2), "<after-next> <unit>", "<unit> <after-next>", gives="whole")
same("during behind", gives="whole")
add("last cycle", partial(Pick, "last"), "<last> <cycle>", "<cycle> <last>")
add("this cycle", partial(Pick, "this"), "<this> <cycle>", "<cycle> <this>")
add("next cycle", partial(Pick, "next"), "<next> <cycle>", "<cycle> <next>")
add("coming cycle", Coming, "<coming> <cycle>", "<cycle> <coming>")
add("cycle before last", cycle_before_last, "<before-last> <cycle>", "<cycle> <before-last>")
add("cycle after next", cycle_after_next, "<after-next> <cycle>", "<cycle> <after-next>")


# Where a weekday is told with its week (上周五), it is that week's, and not the latest that was.


def _weekday(offset: int) -> Make:
    return lambda day: Within(Weekday(day), UnitAt("week", offset))


add("weekday of last week", _weekday(-1), "<last> <week-day>")
add("weekday of this week", _weekday(0), "<this> <week-day>")
add("weekday of next week", _weekday(1), "<next> <week-day>")
add("weekday of the week before last", _weekday(-2), "<before-last> <week-day>")
add("weekday of the week after next", _weekday(2), "<after-next> <week-day>")
add("coming weekday", lambda day: Coming(Weekday(day)), "<coming> <week-day>")
add("weekday in a week", weekday_of_a_week, "<whole> <of>? <week-day>")
add("only weekday", Weekday, "<week-day>")
add("weekly", lambda day: Recurrence("week", on=Weekday(day)), "<each-weekday>", gives="recurrence")
add(
    "every weekday", lambda day: Recurrence("week", on=Weekday(day)), "<every> <week-day>", gives="recurrence"
)


add(
    "rest of a unit",
    lambda unit: Rest(UnitAt(unit)),
    "<rest> <of>? <on>? <unit>",
    "<rest> <of>? <on>? <this> <unit>",
    where=_is_long,
)


add("rest of", Rest, "<rest> <of>? <on>? <whole>")


add("earlier in", _half(-1), "<whole> <earlier>", "<earlier> <in>? <whole>")


add("later in", _half(1), "<whole> <later>", "<later> <in>? <whole>")


# Parts of a day


@rule("<day> <part>", "<day> <at-part> <part>", "<time> <part>", "<time> <at-part> <part>")
def part_of_a_day(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, (PartOfDay, UnitAt)) and not _is_day(day) else PartOfDay(part, day)


def _is_day(day: Meaning) -> bool:
    return isinstance(day, UnitAt) and day.unit == "day"


add(
    "part of",
    turned(part_of_a_day),
    "<part> <of> <on>? <time>",
    "<at-part> <part> <of> <on>? <time>",
    "<part> <on> <time>",
)
add("part of today", lambda part: PartOfDay(part, UnitAt("day")), "<this> <part>", gives="day")


def _weekday_part(pick: Callable[[Cycle], Meaning]) -> Make:
    return lambda found: PartOfDay(found.part, pick(found.day))


add("last weekday part", _weekday_part(partial(Pick, "last")), "<last> <weekday-part>")
add("this weekday part", _weekday_part(partial(Pick, "this")), "<this> <weekday-part>")
add("next weekday part", _weekday_part(partial(Pick, "next")), "<next> <weekday-part>")
add("coming weekday part", _weekday_part(Coming), "<coming> <weekday-part>")
add("part of yesterday", last_night, "<last> <part>", "<part> <last>")


# Again and again


add("every cycle", lambda cycle: Recurrence(cycle.every, on=cycle), "<every> <cycle>", gives="recurrence")
add("every unit", Recurrence, "<every> <unit>", "<every> <units>", gives="recurrence")


add(
    "every nth cycle",
    lambda step, cycle: Recurrence(cycle.every, step, cycle) if step > 1 else None,
    "<every> <nth> <cycle>",
    gives="recurrence",
)


add(
    "nth weekday of months",
    lambda number, day, unit: Recurrence("month", 1, Weekday(day), nth=number) if unit == "month" else None,
    "<every> <nth> <weekday> <of> <on>? <unit>",
    "<every> <nth> <weekday> <in> <on>? <unit>",
    "<every> <nth> <weekday> <on> <unit>",
    gives="recurrence",
)


add(
    "every nth unit",
    lambda step, unit: Recurrence(unit, step) if step > 1 else None,
    "<every> <nth> <unit>",
    gives="recurrence",
)


@rule("<every> <num> <units>", gives="recurrence")
def every_so_many(count: int, unit: Unit) -> Recurrence | None:
    return Recurrence(unit, count) if count else None


add("every part", lambda part: Recurrence("day", part=part), "<every> <part>", gives="recurrence")
