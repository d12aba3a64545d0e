"""Times counted from now: letzte Woche, el viernes que viene, il y a trois jours, tra due mesi, gisteravond."""

from __future__ import annotations

from everwhen.when.calendar import Unit
from everwhen.when.cycles import Coming, Counted, Cycle, Pick, Weekday, Which, Within
from everwhen.when.languages.rules.shared import SharedRules
from everwhen.when.meaning import (
    HalfSoFar,
    Meaning,
    PartOfDay,
    Rest,
    UnitAt,
)
from everwhen.when.recurrence import Recurrence

book = SharedRules()
rule = book.rule

_LONG = frozenset({"week", "month", "quarter", "half", "year", "decade", "century"})


@rule("<said>", bare=None)
def as_in_english(found: Meaning) -> Meaning:
    return found


@rule("<day>")
def a_day(day: Meaning) -> Meaning:
    return day


# Last, this, next


def _whole(unit: Unit, offset: int) -> UnitAt | None:
    return UnitAt(unit, offset) if unit in _LONG else None


@rule("<last> <unit>", "<unit> <last>", gives="whole")
def last_unit(unit: Unit) -> UnitAt | None:
    return _whole(unit, -1)


@rule(gives="whole")
def during_behind(found: Meaning) -> Meaning:
    return found


@rule("<this> <unit>", "<unit> <this>", gives="whole")
def this_unit(unit: Unit) -> UnitAt | None:
    return _whole(unit, 0)


@rule("<next> <unit>", "<unit> <next>", "<coming> <unit>", "<unit> <coming>", gives="whole")
def next_unit(unit: Unit) -> UnitAt | None:
    return _whole(unit, 1)


@rule("<before-last> <unit>", "<unit> <before-last>", gives="whole")
def unit_before_last(unit: Unit) -> UnitAt | None:
    return _whole(unit, -2)


@rule("<after-next> <unit>", "<unit> <after-next>", gives="whole")
def unit_after_next(unit: Unit) -> UnitAt | None:
    return _whole(unit, 2)


@rule("<last> <cycle>", "<cycle> <last>")
def last_cycle(cycle: Cycle) -> Pick:
    return Pick("last", cycle)


@rule("<this> <cycle>", "<cycle> <this>")
def this_cycle(cycle: Cycle) -> Pick:
    return Pick("this", cycle)


@rule("<next> <cycle>", "<cycle> <next>")
def next_cycle(cycle: Cycle) -> Pick:
    return Pick("next", cycle)


@rule("<coming> <cycle>", "<cycle> <coming>")
def coming_cycle(cycle: Cycle) -> Coming:
    return Coming(cycle)


@rule("<before-last> <cycle>", "<cycle> <before-last>")
def cycle_before_last(cycle: Cycle) -> Counted:
    return Counted(cycle, -2)


@rule("<after-next> <cycle>", "<cycle> <after-next>")
def cycle_after_next(cycle: Cycle) -> Counted:
    return Counted(cycle, 2)


# Where a weekday is told with its week (上周五), it is that week's, and not the latest that was.


@rule("<last> <week-day>")
def weekday_of_last_week(day: int) -> Within:
    return Within(Weekday(day), UnitAt("week", -1))


@rule("<this> <week-day>")
def weekday_of_this_week(day: int) -> Within:
    return Within(Weekday(day), UnitAt("week"))


@rule("<next> <week-day>")
def weekday_of_next_week(day: int) -> Within:
    return Within(Weekday(day), UnitAt("week", 1))


@rule("<before-last> <week-day>")
def weekday_of_the_week_before_last(day: int) -> Within:
    return Within(Weekday(day), UnitAt("week", -2))


@rule("<after-next> <week-day>")
def weekday_of_the_week_after_next(day: int) -> Within:
    return Within(Weekday(day), UnitAt("week", 2))


@rule("<coming> <week-day>")
def coming_weekday(day: int) -> Coming:
    return Coming(Weekday(day))


@rule("<whole> <of>? <week-day>")
def weekday_in_a_week(week: Meaning, day: int) -> Within:
    return Within(Weekday(day), week)


@rule("<week-day>")
def only_weekday(day: int) -> Weekday:
    return Weekday(day)


@rule("<every> <week-day>", gives="recurrence")
def every_weekday(day: int) -> Recurrence:
    return Recurrence("week", on=Weekday(day))


@rule("<rest> <of>? <on>? <unit>", "<rest> <of>? <on>? <this> <unit>")
def rest_of_a_unit(unit: Unit) -> Rest | None:
    return Rest(UnitAt(unit)) if unit in _LONG else None


@rule("<rest> <of>? <on>? <whole>")
def rest_of(whole: Meaning) -> Rest:
    return Rest(whole)


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


@rule("<part> <of> <on>? <time>", "<at-part> <part> <of> <on>? <time>", "<part> <on> <time>")
def part_of(part: str, day: Meaning) -> PartOfDay | None:
    return part_of_a_day(day, part)  # type: ignore[return-value]


@rule("<this> <part>", gives="day")
def part_of_today(part: str) -> PartOfDay:
    return PartOfDay(part, UnitAt("day"))


@rule("<last> <weekday-part>")
def last_weekday_part(found: PartOfDay) -> PartOfDay:
    return _picked("last", found)


@rule("<this> <weekday-part>")
def this_weekday_part(found: PartOfDay) -> PartOfDay:
    return _picked("this", found)


@rule("<next> <weekday-part>")
def next_weekday_part(found: PartOfDay) -> PartOfDay:
    return _picked("next", found)


@rule("<coming> <weekday-part>")
def coming_weekday_part(found: PartOfDay) -> PartOfDay:
    assert isinstance(found.day, Cycle)
    return PartOfDay(found.part, Coming(found.day))


def _picked(which: Which, found: PartOfDay) -> PartOfDay:
    assert isinstance(found.day, Cycle)
    return PartOfDay(found.part, Pick(which, found.day))


@rule("<last> <part>", "<part> <last>")
def part_of_yesterday(part: str) -> PartOfDay | None:
    return PartOfDay(part, UnitAt("day", -1)) if part in ("night", "evening") else None


@rule("<next> <part>", "<part> <next>")
def next_part(part: str) -> None:
    """The next morning counts from what was told before."""
    return


# Again and again


@rule("<every> <cycle>", gives="recurrence")
def every_cycle(cycle: Cycle) -> Recurrence:
    return Recurrence(cycle.every, on=cycle)


@rule("<each-weekday>", gives="recurrence")
def weekly(day: int) -> Recurrence:
    return Recurrence("week", on=Weekday(day))


@rule("<every> <unit>", "<every> <units>", gives="recurrence")
def every_unit(unit: Unit) -> Recurrence:
    return Recurrence(unit)


@rule("<every> <num> <units>", gives="recurrence")
def every_so_many(count: int, unit: Unit) -> Recurrence | None:
    return Recurrence(unit, count) if count else None


@rule("<every> <part>", gives="recurrence")
def every_part(part: str) -> Recurrence:
    return Recurrence("day", part=part)
