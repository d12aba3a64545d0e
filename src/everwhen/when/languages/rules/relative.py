"""Times counted from now: letzte Woche, el viernes que viene, il y a trois jours, tra due mesi, gisteravond."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from everwhen.when.calendar import Unit
from everwhen.when.cycles import Coming, Cycle, Pick, Weekday, Within
from everwhen.when.languages.rules.shared import SharedRules
from everwhen.when.meaning import (
    HalfSoFar,
    Meaning,
    PartOfDay,
    Rest,
    UnitAt,
)
from everwhen.when.parser import turned
from everwhen.when.recurrence import Recurrence
from everwhen.when.rules.anchored import weekday_of_a_week
from everwhen.when.rules.parts import last_night
from everwhen.when.rules.relative import cycle_after_next, cycle_before_last

book = SharedRules()
rule, same = book.rule, book.same

_LONG = frozenset({"week", "month", "quarter", "half", "year", "decade", "century"})


same("as in english", "<said>", bare=None)
same("a day", "<day>")


# Last, this, next


def _unit(offset: int) -> Callable[[Unit], UnitAt | None]:
    return lambda unit: UnitAt(unit, offset) if unit in _LONG else None


rule("<last> <unit>", "<unit> <last>", gives="whole", name="last unit")(_unit(-1))
rule("<this> <unit>", "<unit> <this>", gives="whole", name="this unit")(_unit(0))
rule("<next>|<coming> <unit>", "<unit> <next>|<coming>", gives="whole", name="next unit")(_unit(1))
rule("<before-last> <unit>", "<unit> <before-last>", gives="whole", name="unit before last")(_unit(-2))
rule("<after-next> <unit>", "<unit> <after-next>", gives="whole", name="unit after next")(_unit(2))
same("during behind", gives="whole")
rule("<last> <cycle>", "<cycle> <last>", name="last cycle")(partial(Pick, "last"))
rule("<this> <cycle>", "<cycle> <this>", name="this cycle")(partial(Pick, "this"))
rule("<next> <cycle>", "<cycle> <next>", name="next cycle")(partial(Pick, "next"))
rule("<coming> <cycle>", "<cycle> <coming>", name="coming cycle")(Coming)
rule("<before-last> <cycle>", "<cycle> <before-last>")(cycle_before_last)
rule("<after-next> <cycle>", "<cycle> <after-next>")(cycle_after_next)


# Where a weekday is told with its week (上周五), it is that week's, and not the latest that was.


def _weekday(offset: int) -> Callable[[int], Within]:
    return lambda day: Within(Weekday(day), UnitAt("week", offset))


rule("<last> <week-day>", name="weekday of last week")(_weekday(-1))
rule("<this> <week-day>", name="weekday of this week")(_weekday(0))
rule("<next> <week-day>", name="weekday of next week")(_weekday(1))
rule("<before-last> <week-day>", name="weekday of the week before last")(_weekday(-2))
rule("<after-next> <week-day>", name="weekday of the week after next")(_weekday(2))


@rule("<coming> <week-day>")
def coming_weekday(day: int) -> Coming:
    return Coming(Weekday(day))


rule("<whole> <of>? <week-day>", name="weekday in a week")(weekday_of_a_week)
rule("<week-day>", name="only weekday")(Weekday)


@rule("<every> <week-day>", gives="recurrence")
@rule("<each-weekday>", gives="recurrence", name="weekly")
def every_weekday(day: int) -> Recurrence:
    return Recurrence("week", on=Weekday(day))


@rule("<rest> <of>? <on>? <unit>", "<rest> <of>? <on>? <this> <unit>")
def rest_of_a_unit(unit: Unit) -> Rest | None:
    return Rest(UnitAt(unit)) if unit in _LONG else None


rule("<rest> <of>? <on>? <whole>", name="rest of")(Rest)


@rule("<whole> <earlier>", "<earlier> <whole>", "<earlier> <in>? <whole>")
def earlier_in(whole: Meaning) -> HalfSoFar | None:
    return HalfSoFar(whole, -1) if whole in (UnitAt("week"), UnitAt("month"), UnitAt("year")) else None


@rule("<whole> <later>", "<later> <whole>", "<later> <in>? <whole>")
def later_in(whole: Meaning) -> HalfSoFar | None:
    return HalfSoFar(whole, 1) if whole in (UnitAt("week"), UnitAt("month"), UnitAt("year")) else None


# Parts of a day


@rule("<day> <part>", "<day> <at-part> <part>", "<time> <part>", "<time> <at-part> <part>")
def part_of_a_day(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, (PartOfDay, UnitAt)) and not _is_day(day) else PartOfDay(part, day)


def _is_day(day: Meaning) -> bool:
    return isinstance(day, UnitAt) and day.unit == "day"


rule("<part> <of> <on>? <time>", "<at-part> <part> <of> <on>? <time>", "<part> <on> <time>", name="part of")(
    turned(part_of_a_day)
)


@rule("<this> <part>", gives="day")
def part_of_today(part: str) -> PartOfDay:
    return PartOfDay(part, UnitAt("day"))


def _weekday_part(pick: Callable[[Cycle], Meaning]) -> Callable[[PartOfDay], PartOfDay]:
    def picked(found: PartOfDay) -> PartOfDay:
        assert isinstance(found.day, Cycle)
        return PartOfDay(found.part, pick(found.day))

    return picked


rule("<last> <weekday-part>", name="last weekday part")(_weekday_part(partial(Pick, "last")))
rule("<this> <weekday-part>", name="this weekday part")(_weekday_part(partial(Pick, "this")))
rule("<next> <weekday-part>", name="next weekday part")(_weekday_part(partial(Pick, "next")))
rule("<coming> <weekday-part>", name="coming weekday part")(_weekday_part(Coming))
rule("<last> <part>", "<part> <last>", name="part of yesterday")(last_night)


# Again and again


@rule("<every> <cycle>", gives="recurrence")
def every_cycle(cycle: Cycle) -> Recurrence:
    return Recurrence(cycle.every, on=cycle)


@rule("<every> <unit>", "<every> <units>", gives="recurrence")
def every_unit(unit: Unit) -> Recurrence:
    return Recurrence(unit)


@rule("<every> <nth> <cycle>", gives="recurrence")
def every_nth_cycle(step: int, cycle: Cycle) -> Recurrence | None:
    return Recurrence(cycle.every, step, cycle) if step > 1 else None


@rule(
    "<every> <nth> <weekday> <of> <on>? <unit>",
    "<every> <nth> <weekday> <in> <on>? <unit>",
    "<every> <nth> <weekday> <on> <unit>",
    gives="recurrence",
)
def nth_weekday_of_months(number: int, day: int, unit: Unit) -> Recurrence | None:
    return Recurrence("month", 1, Weekday(day), nth=number) if unit == "month" else None


@rule("<every> <nth> <unit>", gives="recurrence")
def every_nth_unit(step: int, unit: Unit) -> Recurrence | None:
    return Recurrence(unit, step) if step > 1 else None


@rule("<every> <num> <units>", gives="recurrence")
def every_so_many(count: int, unit: Unit) -> Recurrence | None:
    return Recurrence(unit, count) if count else None


@rule("<every> <part>", gives="recurrence")
def every_part(part: str) -> Recurrence:
    return Recurrence("day", part=part)
