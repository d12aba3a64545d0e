"""Dates with a number in them: 3 May 2022, the 3rd, May 2022, Tue 9, 2019-aug-01, Q2 2025, the 1990s."""

from __future__ import annotations

from datetime import datetime

from everwhen.when.bounded import DateOrClock, DayAndPoint, DotDate, DotDay, full_year
from everwhen.when.cycles import (
    Cycle,
    DayOfMonth,
    MonthDay,
    Months,
    Season,
    SlashDay,
    WeekNumber,
    Within,
)
from everwhen.when.lexicon import is_clock, is_time
from everwhen.when.meaning import AtClock, Clock, Fixed, Meaning, NoSuchDay, UnitAt
from everwhen.when.parser import RuleBook

book = RuleBook()
rule = book.rule

_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_day(month: int, day: int) -> MonthDay | None:
    """A day that some year has."""
    return MonthDay(month, day) if 1 <= day <= _LONGEST_MONTH[month - 1] else None


def year(number: int) -> Fixed:
    return Fixed(datetime(number, 1, 1), "year")


@rule("<month> .? ,? the? <nth>", "<month> .? ,? <daynum>", "<month> /|- <daynum>", gives="md")
def month_then_day(month: int, day: int) -> MonthDay | None:
    return month_day(month, day)


@rule("<month> <num>", gives="md")
def month_then_day_in_words(month: int, day: float) -> MonthDay | None:
    return month_day(month, int(day)) if day == int(day) else None


@rule(
    "<daynum> of? the? <month>",
    "<daynum> -|/ <month>",
    "the? <nth> of? <month>",
    "the? <nth> day of <month>",
    gives="md",
)
def day_then_month(day: int, month: int) -> MonthDay | None:
    return month_day(month, day)


@rule("<daynum> . <month>", gives="md")
def day_point_month(day: int, month: int) -> MonthDay | None:
    """24. June: alone or after a preposition; in running text the point may end a sentence."""
    return month_day(month, day)


@rule("<month> .? ,? the? <nth>", "<month> .? <daynum>", "<daynum> of? <month>", "the? <nth> of? <month>")
@rule("<month> .? ,? the? <nth> ,? <year>", "<month> .? <daynum> ,? <year>")
@rule("<daynum> of? <month> ,? <year>", "the? <nth> of? <month> ,? <year>")
def day_of_no_month(*numbers: int) -> NoSuchDay | None:
    """31 April: taken whole, so that April is not said."""
    months = [number for number in numbers if number <= 12]
    longest = max((_LONGEST_MONTH[month - 1] for month in months), default=0)
    return NoSuchDay() if len(months) == 1 and longest < max(n for n in numbers if n < 100) <= 31 else None


@rule("<md>", gives="cycle")
def day_of_the_year(date: MonthDay) -> MonthDay:
    return date


@rule("<slash>", gives="cycle", bare=True)
def slashed(date: SlashDay) -> SlashDay:
    return date


@rule("on|due|for|by <dotted>", trim=1)
def dotted(date: SlashDay) -> SlashDay:
    return date


@rule("<weekday> ,? the? <md>", gives="cycle")
def weekday_and_date(weekday: int, date: MonthDay) -> MonthDay:
    return MonthDay(date.month, date.day, weekday)


@rule("<md> ,? <weekday>", "<md> ( <weekday> )", gives="cycle")
def date_and_weekday(date: MonthDay, weekday: int) -> MonthDay:
    return MonthDay(date.month, date.day, weekday)


@rule("<dotted> .", gives="cycle", bare=True)
def day_and_month_with_points(date: SlashDay) -> DotDay:
    return DotDay(date.first, date.second)


@rule("<dmyy>", gives="final", bare=True)
@rule("on|due|for|by|since|until|till|from|dated|before|after|: <dmyy>", trim=1)
def short_date_with_points(date: DotDate) -> DotDate:
    return date


