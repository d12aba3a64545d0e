"""Hours of a day: from 9am to 11am, 3-5pm, Friday between 2 and 4, 27 July 1100-1300, tomorrow after 17:00."""

from __future__ import annotations

from dataclasses import replace

from everwhen_time.bounded import Between, HoursOrYears, SideOfClock
from everwhen_time.cycles import Holiday, MonthDay, SlashDay, Weekday
from everwhen_time.lexicon import is_clock
from everwhen_time.meaning import AtClock, Clock, Hours, Meaning, Part, PartOfDay
from everwhen_time.parser import RuleBook
from everwhen_time.rules.bounds import one_day

book = RuleBook()
add, rule, same = book.add, book.rule, book.same


# How an hour is written beside a day, though alone it is only a number


same("written hour", "<hh.mm>", "<hour-h>", "<hh.mm> h|hrs", "<hhmm> h|hrs|hours", gives="written-hour")


@rule("<clock> or|/ <clock>", "<hh.mm> or|/ <clock>", gives="clock")
def one_clock_or_another(first: Clock, last: Clock) -> Clock | None:
    """Around 7.30/8am, about one time; "11 am or 2 pm" are two."""
    first = _same_half(first, last)
    minutes = (last.hour - first.hour) * 60 + (last.minute or 0) - (first.minute or 0)
    return first if 0 < minutes <= 60 else None


@rule("<num> or|/ <clock>", gives="clock")
def one_hour_or_another(first: float, last: Clock) -> Clock | None:
    hour = _hour(first)
    return one_clock_or_another(hour, last) if hour else None


@rule("<time> ,? <written-hour>")
def day_and_written_hour(day: Meaning, clock: Clock) -> AtClock | None:
    inner = day.whole if isinstance(day, Part) else day
    inner = inner.day if isinstance(inner, PartOfDay) else inner
    date = 1 <= (clock.minute or 0) <= 31 and 1 <= min(clock.hour, clock.minute or 0) <= 12
    if isinstance(inner, Weekday) and date:
        return None  # Tuesday 12.12 may be a date, which is a rule of its own
    return AtClock(clock, day) if _has_hours(day) else None


@rule("<time> ,? at|around|about|from|by|@ <written-hour>", "<time> at around|about <written-hour>")
@rule("<time> at|around|about|@ <hhmm>", "<time> at around|about <hhmm>", name="day at four figures")
def day_at_written_hour(day: Meaning, clock: Clock) -> AtClock | None:
    return AtClock(clock, day) if _has_hours(day) else None


@rule("at? <written-hour> on <time>", "at <written-hour> <day>")
@rule("at <hhmm> on <time>", "at <hhmm> <day>", name="four figures of a day")
def written_hour_of_a_day(clock: Clock, day: Meaning) -> AtClock | None:
    return AtClock(clock, day) if _has_hours(day) else None


@rule("<time> at|around|about <num> or|/ <num>")
def day_at_one_hour_or_another(day: Meaning, first: float, last: float) -> AtClock | None:
    hour = _hour(first)
    return AtClock(hour, day) if hour and _hour(last) and _has_hours(day) else None


@rule("at <num>", gives="final", bare=True)
def at_an_hour(number: float) -> AtClock | None:
    """At 7, with nothing beside it."""
    hour = _hour(number)
    return AtClock(hour) if hour else None


# Four figures: a time of day as travellers and soldiers write it


@rule("<time> <hhmm>")
def day_and_four_figures(day: Meaning, clock: Clock) -> AtClock | None:
    """27 July 1100, tomorrow 1500; a day and month take a year of ours as such."""
    figures = _figures(clock)
    if not one_day(day) or not (is_clock(figures) or _takes_no_year(day, figures)):
        return None
    return AtClock(clock, day)


@rule("<time> ,? from|between? <hhmm> -|to|and|until|till <hhmm>")
def day_from_figures_to_figures(day: Meaning, first: Clock, last: Clock) -> Hours | None:
    """27 July 1100-1300; in "28 July 1914-1918" they are years."""
    if not _has_hours(day) or _figures(first) >= _figures(last):
        return None
    sure = any(is_clock(one) or _takes_no_year(day, one) for one in (_figures(first), _figures(last)))
    if sure or not any(1700 <= figures < 2100 for figures in (_figures(first), _figures(last))):
        return hours(day, first, last)
    return HoursOrYears(first, last, day)


def _figures(clock: Clock) -> int:
    return clock.hour * 100 + (clock.minute or 0)


def _takes_no_year(day: Meaning, figures: int) -> bool:
    """Whether a year behind it would make no sense: tomorrow 1945; numbers take one of our time, 27/7 2015."""
    if isinstance(day, SlashDay):
        return not 1900 <= figures < 2100
    return not isinstance(day, (MonthDay, Holiday))


