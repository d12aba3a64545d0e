"""Times relative to a date mentioned before: two days later, the following week, the morning after."""

from __future__ import annotations

from everwhen.when.anaphora import Later, NextTo
from everwhen.when.calendar import Unit
from everwhen.when.cycles import Cycle, Holiday, Season, Weekday, Weekend
from everwhen.when.meaning import PartOfDay
from everwhen.when.offsets import Amount
from everwhen.when.parser import RuleBook

book = RuleBook()
add, rule = book.add, book.rule

_COMES_ROUND = (Weekday, Weekend, Season, Holiday)


@rule("<amount> later", "<amount> after that|this?", "<amount> afterwards|afterward")
def so_long_later(so_long: Amount) -> Later:
    return Later(so_long, 1)


add("so long earlier", lambda so_long: Later(so_long, -1), "<amount> earlier", "<amount> before that|this?")
add("the unit after", lambda unit: NextTo(unit, 1), "the following <unit>", "the <unit> after that|this?")


# The next day is never tomorrow; the next week may be.
add("the next unit", lambda unit: NextTo(unit, 1, of_a_story=unit != "day"), "the next <unit>")


@rule("the <unit> before that|this?", "the previous|preceding <unit>")
def the_unit_before(unit: Unit) -> NextTo:
    return NextTo(unit, -1)


@rule("the following <cycle>", "the <cycle> after that|this?")
def the_cycle_after(cycle: Cycle) -> NextTo | None:
    return NextTo(cycle, 1) if isinstance(cycle, _COMES_ROUND) else None


@rule("the next <cycle>")
def the_next_cycle(cycle: Cycle) -> NextTo | None:
    return NextTo(cycle, 1, of_a_story=True) if isinstance(cycle, _COMES_ROUND) else None


@rule("the <cycle> before that|this?")
def the_cycle_before(cycle: Cycle) -> NextTo | None:
    return NextTo(cycle, -1) if isinstance(cycle, _COMES_ROUND) else None


@rule("the? next|following <daypart>", "the <daypart> after that|this?")
def the_next_daypart(part: str) -> PartOfDay:
    return PartOfDay(part, NextTo("day", 1))


add("the daypart before", lambda part: PartOfDay(part, NextTo("day", -1)), "the <daypart> before that|this?")