@rule("<weekday> ,? the? <date>", "<weekday> ,? <slash>", "<weekday> ,? <dmyy>")
def weekday_and_numbers(weekday: int, date: Meaning) -> Meaning:
    return date


@rule("<weekday> ,? <dotted>")
def weekday_and_point(weekday: int, date: SlashDay) -> DayAndPoint:
    return DayAndPoint(weekday, date)


@rule("<weekday> <daynum> - <daynum>")
def weekday_and_hyphen(weekday: int, first: int, second: int) -> SlashDay:
    return SlashDay(first, second)


@rule("<weekday> ,? the? <nth>", "<weekday> <daynum>", "<weekday> ,? the <daynum>", gives="cycle")
def weekday_and_day(weekday: int, day: int) -> DayOfMonth | None:
    return DayOfMonth(day, weekday) if 1 <= day <= 31 else None


@rule("the <nth>", gives="cycle", bare=True)
def day_of_the_month(day: int) -> DayOfMonth | None:
    return DayOfMonth(day) if 1 <= day <= 31 else None


@rule("<ordinal>", gives="cycle", bare=True)
def bare_ordinal(day: int) -> DayOfMonth | None:
    """18th, with nothing beside it but a time of day."""
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


@rule("<year>", gives="whole", bare=True)
def a_year(number: int) -> Fixed:
    return year(number)


@rule("the? year of? <year>", "= <year>", "fy <year>", "calendar|fiscal year <year>", gives="whole")
def the_year(number: int) -> Fixed:
    return year(number)


@rule("born in <yy>", trim=2)
def born_in(number: int) -> Fixed:
    return year(full_year(number, 2000))


@rule("fy <yy>", gives="whole")
def fiscal_year(number: int) -> Fixed:
    return year(2000 + number)


@rule("<md> of? ,? <yy>", gives="whole")
def date_and_two_digits(date: MonthDay, number: int) -> Fixed | None:
    """15 April 87: only numbers that cannot be an hour or a day."""
    if not 32 <= number <= 99:
        return None
    try:
        return Fixed(datetime(full_year(number, 2030), date.month, date.day), "day")
    except ValueError:
        return None


