"""Times relative to a date mentioned before: two days later, the following week, the morning after."""

from __future__ import annotations

from everwhen.when.anaphora import Later, NextTo
from everwhen.when.calendar import Unit
from everwhen.when.cycles import Cycle, Holiday, Season, Weekday, Weekend
from everwhen.when.meaning import PartOfDay
from everwhen.when.offsets import Amount
from everwhen.when.parser import RuleBook

book = RuleBook()
rule = book.rule

_COMES_ROUND = (Weekday, Weekend, Season, Holiday)


@rule("<amount> later", "<amount> after that|this?", "<amount> afterwards|afterward")
def so_long_later(so_long: Amount) -> Later:
    return Later(so_long, 1)


@rule("<amount> earlier", "<amount> before that|this?")
def so_long_earlier(so_long: Amount) -> Later:
    return Later(so_long, -1)


@rule("the following <unit>", "the <unit> after that|this?")
def the_unit_after(unit: Unit) -> NextTo:
    return NextTo(unit, 1)


@rule("the next <unit>")
def the_next_unit(unit: Unit) -> NextTo:
    """The next day is never tomorrow; the next week may be."""
    return NextTo(unit, 1, of_a_story=unit != "day")


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


@rule("the <daypart> before that|this?")
def the_daypart_before(part: str) -> PartOfDay:
    return PartOfDay(part, NextTo("day", -1))
