"""Recurring times: every Monday, every second Friday, twice a week, on weekends, daily."""

from __future__ import annotations

from functools import partial

from everwhen_time.calendar import Unit
from everwhen_time.cycles import DayOfMonth, Weekday
from everwhen_time.parser import RuleBook
from everwhen_time.reference import Recurrence

book = RuleBook()
add, fixed = book.add, book.fixed
again = partial(add, gives="recurrence")


def _whole(number: float, *_: Unit) -> bool:
    return number == int(number) and number >= 1


fixed("every", 1, "every|each", "every single", gives="every")
fixed("every other", 2, "every other|second|alternate", gives="every")
add("every nth", lambda step: step if step > 1 else None, "every <nth>", gives="every")
again("every so many", lambda step, unit: Recurrence(unit, int(step)), "every <num> <units>", where=_whole)
again("every couple", lambda unit: Recurrence(unit, 2), "every couple of? <units>")
again("every few", lambda unit: Recurrence(unit, 3), "every few <units>")
again("every unit", lambda step, unit: Recurrence(unit, step), "<every> <unit>")
again("every cycle", lambda step, cycle: Recurrence(cycle.every, step, cycle), "<every> <cycle>")
again("every daypart", lambda step, part: Recurrence("day", step, part=part), "<every> <daypart>")
again(
    "every weekday part",
    lambda step, day, part: Recurrence("week", step, Weekday(day), part=part),
    "<every> <weekday> <daypart>",
)
again(
    "every day of the month",
    lambda day: Recurrence("month", 1, DayOfMonth(day)),
    "every the? <nth> of the month",
    "the <nth> of every|each month",
    where=lambda day: 1 <= day <= 31,
)
again(
    "nth weekday of months",
    lambda number, day: Recurrence("month", 1, Weekday(day), nth=number),
    "the? <nth> <weekday> of every|each month",
)
again(
    "last weekday of months",
    lambda day: Recurrence("month", 1, Weekday(day), nth=-1),
    "the? last <weekday> of every|each month",
)
again("on weekdays", lambda day: Recurrence("week", 1, Weekday(day)), "on? <weekdays>")
again(
    "weekday nights",
    lambda day, part: Recurrence("week", 1, Weekday(day), part=part),
    "on? <weekday> <dayparts>",
)
again("on weekends", lambda weekend: Recurrence("week", 1, weekend), "on|at? the? <weekends>")
_WORKDAYS = ("on? weekdays|workdays", "every|each weekday|workday")
again("on workdays", lambda: Recurrence("week", 1, workdays=True), *_WORKDAYS)
for _times, _word in enumerate(("once", "twice", "thrice"), 1):
    fixed(_word, _times, _word, gives="times")
add("so many times", int, "<num> times", gives="times", where=lambda number: number in range(1, 1000))
again(
    "times a unit", lambda times, unit: Recurrence(unit, 1, times=times), "<times> a|an|per|every|each <unit>"
)
again("daily", lambda: Recurrence("day"), "daily|nightly")
again("weekly", lambda: Recurrence("week"), "weekly")
again("biweekly", lambda: Recurrence("week", 2), "biweekly|fortnightly")
again("monthly", lambda: Recurrence("month"), "monthly")
again("quarterly", lambda: Recurrence("quarter"), "quarterly")
again("yearly", lambda: Recurrence("year"), "yearly|annually")
