"""Times of day: at 5pm, um 10 Uhr, half past seven on Friday, 3pm UTC, from 9am to 11am."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from everwhen_time.cycles import Holiday, MonthDay, SlashDay, Weekday, Within
from everwhen_time.lexicon import is_clock
from everwhen_time.meaning import AtClock, Clock, Hours, Meaning, Part, PartOfDay, UnitAt
from everwhen_time.offsets import Ago, Between, Bound, HoursOrYears, SideOfClock, Window
from everwhen_time.parser import Make, RuleBook, turned
from everwhen_time.rules.bounds import is_one_day
from everwhen_time.rules.dates import year

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same


@rule(gives="clock", bare=False)
def clock_in_a_zone(clock: Clock, offset: int) -> Clock:
    return replace(clock, offset=offset, exact=True)


@rule(gives="clock")
def clock_ahead_of_utc(clock: Clock, offset: int, hours: float) -> Clock | None:
    """5pm GMT+2."""
    if offset or hours > 14:
        return None
    return replace(clock, offset=int(hours * 60), exact=True)


@rule(gives="clock")
def clock_behind_utc(clock: Clock, offset: int, hours: float) -> Clock | None:
    return clock_ahead_of_utc(clock, offset, -hours) if hours <= 12 else None


def _on_a_dial(hour: float) -> bool:
    return 1 <= hour <= 12


def _past(minute: int | None) -> Make:
    return lambda hour: Clock(int(hour), minute) if _on_a_dial(hour) else None


add("o clock", _past(None), gives="clock", bare=True)
add("half past", _past(30), "<num> <and> <half>", gives="clock", bare=True)
add("quarter past", _past(15), gives="clock", bare=True)


add("quarter to", lambda hour: Clock(int(hour) - 1 or 12, 45), where=_on_a_dial, gives="clock", bare=True)


@rule(gives="clock", bare=True)
def minutes_past(minutes: float, hour: float) -> Clock | None:
    return Clock(int(hour), int(minutes)) if minutes in (5, 10, 20, 25) and _on_a_dial(hour) else None


# Seven am, half past seven pm


def _half_of_the_day(half: str, starts: int, called: str) -> None:
    @rule(gives="clock", name=f"hour {called}")
    def of_an_hour(hour: float) -> Clock | None:
        return Clock(int(hour) % 12 + starts, exact=True) if hour in range(1, 13) else None

    @rule(gives="clock", name=f"clock {called}")
    def of_a_clock(clock: Clock) -> Clock | None:
        return None if clock.exact else replace(clock, hour=clock.hour % 12 + starts, exact=True)


_half_of_the_day("am", 0, "in the morning")
_half_of_the_day("pm", 12, "after noon")
fixed("noon", Clock(12, 0, exact=True), gives="clock", bare=True)
fixed("midnight", Clock(24, 0, exact=True), gives="clock", bare=True)


@rule(gives="clock")
def clock_in_a_daypart(clock: Clock, part: str) -> Clock:
    late = part in ("afternoon", "evening", "night") and clock.hour < 12
    return replace(clock, hour=clock.hour + 12 if late else clock.hour, exact=True)


@rule(gives="clock")
def hour_in_a_daypart(hour: float, part: str) -> Clock | None:
    return clock_in_a_daypart(Clock(int(hour)), part) if hour in range(1, 13) else None


add("clock of today", AtClock, bare=None)
add("at a clock", AtClock, trim=1)
fixed("at", True, gives="at-about")


@rule(name="day clock")
@rule(name="day and clock")
def day_and_clock(day: Meaning, *clock: Clock) -> AtClock | None:
    return None if isinstance(day, AtClock) else AtClock(clock[-1], day)


@rule()
def clock_before_the_year(*parts: Any) -> AtClock | None:
    """Thu Oct 26 11:00:09 EDT 2023: how programs write it."""
    date, clock, number = parts[-3:]
    return AtClock(clock, Within(MonthDay(date.month, date.day), year(number)))


@rule()
def hours_before_the_year(*parts: Any) -> Hours | None:
    date, first, last, number = parts[-4:]
    return Hours(first, last, Within(MonthDay(date.month, date.day), year(number)))


@rule()
def day_at_hour(day: Meaning, hour: float) -> AtClock | None:
    return clock_on_a_day(hour, day)


@rule()
def clock_on_a_day(clock: Clock | float, day: Meaning) -> AtClock | None:
    if not isinstance(clock, Clock):
        if clock not in range(1, 25):
            return None
        clock = Clock(int(clock), exact=clock > 12)
    return None if isinstance(day, AtClock) else AtClock(clock, day)


# Hours of a day: from 9am to 11am, 3-5pm, Friday between 2 and 4, 27 July 1100-1300


# How an hour is written beside a day, though alone it is only a number


same("written hour", gives="written-hour")


@rule(gives="clock")
def one_clock_or_another(first: Clock, last: Clock) -> Clock | None:
    """Around 7.30/8am, about one time; "11 am or 2 pm" are two."""
    first = _same_half(first, last)
    minutes = (last.hour - first.hour) * 60 + (last.minute or 0) - (first.minute or 0)
    return first if 0 < minutes <= 60 else None


@rule(gives="clock")
def one_hour_or_another(first: float, last: Clock) -> Clock | None:
    hour = _hour(first)
    return one_clock_or_another(hour, last) if hour else None


@rule()
def day_and_written_hour(day: Meaning, clock: Clock) -> AtClock | None:
    inner = day.whole if isinstance(day, Part) else day
    inner = inner.day if isinstance(inner, PartOfDay) else inner
    date = 1 <= (clock.minute or 0) <= 31 and 1 <= min(clock.hour, clock.minute or 0) <= 12
    if isinstance(inner, Weekday) and date:
        return None  # Tuesday 12.12 may be a date, which is a rule of its own
    return AtClock(clock, day) if _has_hours(day) else None


@rule()
@rule(name="day at four figures")
def day_at_written_hour(day: Meaning, clock: Clock) -> AtClock | None:
    return AtClock(clock, day) if _has_hours(day) else None


@rule()
@rule(name="four figures of a day")
def written_hour_of_a_day(clock: Clock, day: Meaning) -> AtClock | None:
    return AtClock(clock, day) if _has_hours(day) else None


@rule()
def day_at_one_hour_or_another(day: Meaning, first: float, last: float) -> AtClock | None:
    hour = _hour(first)
    return AtClock(hour, day) if hour and _hour(last) and _has_hours(day) else None


@rule(gives="final", bare=True)
def at_an_hour(number: float) -> AtClock | None:
    """At 7, with nothing beside it."""
    hour = _hour(number)
    return AtClock(hour) if hour else None


# Four figures: a time of day as travellers and soldiers write it


@rule()
def day_and_four_figures(day: Meaning, clock: Clock) -> AtClock | None:
    """27 July 1100, tomorrow 1500; a day and month take a year of ours as such."""
    figures = _figures(clock)
    if not is_one_day(day) or not (is_clock(figures) or _takes_no_year(day, figures)):
        return None
    return AtClock(clock, day)


@rule()
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
add("stamp to clock", lambda stamp, last: hours(stamp[0], stamp[1], last))


@rule()
def day_from_clock_to_clock(day: Meaning, first: Clock, last: Clock) -> Meaning | None:
    """On a day; behind several they are hours of each, and the days are what is said: Monday to Friday, 9am-5pm."""
    return day if isinstance(day, Between) else hours(day, first, last)


@rule(name="day from hour to clock")
@rule(name="day from hour to hour")
@rule(name="day from clock to hour")
@rule(name="day from written hour to another")
def day_from_to(day: Meaning, first: Clock | float, last: Clock | float) -> Hours | None:
    return hours(day, first, last) if _has_hours(day) else None


@rule()
@rule(name="from hour to clock on")
def from_clock_to_clock_on(first: Clock | float, last: Clock, day: Meaning) -> Hours | None:
    return day_from_to(day, first, last)


@rule()
def from_clock_to_clock_then_a_date(first: Clock, last: Clock, day: Meaning) -> Hours | None:
    """9:00 - 17:00, 12 August; behind "9 to 5, Monday" may come "to Friday"."""
    return hours(day, first, last) if is_one_day(day) and not isinstance(day, Weekday) else None


@rule()
@rule(gives="final", bare=True, name="from clock to hour")  # 1pm-3, nothing beside it
def from_clock_to_clock(first: Clock, last: Clock | float) -> Hours | None:
    return hours(None, first, last)


@rule()
def from_hour_to_clock(first: float, last: Clock) -> Hours | None:
    return hours(None, first, last) if last.exact else None


@rule()
def day_before_clock(day: Meaning, clock: Clock) -> SideOfClock | None:
    return SideOfClock(day, clock, -1) if is_one_day(day) else None


@rule()
def day_after_clock(day: Meaning, clock: Clock) -> SideOfClock | None:
    return SideOfClock(day, clock, 1) if is_one_day(day) else None


def _hour(number: float) -> Clock | None:
    if number != int(number) or not 0 <= number <= 24:
        return None
    return Clock(int(number), exact=number > 12 or number == 0)


def _has_hours(day: Meaning) -> bool:
    """Whether it is a day, or a part of one."""
    if isinstance(day, Part):
        return isinstance(day.whole, PartOfDay)
    return isinstance(day, PartOfDay) or is_one_day(day)


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


# Over the words that join, in any language


@rule("<num> <oclock>", "<num> <oclock> <num>", gives="clock", bare=True)
def hour(number: int, minute: int | None = None) -> Clock | None:
    return Clock(number, minute, exact=True) if number <= 24 and (minute or 0) < 60 else None


same(
    "hour and minutes",
    "<decimal-clock> <oclock>",
    "<at> <decimal-clock>",
    "<approx> <decimal-clock>",
    gives="clock",
    bare=True,
)


@rule("<at> <num>", gives="clock", bare=True)
def at_the_hour(number: int) -> Clock | None:
    return Clock(number, exact=number > 12) if 1 <= number <= 24 else None


same(
    "at clock",
    "<at> <clock>",
    "<approx> <clock>",
    "<at> <approx> <clock>",
    "<clock> <oclock>",
    gives="clock",
    bare=True,
)


@rule(gives="clock", bare=True)
def half_to(number: int) -> Clock | None:
    """Halb acht is half past seven."""
    return Clock(number - 1 or 12, 30) if 1 <= number <= 12 else None


add(
    "clock in a part",
    clock_in_a_daypart,
    "<clock> <part>",
    "<clock> <at-part> <part>",
    "<clock> <of> <part>",
    "<clock> <of> <on> <part>",
    gives="clock",
    bare=True,
)
add("part then clock", turned(clock_in_a_daypart), "<part> <clock>", gives="part-clock", bare=True)


@rule("<time> ,? <clock>", "<time> <part-clock>", "<time> <of> <clock>", "<time> <on> <clock>")
def day_at_clock(day: Meaning, clock: Clock) -> AtClock | None:
    return AtClock(clock, day) if _is_day_for_hours(day) else None


add("clock of a day", turned(day_at_clock), "<clock> ,? <on>? <time>", "<clock> <of> <on>? <time>")


def _is_day_for_hours(day: Meaning) -> bool:
    if isinstance(day, UnitAt):
        return day.unit == "day"
    return not isinstance(day, (AtClock, Hours, Between, Bound, Window, Ago))


@rule("<at> <clock>", trim=1)
def today_at(clock: Clock) -> AtClock | None:
    return AtClock(clock) if clock.minute is not None or clock.exact else None


@rule("<clock>", "<part-clock>", bare=True)
def only_a_clock(clock: Clock) -> AtClock | None:
    return AtClock(clock) if clock.exact else None


add(
    "hours",
    Hours,
    "<clock> -|<till> <clock>",
    "<start> <clock> -|<till> <clock>",
    "<between> <clock> <and> <clock>",
    gives="hours",
    bare=True,
)


@rule("<start> <num> <till> <clock>", "<num> -|<till> <clock>", gives="hours", bare=True)
def hours_from_a_number(first: int, last: Clock) -> Hours | None:
    return Hours(Clock(first, exact=True), last) if first <= 24 else None


@rule("<time> ,? <hours>")
def day_and_hours(day: Meaning, found: Hours) -> Hours | None:
    whole = day.day if isinstance(day, PartOfDay) else day
    return Hours(found.first, found.last, whole) if _is_day_for_hours(whole) else None


add("hours on a day", turned(day_and_hours), "<hours> ,? <on>? <time>")
same("only hours", "<hours>", bare=True)
