"""Recurring times: every Monday, every second Friday, twice a week, on weekends, daily."""

from __future__ import annotations

from everwhen.when.calendar import Unit
from everwhen.when.cycles import Cycle, DayOfMonth, Weekday, Weekend
from everwhen.when.parser import RuleBook
from everwhen.when.recurrence import Recurrence

book = RuleBook()
add, rule, fixed = book.add, book.rule, book.fixed


fixed("every", 1, "every|each", "every single", gives="every")
fixed("every other", 2, "every other|second|alternate", gives="every")
add("every nth", lambda step: step if step > 1 else None, "every <nth>", gives="every")


@rule("every <num> <units>", gives="recurrence")
def every_so_many(step: float, unit: Unit) -> Recurrence | None:
    return Recurrence(unit, int(step)) if step == int(step) and step >= 1 else None


add("every couple", lambda unit: Recurrence(unit, 2), "every couple of? <units>", gives="recurrence")
add("every few", lambda unit: Recurrence(unit, 3), "every few <units>", gives="recurrence")
add("every unit", lambda step, unit: Recurrence(unit, step), "<every> <unit>", gives="recurrence")


@rule("<every> <cycle>", gives="recurrence")
def every_cycle(step: int, cycle: Cycle) -> Recurrence:
    return Recurrence(cycle.every, step, cycle)


@rule("<every> <daypart>", gives="recurrence")
def every_daypart(step: int, part: str) -> Recurrence:
    return Recurrence("day", step, part=part)


@rule("<every> <weekday> <daypart>", gives="recurrence")
def every_weekday_part(step: int, day: int, part: str) -> Recurrence:
    return Recurrence("week", step, Weekday(day), part=part)


@rule("every the? <nth> of the month", "the <nth> of every|each month", gives="recurrence")
def every_day_of_the_month(day: int) -> Recurrence | None:
    return Recurrence("month", 1, DayOfMonth(day)) if 1 <= day <= 31 else None


@rule("the? <nth> <weekday> of every|each month", gives="recurrence")
def nth_weekday_of_months(number: int, day: int) -> Recurrence:
    return Recurrence("month", 1, Weekday(day), nth=number)


@rule("the? last <weekday> of every|each month", gives="recurrence")
def last_weekday_of_months(day: int) -> Recurrence:
    return Recurrence("month", 1, Weekday(day), nth=-1)


add("on weekdays", lambda day: Recurrence("week", 1, Weekday(day)), "on? <weekdays>", gives="recurrence")


@rule("on? <weekday> <dayparts>", gives="recurrence")
def weekday_nights(day: int, part: str) -> Recurrence:
    return Recurrence("week", 1, Weekday(day), part=part)


@rule("on|at? the? <weekends>", gives="recurrence")
def on_weekends(weekend: Weekend) -> Recurrence:
    return Recurrence("week", 1, weekend)


fixed(
    "on workdays",
    Recurrence("week", 1, workdays=True),
    "on? weekdays|workdays",
    "every|each weekday|workday",
    gives="recurrence",
)
fixed("once", 1, "once", gives="times")
fixed("twice", 2, "twice", gives="times")
fixed("thrice", 3, "thrice", gives="times")


@rule("<num> times", gives="times")
def so_many_times(number: float) -> int | None:
    return int(number) if number == int(number) and 0 < number < 1000 else None


@rule("<times> a|an|per|every|each <unit>", gives="recurrence")
def times_a_unit(times: int, unit: Unit) -> Recurrence:
    return Recurrence(unit, 1, times=times)


fixed("daily", Recurrence("day"), "daily|nightly", gives="recurrence")
fixed("weekly", Recurrence("week"), "weekly", gives="recurrence")
fixed("biweekly", Recurrence("week", 2), "biweekly|fortnightly", gives="recurrence")
fixed("monthly", Recurrence("month"), "monthly", gives="recurrence")
fixed("quarterly", Recurrence("quarter"), "quarterly", gives="recurrence")
fixed("yearly", Recurrence("year"), "yearly|annually", gives="recurrence")