# From one hour to another


# 2014-04-18 13:00 - 16:00.
add("stamp to clock", lambda stamp, last: hours(stamp[0], stamp[1], last), "<stamp> -|to|until|till <clock>")


@rule("<time> ,? from? <clock> to|-|until|till <clock>", "<time> ,? between <clock> and <clock>")
def day_from_clock_to_clock(day: Meaning, first: Clock, last: Clock) -> Meaning | None:
    """On a day; behind several they are hours of each, and the days are what is told: Monday to Friday, 9am-5pm."""
    return day if isinstance(day, Between) else hours(day, first, last)


@rule("<time> ,? from|between? <num> to|-|and|until|till <clock>", name="day from hour to clock")
@rule(
    "<time> ,? from <num> to|-|until|till <num>",
    "<time> ,? between <num> and|- <num>",
    name="day from hour to hour",
)
@rule("<time> ,? from? <clock> -|to|until|till <num>", name="day from clock to hour")
@rule(
    "<time> ,? <written-hour> -|to|until|till <written-hour>",
    "<time> ,? from <written-hour> to|- <written-hour>",
    name="day from written hour to another",
)
def day_from_to(day: Meaning, first: Clock | float, last: Clock | float) -> Hours | None:
    return hours(day, first, last) if _has_hours(day) else None


@rule("from? <clock> to|-|until|till <clock> on? <time>", "between <clock> and <clock> on? <time>")
@rule(
    "from? <num> to|-|until|till <clock> on? <time>",
    "between <num> and <clock> on? <time>",
    name="from hour to clock on",
)
def from_clock_to_clock_on(first: Clock | float, last: Clock, day: Meaning) -> Hours | None:
    return day_from_to(day, first, last)


@rule("from? <clock> to|-|until|till <clock> , <time>", "between <clock> and <clock> , <time>")
def from_clock_to_clock_then_a_date(first: Clock, last: Clock, day: Meaning) -> Hours | None:
    """9:00 - 17:00, 12 August; behind "9 to 5, Monday" may come "to Friday"."""
    return hours(day, first, last) if one_day(day) and not isinstance(day, Weekday) else None


@rule("from? <clock> to|-|until|till <clock>", "between <clock> and <clock>")
@rule("<clock> -|to <num>", gives="final", bare=True, name="from clock to hour")  # 1pm-3, nothing beside it
def from_clock_to_clock(first: Clock, last: Clock | float) -> Hours | None:
    return hours(None, first, last)


@rule("from? <num> to|-|until|till <clock>", "between <num> and <clock>")
def from_hour_to_clock(first: float, last: Clock) -> Hours | None:
    return hours(None, first, last) if last.exact else None


@rule("<time> ,? before|until|till <clock>")
def day_before_clock(day: Meaning, clock: Clock) -> SideOfClock | None:
    return SideOfClock(day, clock, -1) if one_day(day) else None


@rule("<time> ,? after <clock>")
def day_after_clock(day: Meaning, clock: Clock) -> SideOfClock | None:
    return SideOfClock(day, clock, 1) if one_day(day) else None


def _hour(number: float) -> Clock | None:
    if number != int(number) or not 0 <= number <= 24:
        return None
    return Clock(int(number), exact=number > 12 or number == 0)


def _has_hours(day: Meaning) -> bool:
    """Whether it is a day, or a part of one."""
    if isinstance(day, Part):
        return isinstance(day.whole, PartOfDay)
    return isinstance(day, PartOfDay) or one_day(day)


def _same_half(first: Clock, last: Clock) -> Clock:
    """The first of two, in the half of the day that the second is in: 3 to 5pm."""
    later = (first.hour + 12, first.minute or 0) < (last.hour, last.minute or 0)
    if last.exact and not first.exact and last.hour >= 12 > first.hour and later:
        return replace(first, hour=first.hour + 12, exact=True)
    return replace(first, exact=True) if last.exact and last.hour < 12 else first


def hours(day: Meaning | None, first: Clock | float, last: Clock | float) -> Hours | None:
    """The hours of a day between two clocks or hours, each of which may say what the other leaves out."""
    start, end = _clock(first), _clock(last)
    if start is None or end is None or isinstance(day, (AtClock, Hours)):
        return None
    day = day.day if isinstance(day, PartOfDay) else day
    start = _same_half(start, end)
    if start.offset is None and end.offset is not None:
        start = replace(start, offset=end.offset)
    return Hours(start, end, day)


def _clock(one: Clock | float) -> Clock | None:
    return one if isinstance(one, Clock) else _hour(one)
