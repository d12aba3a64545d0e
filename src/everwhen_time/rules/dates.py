"""Dates with a number or a name: 3 May 2022, the 3rd, May 2022, Tue 9, 2019-aug-01, Q2 2025, the 1990s, Easter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import permutations
from pathlib import Path

from everwhen_time.bounded import DateOrClock, DayAndPoint, DotDay, full_year
from everwhen_time.calendar import Unit
from everwhen_time.cycles import DayOfMonth, Holiday, MonthDay, Months, Season, SlashDay, WeekNumber, Within
from everwhen_time.lexicon import is_clock, is_time
from everwhen_time.meaning import AtClock, Clock, Fixed, Meaning, NoSuchDay, UnitAt
from everwhen_time.parser import Make, RuleBook, turned
from everwhen_time.word_lists import word_table

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


add(
    "month then day",
    month_day,
    "<month> .? ,? the? <nth>",
    "<month> .? ,? <daynum>",
    "<month> /|- <daynum>",
    gives="md",
)


@rule("<month> <num>", gives="md")
def month_then_day_in_words(month: int, day: float) -> MonthDay | None:
    return month_day(month, int(day)) if day == int(day) else None


add(
    "day then month",
    turned(month_day),
    "<daynum> of? the? <month>",
    "<daynum> -|/ <month>",
    "the? <nth> of? <month>",
    "the? <nth> day of <month>",
    gives="md",
)
# 24. June: alone or after a preposition; in running text the point may end a sentence.
add("day point month", turned(month_day), "<daynum> . <month>", gives="md")


@rule("<month> .? ,? the? <nth>", "<month> .? <daynum>", "<daynum> of? <month>", "the? <nth> of? <month>")
@rule("<month> .? ,? the? <nth> ,? <year>", "<month> .? <daynum> ,? <year>")
@rule("<daynum> of? <month> ,? <year>", "the? <nth> of? <month> ,? <year>")
def day_of_no_month(*numbers: int) -> NoSuchDay | None:
    """31 April: taken whole, so that April is not said."""
    months = [number for number in numbers if number <= 12]
    longest = max((_LONGEST_MONTH[month - 1] for month in months), default=0)
    return NoSuchDay() if len(months) == 1 and longest < max(n for n in numbers if n < 100) <= 31 else None


same("day of the year", "<md>", gives="cycle")
same("slashed", "<slash>", gives="cycle", bare=True)
same("dotted", "on|due|for|by <dotted>", trim=1)


@rule("<weekday> ,? the? <md>", gives="cycle")
def weekday_and_date(weekday: int, date: MonthDay) -> MonthDay:
    return MonthDay(date.month, date.day, weekday)


add("date and weekday", turned(weekday_and_date), "<md> ,? <weekday>", "<md> ( <weekday> )", gives="cycle")


@rule("<dotted> .", gives="cycle", bare=True)
def day_and_month_with_points(date: SlashDay) -> DotDay:
    return DotDay(date.first, date.second)


same("short date with points", "on|due|for|by|since|until|till|from|dated|before|after|: <dmyy>", trim=1)
same("short date with points", "<dmyy>", gives="final", bare=True)
same("weekday and numbers", "<weekday> ,? the? <date>", "<weekday> ,? <slash>", "<weekday> ,? <dmyy>")
add("weekday and point", DayAndPoint, "<weekday> ,? <dotted>")


@rule("<weekday> <daynum> - <daynum>")
def weekday_and_hyphen(weekday: int, first: int, second: int) -> SlashDay:
    return SlashDay(first, second)


@rule("<weekday> ,? the? <nth>", "<weekday> <daynum>", "<weekday> ,? the <daynum>", gives="cycle")
def weekday_and_day(weekday: int, day: int) -> DayOfMonth | None:
    return DayOfMonth(day, weekday) if 1 <= day <= 31 else None


@rule("the <nth>", gives="cycle", bare=True)
@rule("<ordinal>", gives="cycle", bare=True, name="bare ordinal")  # with nothing beside it but a time of day
def day_of_the_month(day: int) -> DayOfMonth | None:
    return DayOfMonth(day) if 1 <= day <= 31 else None


@rule("on|by|since|until|till <nth>", trim=1)
def day_of_the_month_without_article(day: int) -> DayOfMonth | None:
    return DayOfMonth(day) if 4 <= day <= 31 else None


@rule("the? <nth> day? of|in the? <whole>")
def day_in_a_month(day: int, month: Meaning) -> Within | None:
    return Within(DayOfMonth(day), month) if 1 <= day <= 31 else None


@rule("the? <nth> of <the-unit>")
def day_of_this_month(day: int, month: UnitAt) -> Within | None:
    return Within(DayOfMonth(day), month) if month.unit == "month" and day <= 31 else None


add("a year", year, "<year>", gives="whole", bare=True)
add(
    "the year",
    year,
    "the? year of? <year>",
    "= <year>",
    "fy <year>",
    "calendar|fiscal year <year>",
    gives="whole",
)
add("born in", lambda number: year(full_year(number, 2000)), "born in <yy>", trim=2)
add("fiscal year", lambda number: year(2000 + number), "fy <yy>", gives="whole")


@rule("<md> of? ,? <yy>", gives="whole")
def date_and_two_digits(date: MonthDay, number: int) -> Fixed | None:
    """15 April 87: only numbers that cannot be an hour or a day."""
    return day_at(full_year(number, 2030), date.month, date.day) if 32 <= number <= 99 else None


@rule("<month> .? ,? of? <year>", "<month> -|/ <year>", "<month> in|of <year>", gives="whole")
def month_and_year(month: int, number: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


@rule("<month> <yy>", gives="whole")
def month_and_two_digits(month: int, number: int) -> Fixed | None:
    """January 88: only numbers that cannot be a day."""
    return month_and_year(month, full_year(number, 2030)) if 32 <= number <= 99 else None


@rule("back in <yy>", gives="final", bare=True, trim=2)
def year_in_two_digits(number: int) -> Fixed | None:
    """Back in 86, since 94: with nothing behind it that is counted. "Ran it in 52" is no year."""
    return year(full_year(number, 2030)) if 40 <= number <= 99 else None


add("year and month", turned(month_and_year), "<year> ,? <month>", "<year> -|/ <month>", gives="whole")


@rule("<daynum> -|/ <month> -|/ <yy>", gives="date")
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
    rule(with_hyphens(_order), gives="date", name=_order)(date_in(_order))
add("year month day", day_at, "<year> ,? <month> <daynum>", gives="date")


add("spaced numbers", day_at, "<year> <daynum> <daynum>", gives="date")


@rule("<md> . ,? of|in? the? year? <year>", "<md> , of|in? the? year? <year>", gives="whole")
@rule("<md> of|in the? year? <year>", "<md> the? year <year>", gives="whole")
def date_and_year(date: MonthDay, number: int) -> Fixed | None:
    return day_at(number, date.month, date.day)


@rule("<md> <year>", gives="whole")
def date_and_bare_year(date: MonthDay, number: int) -> Fixed | None:
    """27 July 1945; what cannot be a year of ours is a clock there, if it can be one."""
    found = None if is_clock(number) else day_at(number, date.month, date.day)
    if found is None or not is_time(number):
        return found
    return DateOrClock(found.start, "day", Clock(number // 100, number % 100, exact=True))


@rule("<md> .? ,? of|in? the? year? <year>", "<weekday> ,? the? <md> .? ,? <year>")
def day_of_no_year(*parts: int | MonthDay) -> NoSuchDay | None:
    """29 February 2023."""
    date, number = parts[-2:]
    assert isinstance(date, MonthDay) and isinstance(number, int)
    return NoSuchDay() if not is_clock(number) and day_at(number, date.month, date.day) is None else None


@rule("<slash> , <year>", "<slash> of|in <year>", name="slashed and year")
@rule("<quarter> -|/ <year>", "<quarter> fy? <year>", name="quarter and year")
def in_a_year(part: SlashDay | Months, number: int) -> Within:
    return Within(part, year(number))


add("year and quarter", turned(in_a_year), "<year> -? <quarter>")


@rule("<weekday> ,? the? <whole>")
def weekday_and_full_date(weekday: int, date: Meaning) -> Meaning | None:
    return date if isinstance(date, Fixed) and date.unit == "day" else None


add("year and season", lambda number, season: Within(Season(season), year(number)), "<year> 's? -? <season>")


def part_of_year(months: int, unit: Unit) -> Make:
    """The nth quarter or half of a year."""
    last = 12 // months
    return lambda number: Months(int(number - 1) * months + 1, unit) if number in range(1, last + 1) else None


add("quarter number", part_of_year(3, "quarter"), "q -? <num>", gives="quarter")


add("half number", part_of_year(6, "half"), "h <num>", gives="quarter", bare=True)


add("quarter in words", part_of_year(3, "quarter"), "the? <nth> fiscal? quarter", gives="quarter", bare=True)


same("quarter", "<quarter>", gives="cycle", bare=None)


@rule("<whole> ,? <quarter>")
def whole_and_quarter(whole: Meaning, part: Months) -> Within | None:
    return Within(part, whole) if isinstance(whole, (Fixed, UnitAt)) and whole.unit == "year" else None


@rule("the? week|wk <num>", "the? week number|no <num>", gives="cycle", bare=True)
@rule("<nth> week of the? year", gives="cycle", name="week of the year")
def week_number(number: float) -> WeekNumber | None:
    return WeekNumber(int(number)) if number in range(1, 54) else None


same("short decade", "<decade>", gives="whole", bare=True)
same("short decade", "the <decade>", gives="whole")


@rule("the nineteen? <decade-word>", gives="whole")
def decade_in_words(start: int) -> Fixed:
    return Fixed(datetime(start, 1, 1), "decade")


@rule("the <nth> century", "<nth> century", gives="whole")
def century(number: int) -> Fixed | None:
    return Fixed(datetime((number - 1) * 100, 1, 1), "century") if 2 <= number <= 22 else None


same("date", "<date>", "<whole>", "<instant>", bare=None)
add("timestamp", lambda stamp: AtClock(stamp[1], stamp[0]), "<stamp>")
same("nearest one", "<cycle>", bare=None)


# Holidays, by the names in `holidays.toml`

for _name, _patterns in word_table(Path(__file__).with_name("holidays.toml")).items():
    fixed("holiday", Holiday(_name), *_patterns, gives="cycle")
# Alone it may be a wish or a resolution: it needs a preposition.
fixed("new year", Holiday("new year's day"), "new year 's?", "new years", gives="cycle", bare=True)