@rule("<month> .? ,? of? <year>", "<month> -|/ <year>", "<month> in|of <year>", gives="whole")
def month_and_year(month: int, number: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


@rule("<year> ,? <month>", "<year> -|/ <month>", gives="whole")
def year_and_month(number: int, month: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


@rule("<daynum> -|/ <month> -|/ <yy>", gives="date")
def day_month_short_year(day: int, month: int, number: int) -> Fixed | None:
    return _date(full_year(number, 2030), month, day)


@rule("<daynum> -|/ <month> -|/ <year>", gives="date")
def day_month_year(day: int, month: int, number: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<month> -|/ <daynum> -|/ <year>", gives="date")
def month_day_year(month: int, day: int, number: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<year> -|/ <month> -|/ <daynum>", "<year> ,? <month> <daynum>", gives="date")
def year_month_day(number: int, month: int, day: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<year> -|/ <daynum> -|/ <month>", gives="date")
def year_day_month(number: int, day: int, month: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<month> -|/ <year> -|/ <daynum>", gives="date")
def month_year_day(month: int, number: int, day: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<daynum> -|/ <year> -|/ <month>", gives="date")
def day_year_month(day: int, number: int, month: int) -> Fixed | None:
    return _date(number, month, day)


@rule("<year> <daynum> <daynum>", gives="date")
def spaced_numbers(number: int, month: int, day: int) -> Fixed | None:
    return _date(number, month, day) if month <= 12 else None


def _date(number: int, month: int, day: int) -> Fixed | None:
    try:
        return Fixed(datetime(number, month, day), "day")
    except ValueError:
        return None


@rule("<md> . ,? of|in? the? year? <year>", "<md> , of|in? the? year? <year>", gives="whole")
@rule("<md> of|in the? year? <year>", "<md> the? year <year>", gives="whole")
def date_and_year(date: MonthDay, number: int) -> Fixed | None:
    return _date(number, date.month, date.day)


@rule("<md> <year>", gives="whole")
def date_and_bare_year(date: MonthDay, number: int) -> Fixed | None:
    """27 July 1945; what cannot be a year of ours is a clock there, if it can be one."""
    found = None if is_clock(number) else _date(number, date.month, date.day)
    if found is None or not is_time(number):
        return found
    return DateOrClock(found.start, "day", Clock(number // 100, number % 100, exact=True))


@rule("<md> .? ,? of|in? the? year? <year>", "<weekday> ,? the? <md> .? ,? <year>")
def day_of_no_year(*parts: int | MonthDay) -> NoSuchDay | None:
    """29 February 2023."""
    date, number = parts[-2:]
    assert isinstance(date, MonthDay) and isinstance(number, int)
    return NoSuchDay() if not is_clock(number) and _date(number, date.month, date.day) is None else None


@rule("<slash> , <year>", "<slash> of|in <year>", gives="time")
def slashed_and_year(date: SlashDay, number: int) -> Within:
    return Within(date, year(number))


@rule("<weekday> ,? the? <whole>")
def weekday_and_full_date(weekday: int, date: Meaning) -> Meaning | None:
    return date if isinstance(date, Fixed) and date.unit == "day" else None


@rule("<year> 's? -? <season>")
def year_and_season(number: int, season: str) -> Within:
    return Within(Season(season), year(number))


@rule("q <num>", "q - <num>", gives="quarter")
def quarter_number(number: float) -> Months | None:
    return Months(int(number) * 3 - 2, "quarter") if number in (1, 2, 3, 4) else None


@rule("h <num>", gives="quarter", bare=True)
def half_number(number: float) -> Months | None:
    return Months(int(number) * 6 - 5, "half") if number in (1, 2) else None


@rule("the? <nth> fiscal? quarter", gives="quarter", bare=True)
def quarter_in_words(number: int) -> Months | None:
    return Months(number * 3 - 2, "quarter") if 1 <= number <= 4 else None


@rule("<quarter>", gives="cycle", bare=None)
def quarter(part: Months) -> Months:
    return part


@rule("<whole> ,? <quarter>")
def whole_and_quarter(whole: Meaning, part: Months) -> Within | None:
    return Within(part, whole) if isinstance(whole, (Fixed, UnitAt)) and whole.unit == "year" else None


@rule("<year> -? <quarter>")
def year_and_quarter(number: int, part: Months) -> Within:
    return Within(part, year(number))


@rule("<quarter> -|/ <year>", "<quarter> fy? <year>")
def quarter_and_year(part: Months, number: int) -> Within:
    return Within(part, year(number))


@rule("the? week|wk <num>", "the? week number|no <num>", gives="cycle", bare=True)
def week_number(number: float) -> WeekNumber | None:
    return WeekNumber(int(number)) if number == int(number) and 1 <= number <= 53 else None


@rule("<nth> week of the? year", gives="cycle")
def week_of_the_year(number: int) -> WeekNumber | None:
    return WeekNumber(number) if number <= 53 else None


@rule("the <decade>", gives="whole")
@rule("<decade>", gives="whole", bare=True)
def short_decade(decade: Fixed) -> Fixed:
    return decade


@rule("the nineteen? <decade-word>", gives="whole")
def decade_in_words(start: int) -> Fixed:
    return Fixed(datetime(start, 1, 1), "decade")


@rule("the <nth> century", "<nth> century", gives="whole")
def century(number: int) -> Fixed | None:
    return Fixed(datetime((number - 1) * 100, 1, 1), "century") if 2 <= number <= 22 else None


@rule("<date>", "<whole>", "<instant>", bare=None)
def date(found: Meaning) -> Meaning:
    return found


@rule("<stamp>")
def timestamp(stamp: tuple[Meaning, Clock]) -> AtClock:
    return AtClock(stamp[1], stamp[0])


@rule("<cycle>", bare=None)
def nearest_one(cycle: Cycle) -> Cycle:
    return cycle
