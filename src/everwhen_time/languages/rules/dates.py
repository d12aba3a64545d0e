"""Dates: 3 de mayo de 2020, 22.04., juillet 98, vendredi 13, das zweite Quartal, el siglo XIX."""

from __future__ import annotations

from datetime import datetime

from everwhen_time.bounded import Between, WrittenDate, full_year
from everwhen_time.calendar import Unit
from everwhen_time.cycles import DayOfMonth, MonthDay, Months, SlashDay, Weekday, Within
from everwhen_time.meaning import Fixed, Meaning, UnitAt
from everwhen_time.parser import SharedRules, turned
from everwhen_time.rules.bounds import day_number, days_of
from everwhen_time.rules.dates import (
    DATE_ORDERS,
    century,
    date_and_two_digits,
    date_and_year,
    date_in,
    day_at,
    month_and_year,
    month_day,
    part_of_year,
    week_number,
    weekday_and_date,
    weekday_and_day,
    with_hyphens,
    year,
)

book = SharedRules()
add, rule, same = book.add, book.rule, book.same


# A day and a month


add("day number", day_number, "<daynum>", "<daynum> .", "<nth>", gives="dayn")
add(
    "day then month",
    turned(month_day),
    "<dayn> -|/ <month>",
    "<day-word> <dayn> <of>? <month>",
    "<dayn>|<num> <of>? <month>",
    "<nth> <day-word> <of> <month>",
    gives="md",
)
add("month then day", month_day, "<full-month> <daynum>|<nth>", "<month> -|/ <daynum>", gives="md")


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


