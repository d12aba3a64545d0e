"""Parts of a longer time: verano de 2022, the last week of July, Ende Mai, 五月初, im Mai."""

from __future__ import annotations

from everwhen_time.bounded import Between, WrittenDate
from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    Cycle,
    DayOfMonth,
    MonthDay,
    Months,
    Season,
    SlashDay,
    Weekday,
    Weekend,
    Within,
)
from everwhen_time.meaning import Fixed, Meaning, Part, Position, UnitAt
from everwhen_time.offsets import EdgeOf, Nth, UnitOf
from everwhen_time.parser import SharedRules, turned
from everwhen_time.rules.bounds import days_of
from everwhen_time.rules.dates import day_at, year

book = SharedRules()
add, rule, same = book.add, book.rule, book.same

# One of something that comes round, in something longer


@rule("<cycle> ,? <of>? <year>", "<cycle> <of>? <years> <year>", "<cycle> - <year>")
def cycle_and_year(cycle: Cycle, number: int) -> Within | None:
    return Within(cycle, year(number)) if cycle.every == "year" and not isinstance(cycle, MonthDay) else None


@rule("<year> <cycle>", "<year> - <quarterly>")
def year_and_cycle(number: int, cycle: Cycle) -> Within | None:
    return Within(cycle, year(number)) if isinstance(cycle, (Season, Months)) else None


@rule("<cycle> ,? <of>? <on>? <whole>", "<cycle> <in> <whole>")
def cycle_within(cycle: Cycle, whole: Meaning) -> Within | None:
    return (
        None
        if isinstance(whole, Fixed) and whole.unit == "year" and cycle.every != "year"
        else Within(cycle, whole)
    )


@rule("<whole> ,? <on>? <cycle>", "<whole> <in> <cycle>", "<whole> <of> <cycle>")
def within_cycle(whole: Meaning, cycle: Cycle) -> Within | None:
    if isinstance(whole, Fixed):  # "2019 Freitag": two things
        return None
    return Within(cycle, whole)


@rule("<dayn> <of> <on>? <whole>", "<dayn> <day-word> <of> <on>? <whole>", "<dayn> <whole>")
def day_in_a_month(day: int, month: Meaning) -> Within | None:
    known = isinstance(month, (UnitAt, Fixed)) and month.unit == "month"
    return Within(DayOfMonth(day), month) if known else None


@rule("<dayn> <of> <on>? <unit>", "<dayn> <of> <this> <unit>")
def day_of_this_month(day: int, unit: Unit) -> Within | None:
    return Within(DayOfMonth(day), UnitAt("month")) if unit == "month" else None


@rule("<nth> <unit> <of> <on>? <time>", "<nth> <unit> <in>? <time>", "<nth> <unit> <in> <on> <time>")
@rule("<num> . <unit> <of>? <on>? <time>")
def nth_unit(number: int, unit: Unit, whole: Meaning) -> Nth | None:
    return Nth(number, unit, whole) if unit in ("day", "week", "month", "year", "decade") else None


@rule("<unit> <of> <on>? <time>", "<unit> <on> <time>")
def week_around(unit: Unit, anchor: Meaning) -> UnitOf | None:
    return UnitOf(unit, anchor) if unit == "week" and _is_date(anchor) else None


def _is_date(anchor: Meaning) -> bool:
    if isinstance(anchor, Fixed):
        return anchor.unit == "day"
    return isinstance(anchor, (MonthDay, SlashDay, WrittenDate))


@rule(
    "<nth> <half-part> <of> <on>? <time>",
    "<nth> <half-part> <of>? <on>? <unit>",
    "<nth> <fortnight> <of> <on>? <time>",
)
def half_of(number: int, whole: Meaning | Unit) -> Part | None:
    if isinstance(whole, str):
        whole = UnitAt(whole)
    position: Position = "first half" if number == 1 else "second half"
    return Part(position, whole) if number in (1, 2) else None


@rule("<cycle> <of> <on>? <time>", "<cycle> <on> <time>")
def weekend_around(cycle: Cycle, anchor: Meaning) -> UnitOf | None:
    return UnitOf(cycle, anchor) if isinstance(cycle, Weekend) and _is_date(anchor) else None


