"""Dates: 3 de mayo de 2020, 22.04., juillet 98, vendredi 13, das zweite Quartal, el siglo XIX."""

from __future__ import annotations

from datetime import datetime

from everwhen.when.bounds import Between, WrittenDate, full_year
from everwhen.when.calendar import Unit
from everwhen.when.cycles import Cycle, DayOfMonth, MonthDay, Months, Season, SlashDay, Weekday, WeekNumber, Within
from everwhen.when.languages.rules.shared import SharedRules
from everwhen.when.meaning import Fixed, Meaning, Part, Position, UnitAt
from everwhen.when.offsets import Amount, EdgeOf, Nth, UnitOf
from everwhen.when.rules.dates import month_day, year

book = SharedRules()
rule = book.rule


def day_at(number: int, month: int, day: int) -> Fixed | None:
    """The date; None where the calendar has no such day."""
    try:
        return Fixed(datetime(number, month, day), "day")
    except ValueError:
        return None


# A day and a month


@rule("<daynum>", "<daynum> .", "<nth>", gives="dayn")
def day_number(day: int) -> int | None:
    return day if 1 <= day <= 31 else None


@rule("<dayn> <of>? <month>", "<num> <of>? <month>", "<nth> <day-word> <of> <month>", gives="md")
@rule("<dayn> -|/ <month>", gives="md")
def day_then_month(day: int, month: int) -> MonthDay | None:
    return month_day(month, day)


@rule("<full-month> <daynum>", "<full-month> <nth>", "<month> -|/ <daynum>", gives="md")
def month_then_day(month: int, day: int) -> MonthDay | None:
    return month_day(month, day)


@rule("<unit> <of>? <full-month>", gives="month")
def month_called(unit: Unit, month: int) -> int | None:
    return month if unit == "month" else None


@rule("<unit> <of>? <full-month>", gives="cycle")
def called_month(unit: Unit, month: int) -> Months | None:
    return Months(month) if unit == "month" else None


@rule("<md>", gives="cycle")
def day_of_the_year(date: MonthDay) -> MonthDay:
    return date


@rule("<weekday> ,? <on>? <md>", "<short-weekday> ,? <on>? <md>", gives="cycle")
def weekday_and_date(weekday: int, date: MonthDay) -> MonthDay:
    return MonthDay(date.month, date.day, weekday)


@rule(gives="cycle")
def weekday_by_number(number: int) -> Weekday | None:
    """A segunda-feira, the 2.ª feira: Monday is the second."""
    return Weekday(number - 2) if 2 <= number <= 6 else None


@rule(gives="cycle")
def two_ordinals(*numbers: int) -> MonthDay | None:
    """Den siebten vierten: a day and a month, both counted."""
    day, month = numbers[-2:]
    return month_day(month, day) if month <= 12 else None


@rule("<decimal>", gives="cycle", bare=True)
def only_figures(date: SlashDay) -> SlashDay:
    return date


@rule("<dotted>", "<slash>", gives="cycle", bare=None)
def in_figures(date: SlashDay) -> SlashDay:
    return date


@rule("<on> <dotted>", "<on> <decimal>", "<on> <slash>", "<day-word> <slash>", "<this> <slash>")
@rule("<weekday> ,? <on>? <dotted>", "<weekday> ,? <on>? <decimal>", "<weekday> ,? <on>? <slash>")
@rule("<short-weekday> ,? <dotted>", "<short-weekday> ,? <slash>", "<short-weekday> ,? <decimal>")
def on_a_day_in_figures(*parts: int | SlashDay) -> SlashDay:
    date = parts[-1]
    assert isinstance(date, SlashDay)
    return date


@rule("<dotted> <year>", "<decimal> <year>", "<slash> <of> <year>", gives="date")
def figures_and_year(date: SlashDay, number: int) -> WrittenDate:
    return WrittenDate(date.first, date.second, number)


@rule("<weekday> ,? <on>? <dayn>", gives="cycle")
def weekday_and_day(weekday: int, day: int) -> DayOfMonth:
    return DayOfMonth(day, weekday)


