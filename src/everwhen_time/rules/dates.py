"""Dates with a number or a name: 3 May 2022, 3 de mayo, 22.04., Q2 2025, the 1990s, el siglo XIX, Easter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import permutations

from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    DayOfMonth,
    Holiday,
    MonthDay,
    Months,
    Season,
    SlashDay,
    Weekday,
    WeekNumber,
    Within,
)
from everwhen_time.lexicon import is_clock, is_time
from everwhen_time.meaning import AtClock, Clock, Fixed, Meaning, NoSuchDay, UnitAt
from everwhen_time.offsets import DateOrClock, DayAndPoint, DotDay, WrittenDate, full_year
from everwhen_time.parser import Make, RuleBook, turned

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_day(month: int, day: int) -> MonthDay | None:
    """A day that some year has."""
    return MonthDay(month, day) if 1 <= day <= _LONGEST_MONTH[month - 1] else None


def year(number: int) -> Fixed:
    return Fixed(datetime(number, 1, 1), "year")


def day_at(number: int, month: int, day: int) -> Fixed | None:
    """The date; None where the calendar has no such day."""
    try:
        return Fixed(datetime(number, month, day), "day")
    except ValueError:
        return None


add("month then day", month_day, "<full-month> <daynum>|<nth>", "<month> -|/ <daynum>", gives="md")


@rule(gives="md")
def month_then_day_in_words(month: int, day: float) -> MonthDay | None:
    return month_day(month, int(day)) if day == int(day) else None


add(
    "day then month",
    turned(month_day),
    "<dayn> -|/ <month>",
    "<day-word> <dayn> <of>? <month>",
    "<dayn>|<num> <of>? <month>",
    "<nth> <day-word> <of> <month>",
    gives="md",
)
# 24. June: alone or after a preposition; in running text the point may end a sentence.
add("day point month", turned(month_day), gives="md")


@rule()
def day_of_no_month(*numbers: int) -> NoSuchDay | None:
    """31 April: taken whole, so that April is not said."""
    months = [number for number in numbers if number <= 12]
    longest = max((_LONGEST_MONTH[month - 1] for month in months), default=0)
    return NoSuchDay() if len(months) == 1 and longest < max(n for n in numbers if n < 100) <= 31 else None


same("day of the year", "<md>", gives="cycle")
same("slashed", gives="cycle", bare=True)
same("dotted", trim=1)


@rule("<weekday>|<short-weekday> ,? <on>? <md>", gives="cycle")
def weekday_and_date(weekday: int, date: MonthDay) -> MonthDay:
    return MonthDay(date.month, date.day, weekday)


add("date and weekday", turned(weekday_and_date), gives="cycle")


@rule(gives="cycle", bare=True)
def day_and_month_with_points(date: SlashDay) -> DotDay:
    return DotDay(date.first, date.second)


same("short date with points", trim=1)
same("only a short date with points", gives="final", bare=True)
add("weekday and point", DayAndPoint)


@rule("<weekday> ,? <on>? <daynum> - <daynum>")
def weekday_and_hyphen(_: int, first: int, second: int) -> SlashDay | None:
    return SlashDay(first, second) if min(first, second) <= 12 else None


@rule("<weekday> ,? <on>? <dayn>", gives="cycle")
@rule("<weekday> ,? <on>? <num>", name="weekday and day in words")
@rule("<short-weekday> <dayn>", bare=True, name="short weekday and day")
def weekday_and_day(weekday: int, day: int) -> DayOfMonth | None:
    return DayOfMonth(day, weekday) if 1 <= day <= 31 else None


@rule(gives="cycle", bare=True)
@rule(gives="cycle", bare=True, name="bare ordinal")  # with nothing beside it but a time of day
def day_of_the_month(day: int) -> DayOfMonth | None:
    return DayOfMonth(day) if 1 <= day <= 31 else None


@rule(trim=1)
def day_of_the_month_without_article(day: int) -> DayOfMonth | None:
    return DayOfMonth(day) if 4 <= day <= 31 else None


@rule(name="nth day in a whole")
def nth_day_of(day: int, month: Meaning) -> Within | None:
    return Within(DayOfMonth(day), month) if 1 <= day <= 31 else None


@rule(name="nth day of the unit")
def nth_day_of_the_unit(day: int, month: UnitAt) -> Within | None:
    return Within(DayOfMonth(day), month) if month.unit == "month" and day <= 31 else None


add("a year", year, "<year>", gives="whole", bare=True)
_THE_YEAR = ("<years> <year>", "<years> <spelled-year>", "<on> <years> <year>")
add("the year", year, *_THE_YEAR, gives="whole")
add("born in", lambda number: year(full_year(number, 2000)), trim=2)
add("fiscal year", lambda number: year(2000 + number), gives="whole")


@rule("<md> <of>? <yy>", gives="date")
@rule(gives="whole", name="two digits behind a date")
def date_and_two_digits(date: MonthDay, number: int) -> Fixed | None:
    """15 April 87: only numbers that cannot be an hour or a day."""
    return day_at(full_year(number, 2030), date.month, date.day) if 32 <= number <= 99 else None


@rule(
    "<month> <of>? <spelled-year>",
    "<month> ,? <of>? <year>",
    "<month> -|/ <year>",
    "<month> <of>? <years> <year>",
    gives="whole",
)
def month_and_year(month: int, number: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


@rule("<month> <of>? <yy>", gives="whole")
def month_and_two_digits(month: int, number: int) -> Fixed | None:
    """January 88: only numbers that cannot be a day."""
    return month_and_year(month, full_year(number, 2030)) if 32 <= number <= 99 else None


@rule(gives="final", bare=True, trim=2)
def year_in_two_digits(number: int) -> Fixed | None:
    """Back in 86, since 94: with nothing behind it that is counted. "Ran it in 52" is no year."""
    return year(full_year(number, 2030)) if 40 <= number <= 99 else None


add("year and month", turned(month_and_year), "<year> <month>", "<year> -|/ <month>", gives="whole")


@rule(gives="date")
def day_month_short_year(day: int, month: int, number: int) -> Fixed | None:
    return day_at(full_year(number, 2030), month, day)


# 3-May-2022, 2022/May/3: the three parts in any order

DATE_ORDERS = tuple(" ".join(order) for order in permutations(("day", "month", "year")))


def with_hyphens(order: str) -> str:
    """The pattern for the parts in this order, with hyphens or slashes between them."""
    return " -|/ ".join(f"<{part}>" for part in order.split()).replace("<day>", "<daynum>")


def date_in(order: str) -> Callable[..., Fixed | None]:
    """The function that gets the parts in this order."""

    def date(*parts: int) -> Fixed | None:
        said = dict(zip(order.split(), parts, strict=True))
        return day_at(said["year"], said["month"], said["day"])

    return date


for _order in DATE_ORDERS:
    _pattern = with_hyphens(_order)
    if _order == "day month year":
        _pattern = _pattern.replace("<daynum>", "<dayn>")
    rule(_pattern, gives="date", name=_order)(date_in(_order))
add("month day year", date_in("month day year"), "<month> <daynum> ,? <year>", gives="date")
add("year and figures", day_at, "<year> - <daynum> - <daynum>", gives="date")


@rule("<md> ,? <of>? <year>", "<md> <of>? <years> <year>", "<md> ,? <of>? <spelled-year>", gives="date")
@rule(gives="whole", name="year behind a date")
def date_and_year(date: MonthDay, number: int) -> Fixed | None:
    return day_at(number, date.month, date.day)


@rule(gives="whole")
def date_and_bare_year(date: MonthDay, number: int) -> Fixed | None:
    """27 July 1945; what cannot be a year of ours is a clock there, if it can be one."""
    found = None if is_clock(number) else day_at(number, date.month, date.day)
    if found is None or not is_time(number):
        return found
    return DateOrClock(found.start, "day", Clock(number // 100, number % 100, exact=True))


@rule()
def day_of_no_year(*parts: int | MonthDay) -> NoSuchDay | None:
    """29 February 2023."""
    date, number = parts[-2:]
    assert isinstance(date, MonthDay) and isinstance(number, int)
    return NoSuchDay() if not is_clock(number) and day_at(number, date.month, date.day) is None else None


@rule(name="slashed and year")
@rule(name="quarter and year")
def in_a_year(part: SlashDay | Months, number: int) -> Within:
    return Within(part, year(number))


add("year and quarter", turned(in_a_year))


@rule(name="weekday and dated whole")
def weekday_and_dated_whole(weekday: int, date: Meaning) -> Meaning | None:
    return date if isinstance(date, Fixed) and date.unit == "day" else None


add("year and season", lambda number, season: Within(Season(season), year(number)))


def part_of_year(months: int, unit: Unit) -> Make:
    """The nth quarter or half of a year."""
    last = 12 // months
    return lambda number: Months(int(number - 1) * months + 1, unit) if number in range(1, last + 1) else None


add("quarter number", part_of_year(3, "quarter"), gives="quarterly")


add(
    "quarter",
    part_of_year(3, "quarter"),
    "<nth>|<num> <quarter>",
    "<num> . <quarter>",
    "<quarter> <num>|<nth>",
    gives="quarterly",
    bare=True,
)
_HALF_YEAR = ("<nth> <half-year>", "<num> . <half-year>", "<half-year> <num>")
add("half year", part_of_year(6, "half"), *_HALF_YEAR, gives="quarterly", bare=True)
same("part of a year", "<quarterly>", gives="cycle", bare=None)


@rule()
def whole_and_quarter(whole: Meaning, part: Months) -> Within | None:
    return Within(part, whole) if isinstance(whole, (Fixed, UnitAt)) and whole.unit == "year" else None


@rule("<week-word> <num>", "<num> . <week-word>", gives="cycle", bare=True)
@rule(gives="cycle", name="week of the year")
def week_number(number: float) -> WeekNumber | None:
    return WeekNumber(int(number)) if number in range(1, 54) else None


same("short decade", gives="whole", bare=True)
same("decade", "<decade>", "<decade> <decades>", "<decades> <decade>", gives="whole")


@rule(gives="whole")
def decade_in_words(start: int) -> Fixed:
    return Fixed(datetime(start, 1, 1), "decade")


@rule("<century> <num>|<roman>", "<roman>|<nth> <century>", "<num> . <century>", gives="whole")
def century(number: int) -> Fixed | None:
    return Fixed(datetime((number - 1) * 100, 1, 1), "century") if 2 <= number <= 22 else None


same("date", "<date>", bare=None)
add("timestamp", lambda stamp: AtClock(stamp[1], stamp[0]))
same("nearest one", "<cycle>", "<whole>", bare=None)


# A day and a month


def _of_a_month(unit: Unit, _: int) -> bool:
    return unit == "month"


same("month called", "<unit> <of>? <full-month>", gives="month", where=_of_a_month)


add(
    "called month",
    lambda _, month: Months(month),
    "<unit> <of>? <full-month>",
    gives="cycle",
    where=_of_a_month,
)


# A segunda-feira, the 2.ª feira: Monday is the second.
add("weekday by number", lambda number: Weekday(number - 2) if 2 <= number <= 6 else None, gives="cycle")


@rule(gives="cycle")
def two_ordinals(*numbers: int) -> MonthDay | None:
    """Den siebten vierten: a day and a month, both counted."""
    day, month = numbers[-2:]
    return month_day(month, day) if month <= 12 else None


same("only figures", "<decimal>", gives="cycle", bare=True)
same("in figures", "<dotted>", "<slash>", gives="cycle", bare=None)
same(
    "on a day in figures",
    "<short-weekday> ,? <dotted>|<slash>|<decimal>",
    "<weekday> ,? <on>? <dotted>|<decimal>|<slash>",
    "<on> <dotted>|<decimal>|<slash>",
    "<day-word>|<this> <slash>",
)


@rule("<dotted> <year>", "<decimal> <year>", "<slash> <of> <year>", gives="date")
def figures_and_year(date: SlashDay, number: int) -> WrittenDate:
    return WrittenDate(date.first, date.second, number)


add("on a day of the month", DayOfMonth, "<on> <dayn>", "<this> <dayn>", trim=1)
add("the day of the month", DayOfMonth, "<day-word> <daynum>", "<on> <day-word> <daynum>", "<written-day>")


# With a year


same("weekday and full date", "<weekday> ,? <on>? <date>", "<short-weekday> ,? <on>? <date>", gives="date")
add("year in words alone", year, "<spelled-year>", gives="whole", bare=True)
add("in a year in words", year, "<in> <spelled-year>", trim=1)


@rule("<year-base> <and>? <num>", gives="spelled-year")
def year_in_words(base: int, rest: int) -> int | None:
    return base + rest if 0 < rest < 100 and 1500 <= base + rest < 2100 else None


@rule("<decades> <yy>", "<decades> <year>", "<decades> <tens>", gives="whole")
def years_of_a_decade(number: int) -> Fixed | None:
    number += 1900 if 20 <= number < 100 else 0
    return Fixed(datetime(number, 1, 1), "decade") if number % 10 == 0 and number > 1000 else None


@rule("<quarterly> <of> <on>? <unit>", "<quarterly> <of> <on>? <years>")
def part_of_this_year(part: Months, unit: Unit = "year") -> Within | None:
    return Within(part, UnitAt("year")) if unit == "year" else None


# Alone it may be a wish or a resolution: it needs a preposition.
fixed("new year", Holiday("new year's day"), gives="cycle", bare=True)