same("day of the year", "<md>", gives="cycle")
add(
    "weekday and date",
    weekday_and_date,
    "<weekday> ,? <on>? <md>",
    "<short-weekday> ,? <on>? <md>",
    gives="cycle",
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


add("weekday and day", turned(DayOfMonth), "<weekday> ,? <on>? <dayn>", gives="cycle")
add("weekday and day in words", weekday_and_day, "<weekday> ,? <on>? <num>")
add("short weekday and day", turned(DayOfMonth), "<short-weekday> <dayn>", bare=True)


@rule("<weekday> ,? <on>? <daynum> - <daynum>")
def weekday_and_hyphen(_: int, first: int, second: int) -> SlashDay | None:
    return SlashDay(first, second) if min(first, second) <= 12 else None


add("day of the month", DayOfMonth, "<on> <dayn>", "<this> <dayn>", trim=1)
add("the day of the month", DayOfMonth, "<day-word> <daynum>", "<on> <day-word> <daynum>", "<written-day>")


# With a year


_DATED = ("<md> ,? <of>? <year>", "<md> <of>? <years> <year>", "<md> ,? <of>? <spelled-year>")
add("date and year", date_and_year, *_DATED, gives="date")


add("date and two digits", date_and_two_digits, "<md> <of>? <yy>", gives="date")


for _order in DATE_ORDERS:
    _pattern = with_hyphens(_order)
    if _order == "day month year":
        _pattern = _pattern.replace("<daynum>", "<dayn>")
    rule(_pattern, gives="date", name=_order)(date_in(_order))
add("month day year", date_in("month day year"), "<month> <daynum> ,? <year>", gives="date")


add("year and figures", day_at, "<year> - <daynum> - <daynum>", gives="date")


same("weekday and full date", "<weekday> ,? <on>? <date>", "<short-weekday> ,? <on>? <date>", gives="date")
same("date", "<date>")
add(
    "month and year",
    month_and_year,
    "<month> <of>? <spelled-year>",
    "<month> ,? <of>? <year>",
    "<month> -|/ <year>",
    "<month> <of>? <years> <year>",
    gives="whole",
)
add("year and month", turned(month_and_year), "<year> <month>", "<year> -|/ <month>", gives="whole")


@rule("<month> <of>? <yy>", gives="whole")
def month_and_two_digits(month: int, number: int) -> Fixed | None:
    return Fixed(datetime(full_year(number, 2030), month, 1), "month") if number > 31 else None


# Years, decades, centuries


add("a year", year, "<year>", gives="whole", bare=True)
add("the year", year, "<years> <year>", "<years> <spelled-year>", "<on> <years> <year>", gives="whole")
add("year in words alone", year, "<spelled-year>", gives="whole", bare=True)
add("in a year in words", year, "<in> <spelled-year>", trim=1)


@rule("<tens> <and>? <num>", "<tens> - <num>", gives="num")
def tens_and_ones(tens: int, ones: int) -> int | None:
    return tens + ones if 1 <= ones <= 19 and tens >= 20 else None


same("only tens", "<tens>", gives="num")


@rule("<year-base> <and>? <num>", gives="spelled-year")
def year_in_words(base: int, rest: int) -> int | None:
    return base + rest if 0 < rest < 100 and 1500 <= base + rest < 2100 else None


same("decade", "<decade>", "<decade> <decades>", "<decades> <decade>", gives="whole")


@rule("<decades> <yy>", "<decades> <year>", "<decades> <tens>", gives="whole")
def years_of_a_decade(number: int) -> Fixed | None:
    number += 1900 if 20 <= number < 100 else 0
    return Fixed(datetime(number, 1, 1), "decade") if number % 10 == 0 and number > 1000 else None


add(
    "century",
    century,
    "<century> <num>|<roman>",
    "<roman>|<nth> <century>",
    "<num> . <century>",
    gives="whole",
)


# Quarters and halves, weeks by number


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


@rule("<quarterly> <of> <on>? <unit>", "<quarterly> <of> <on>? <years>")
def part_of_this_year(part: Months, unit: Unit = "year") -> Within | None:
    return Within(part, UnitAt("year")) if unit == "year" else None


same("part of a year", "<quarterly>", gives="cycle", bare=None)


add("week number", week_number, "<week-word> <num>", "<num> . <week-word>", gives="cycle", bare=True)


# Ranges of days


@rule("<dayn> <till> <on>? <md>", "<dayn> - <md>", "<dayn> <and> <on>? <md>", gives="stretch", bare=None)
def days_of_a_month(first: int, last: MonthDay) -> Between | None:
    return days_of(last.month, first, last.day)


add("month and days", days_of, "<full-month> <daynum> -|<till> <daynum>", gives="stretch", bare=None)


@rule("<stretch> ,? <of>? <year>", gives="stretch")
def stretch_and_year(stretch: Between, number: int) -> Between | None:
    if not isinstance(stretch.first, MonthDay) or not isinstance(stretch.last, MonthDay):
        return None
    over = stretch.first.month > stretch.last.month  # from December to February
    first = day_at(number - over, stretch.first.month, stretch.first.day)
    last = day_at(number, stretch.last.month, stretch.last.day)
    return Between(first, last) if first and last else None


@rule("<dayn> <till> <on>? <date>", "<dayn> - <date>", "<dayn> <and> <on>? <date>", gives="stretch")
def days_of_a_dated_month(first: int, last: Meaning) -> Between | None:
    if isinstance(last, Fixed):
        start = day_at(last.start.year, last.start.month, first)
        return Between(start, last) if start and first < last.start.day else None
    if isinstance(last, WrittenDate) and first < last.first:
        return Between(WrittenDate(first, last.second, last.year), last)
    return None


@rule("<dayn> <till> <on>? <dotted>", "<dayn> - <dotted>", "<dayn> - <slash>", gives="stretch")
@rule("<dayn> <till> <on>? <slash>", "<dayn> <till> <on>? <decimal>", gives="stretch")
def days_in_figures(first: int, last: SlashDay) -> Between | None:
    return Between(SlashDay(first, last.second), last) if first < last.first else None


add(
    "date to date",
    lambda first, last: Between(MonthDay(first.month, first.day), MonthDay(last.month, last.day)),
    "<md> <till> <on>? <md>",
    gives="stretch",
)


add("date to full date", Between, "<md>|<date> <till> <on>? <date>", "<date> <till> <on>? <md>")


same("stretch of days", "<stretch>", "<start> <stretch>", "<between> <on>? <stretch>")


@rule(
    "<start> <dayn> <till> <on>? <dayn> <of>? <whole>",
    "<between> <on>? <dayn> <and> <on>? <dayn> <of>? <whole>",
)
def days_of_a_whole(first: int, last: int, month: Meaning) -> Between | None:
    known = isinstance(month, UnitAt) and month.unit == "month" and first < last
    return Between(Within(DayOfMonth(first), month), Within(DayOfMonth(last), month)) if known else None


@rule("<start> <dayn> <till> <on>? <dayn>", "<between> <on>? <dayn> <and> <on>? <dayn>")
def days_of_no_month(first: int, last: int) -> Between | None:
    return Between(DayOfMonth(first), DayOfMonth(last)) if first < last else None