@rule("<on> <dayn>", "<this> <dayn>", trim=1)
def day_of_the_month(day: int) -> DayOfMonth:
    return DayOfMonth(day)


@rule("<day-word> <daynum>", "<on> <day-word> <daynum>", "<written-day>")
def the_day_of_the_month(day: int) -> DayOfMonth:
    return DayOfMonth(day)


# With a year


@rule("<md> ,? <of>? <year>", "<md> <of>? <years> <year>", "<md> ,? <of>? <spelled-year>", gives="date")
def date_and_year(date: MonthDay, number: int) -> Fixed | None:
    return day_at(number, date.month, date.day)


@rule("<md> <of>? <yy>", gives="date")
def date_and_two_digits(date: MonthDay, number: int) -> Fixed | None:
    return day_at(full_year(number, 2030), date.month, date.day) if number > 31 else None


@rule("<dayn> -|/ <month> -|/ <year>", gives="date")
def day_month_year(day: int, month: int, number: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<month> -|/ <daynum> -|/ <year>", "<month> <daynum> ,? <year>", gives="date")
def month_day_year(month: int, day: int, number: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<year> -|/ <month> -|/ <daynum>", gives="date")
def year_month_day(number: int, month: int, day: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<year> - <daynum> - <daynum>", "<year> <year-mark> <daynum> <month-mark> <daynum> <day-mark>?", gives="date")
def year_and_figures(number: int, month: int, day: int) -> Fixed | None:
    return day_at(number, month, day) if month <= 12 else None


@rule("<year> -|/ <daynum> -|/ <month>", gives="date")
def year_day_month(number: int, day: int, month: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<month> -|/ <year> -|/ <daynum>", gives="date")
def month_year_day(month: int, number: int, day: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<daynum> -|/ <year> -|/ <month>", gives="date")
def day_year_month(day: int, number: int, month: int) -> Fixed | None:
    return day_at(number, month, day)


@rule("<weekday> ,? <on>? <date>", "<short-weekday> ,? <on>? <date>", gives="date")
def weekday_and_full_date(_: int, date: Meaning) -> Meaning:
    return date


@rule("<date>")
def date(found: Meaning) -> Meaning:
    return found


@rule("<month> ,? <of>? <year>", "<month> -|/ <year>", "<month> <of>? <years> <year>", gives="whole")
@rule("<month> <of>? <spelled-year>", gives="whole")
def month_and_year(month: int, number: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


@rule("<month> <of>? <yy>", gives="whole")
def month_and_two_digits(month: int, number: int) -> Fixed | None:
    return Fixed(datetime(full_year(number, 2030), month, 1), "month") if number > 31 else None


@rule("<year> <month>", "<year> -|/ <month>", gives="whole")
def year_and_month(number: int, month: int) -> Fixed:
    return Fixed(datetime(number, month, 1), "month")


# Years, decades, centuries


@rule("<year>", gives="whole", bare=True)
def a_year(number: int) -> Fixed:
    return year(number)


@rule("<years> <year>", "<years> <spelled-year>", "<on> <years> <year>", gives="whole")
def the_year(number: int) -> Fixed:
    return year(number)


@rule("<in> <spelled-year>", trim=1)
def in_a_year_in_words(number: int) -> Fixed:
    return year(number)


@rule("<tens> <and>? <num>", "<tens> - <num>", gives="num")
def tens_and_ones(tens: int, ones: int) -> int | None:
    return tens + ones if 1 <= ones <= 19 and tens >= 20 else None


@rule("<tens>", gives="num")
def only_tens(tens: int) -> int:
    return tens


@rule("<year-base> <and>? <num>", gives="spelled-year")
def year_in_words(base: int, rest: int) -> int | None:
    return base + rest if 0 < rest < 100 and 1500 <= base + rest < 2100 else None


@rule("<decade>", "<decade> <decades>", "<decades> <decade>", gives="whole")
def decade(found: Fixed) -> Fixed:
    return found


@rule("<decades> <yy>", "<decades> <year>", "<decades> <tens>", gives="whole")
def years_of_a_decade(number: int) -> Fixed | None:
    number += 1900 if 20 <= number < 100 else 0
    return Fixed(datetime(number, 1, 1), "decade") if number % 10 == 0 and number > 1000 else None


@rule("<century> <roman>", "<roman> <century>", "<nth> <century>", "<num> . <century>", gives="whole")
@rule("<century> <num>", gives="whole")
def century(number: int) -> Fixed | None:
    return Fixed(datetime((number - 1) * 100, 1, 1), "century") if 2 <= number <= 22 else None


# Quarters and halves, weeks by number


@rule("<nth> <quarter>", "<num> . <quarter>", "<quarter> <num>", "<quarter> <nth>", gives="quarterly", bare=True)
def quarter(number: int) -> Months | None:
    return Months(number * 3 - 2, "quarter") if 1 <= number <= 4 else None


@rule("<nth> <half-year>", "<num> . <half-year>", "<half-year> <num>", gives="quarterly", bare=True)
def half_year(number: int) -> Months | None:
    return Months(number * 6 - 5, "half") if 1 <= number <= 2 else None


@rule("<quarterly>", gives="cycle", bare=None)
def part_of_a_year(part: Months) -> Months:
    return part


@rule("<week-word> <num>", "<num> . <week-word>", gives="cycle", bare=True)
def week_number(number: int) -> WeekNumber | None:
    return WeekNumber(number) if 1 <= number <= 53 else None


# One of something that comes round, in something longer


@rule("<cycle> ,? <of>? <year>", "<cycle> <of>? <years> <year>", "<cycle> - <year>")
def cycle_and_year(cycle: Cycle, number: int) -> Within | None:
    return Within(cycle, year(number)) if cycle.every == "year" and not isinstance(cycle, MonthDay) else None


@rule("<year> <cycle>", "<year> - <quarterly>")
def year_and_cycle(number: int, cycle: Cycle) -> Within | None:
    return Within(cycle, year(number)) if isinstance(cycle, (Season, Months)) else None


@rule("<cycle> ,? <of>? <on>? <whole>", "<cycle> <in> <whole>")
def cycle_within(cycle: Cycle, whole: Meaning) -> Within | None:
    return None if isinstance(whole, Fixed) and whole.unit == "year" and cycle.every != "year" else Within(cycle, whole)


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
    day = isinstance(anchor, (MonthDay, SlashDay, WrittenDate)) or (isinstance(anchor, Fixed) and anchor.unit == "day")
    return UnitOf(unit, anchor) if day and unit == "week" else None


@rule("<nth> <half-part> <of> <on>? <time>", "<nth> <half-part> <of>? <on>? <unit>", "<nth> <fortnight> <of> <on>? <time>")
def half_of(number: int, whole: Meaning | Unit) -> Part | None:
    if isinstance(whole, str):
        whole = UnitAt(whole)
    position: Position = "first half" if number == 1 else "second half"
    return Part(position, whole) if number in (1, 2) else None


@rule("<last> <unit> <of> <on>? <time>", "<last> <unit> <in>? <time>", "<last> <unit> <in> <on> <time>")
@rule("<unit> <last> <of> <on>? <time>")
def last_unit_of(unit: Unit, whole: Meaning) -> Nth | None:
    known = isinstance(whole, (Cycle, Fixed, UnitAt, Within)) and unit in ("day", "week", "month")
    return Nth(-1, unit, whole) if known else None


@rule("<nth> <weekday> <of> <on>? <time>", "<nth> <weekday> <in>? <time>", "<num> . <weekday> <in>? <time>")
def nth_weekday(number: int, weekday: int, whole: Meaning) -> Nth:
    return Nth(number, Weekday(weekday), whole)


@rule("<last> <weekday> <of> <on>? <time>", "<last> <weekday> <in> <time>")
def last_weekday(weekday: int, whole: Meaning) -> Nth:
    return Nth(-1, Weekday(weekday), whole)


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


@rule("<cycle>", "<whole>", bare=None)
def nearest_one(found: Meaning) -> Meaning:
    return found


@rule("<in> <cycle>", "<in> <on> <cycle>", "<in> <whole>", "<in> <on> <whole>", trim=1)
def in_a_time(found: Meaning) -> Meaning | None:
    """A preposition makes sure that an ambiguous word is a time: im Mai, en 2019, in estate."""
    return found if not isinstance(found, (DayOfMonth, SlashDay)) else None


# Where the longer comes first: 五月初, 2021年的第三个月


@rule()
def position_behind(whole: Meaning, position: Position) -> Part | None:
    return part_of_a_time(position, whole)  # type: ignore[return-value]


@rule()
def day_behind(month: Meaning, day: int) -> Within | None:
    return day_in_a_month(day, month)  # type: ignore[return-value]


@rule()
def nth_weekday_behind(whole: Meaning, number: int, weekday: int) -> Nth:
    return Nth(number, Weekday(weekday), whole)


@rule()
def unit_position_behind(whole: Meaning, unit: Unit, position: Position) -> Part | None:
    return part_of_a_time(position, whole)  # type: ignore[return-value]


@rule()
def unit_then_position(unit: Unit, position: Position) -> Part | None:
    return part_of_this_unit(position, unit)  # type: ignore[return-value]


@rule()
def nth_unit_behind(whole: Meaning, number: int, unit: Unit) -> Nth | None:
    return Nth(number, unit, whole) if unit in ("day", "week", "month") else None


@rule()
def last_units_behind(whole: Meaning, much: Amount) -> EdgeOf:
    return EdgeOf(much, -1, whole)


@rule()
def first_units_behind(whole: Meaning, much: Amount) -> EdgeOf:
    return EdgeOf(much, 1, whole)


@rule(gives="stretch")
def date_to_day(first: MonthDay, day: int) -> Between | None:
    last = month_day(first.month, day)
    return Between(first, last) if last and first.day < day else None


@rule(gives="stretch")
def full_date_to_day(first: Fixed, day: int) -> Between | None:
    last = day_at(first.start.year, first.start.month, day) if isinstance(first, Fixed) else None
    return Between(first, last) if last and first.start.day < day else None


# Ranges of days


@rule("<dayn> <till> <on>? <md>", "<dayn> - <md>", "<dayn> <and> <on>? <md>", gives="stretch", bare=None)
def days_of_a_month(first: int, last: MonthDay) -> Between | None:
    start = month_day(last.month, first)
    return Between(start, MonthDay(last.month, last.day)) if start and first < last.day else None


@rule("<full-month> <daynum> -|<till> <daynum>", gives="stretch", bare=None)
def month_and_days(month: int, first: int, last: int) -> Between | None:
    start, end = month_day(month, first), month_day(month, last)
    return Between(start, end) if start and end and first < last else None


@rule("<stretch> ,? <of>? <year>", gives="stretch")
def stretch_and_year(stretch: Between, number: int) -> Between | None:
    if not isinstance(stretch.first, MonthDay) or not isinstance(stretch.last, MonthDay):
        return None
    first = day_at(number, stretch.first.month, stretch.first.day)
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


@rule("<stretch>", "<start> <stretch>", "<between> <on>? <stretch>")
def stretch_of_days(found: Between) -> Between:
    return found


@rule("<start> <dayn> <till> <on>? <dayn> <of>? <whole>", "<between> <on>? <dayn> <and> <on>? <dayn> <of>? <whole>")
def days_of_a_whole(first: int, last: int, month: Meaning) -> Between | None:
    known = isinstance(month, UnitAt) and month.unit == "month" and first < last
    return Between(Within(DayOfMonth(first), month), Within(DayOfMonth(last), month)) if known else None


@rule("<start> <dayn> <till> <on>? <dayn>", "<between> <on>? <dayn> <and> <on>? <dayn>")
def days_of_no_month(first: int, last: int) -> Between | None:
    return Between(DayOfMonth(first), DayOfMonth(last)) if first < last else None