@rule("<nth> <cycle> <of>? <on>? <time>", "<nth> <cycle> <in> <time>")
def nth_weekend(number: int, cycle: Cycle, whole: Meaning) -> Nth | None:
    return Nth(number, cycle, whole) if isinstance(cycle, Weekend) else None


add("week beginning", week_around, "<unit> <beginning> <on>? <time>")


add(
    "nth unit of a month",
    lambda number, unit, month: Nth(number, unit, Months(month)) if unit in ("day", "week") else None,
    "<nth> <unit> <of>? <month>",
)


@rule("<last> <unit> <of>? <month>")
def last_unit_of_a_month(unit: Unit, month: int) -> Nth | None:
    return Nth(-1, unit, Months(month)) if unit in ("day", "week") else None


@rule("<last> <unit> <of> <on>? <time>", "<last> <unit> <in>? <time>", "<last> <unit> <in> <on> <time>")
@rule("<unit> <last> <of> <on>? <time>")
def last_unit_of(unit: Unit, whole: Meaning) -> Nth | None:
    known = isinstance(whole, (Cycle, Fixed, UnitAt, Within)) and unit in ("day", "week", "month")
    return Nth(-1, unit, whole) if known else None


_OF = ("<nth> <weekday> <of> <on>? <time>", "<nth> <weekday> <in>? <time>", "<num> . <weekday> <in>? <time>")
add("nth weekday", lambda number, weekday, whole: Nth(number, Weekday(weekday), whole), *_OF)


_LAST_OF = ("<last> <weekday> <of> <on>? <time>", "<last> <weekday> <in> <time>")
add("last weekday", lambda weekday, whole: Nth(-1, Weekday(weekday), whole), *_LAST_OF)


# Parts of something longer


@rule("<position> <of>? <on>? <time>", "<position> - <time>", "<position> <in> <time>")
@rule("<position> <of>? <this> <time>")
def part_of_a_time(position: Position, whole: Meaning) -> Part | None:
    long = isinstance(whole, (Months, Season, Fixed, UnitAt, Within, Nth)) and not (
        isinstance(whole, (UnitAt, Fixed)) and whole.unit in ("day", "hour", "minute")
    )
    return Part(position, whole) if long else None


@rule("<position> <of>? <on>? <unit>", "<position> <unit>")
def part_of_this_unit(position: Position, unit: Unit) -> Part | None:
    return Part(position, UnitAt(unit)) if unit in ("week", "month", "quarter", "year") else None


same("nearest one", "<cycle>", "<whole>", bare=None)


@rule("<in> <cycle>", "<in> <on> <cycle>", "<in> <whole>", "<in> <on> <whole>", trim=1)
def in_a_time(found: Meaning) -> Meaning | None:
    """A preposition makes sure that an ambiguous word is a time: im Mai, en 2019, in estate."""
    return found if not isinstance(found, (DayOfMonth, SlashDay)) else None


# Where the longer comes first: 五月初, 2021年的第三个月


add("position behind", turned(part_of_a_time))
add("day behind", turned(day_in_a_month))
add("unit then position", turned(part_of_this_unit))
add("nth weekday behind", lambda whole, number, weekday: Nth(number, Weekday(weekday), whole))
add("unit position behind", lambda whole, unit, position: part_of_a_time(position, whole))
add(
    "nth unit behind",
    lambda whole, number, unit: Nth(number, unit, whole) if unit in ("day", "week", "month") else None,
)
add("last units behind", lambda whole, much: EdgeOf(much, -1, whole))
add("first units behind", lambda whole, much: EdgeOf(much, 1, whole))


@rule("<md> <till> <on>? <dayn>", gives="stretch")
def date_to_day(first: MonthDay, day: int) -> Between | None:
    return days_of(first.month, first.day, day)


@rule(gives="stretch")
def full_date_to_day(first: Fixed, day: int) -> Between | None:
    last = day_at(first.start.year, first.start.month, day) if isinstance(first, Fixed) else None
    return Between(first, last) if last and first.start.day < day else None
