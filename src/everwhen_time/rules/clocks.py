"""Times of day: at 5pm, tomorrow at 17:30, half past seven on Friday, 3pm UTC, from 9am to 11am."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from everwhen_time.cycles import MonthDay, Within
from everwhen_time.meaning import AtClock, Clock, Hours, Meaning
from everwhen_time.parser import Make, RuleBook
from everwhen_time.rules.dates import year

book = RuleBook()
add, rule, fixed = book.add, book.rule, book.fixed


@rule("<clock> <zone>", gives="clock", bare=False)
def clock_in_a_zone(clock: Clock, offset: int) -> Clock:
    return replace(clock, offset=offset, exact=True)


@rule("<clock> <zone> + <num>", gives="clock")
def clock_ahead_of_utc(clock: Clock, offset: int, hours: float) -> Clock | None:
    """5pm GMT+2."""
    if offset or hours > 14:
        return None
    return replace(clock, offset=int(hours * 60), exact=True)


@rule("<clock> <zone> - <num>", gives="clock")
def clock_behind_utc(clock: Clock, offset: int, hours: float) -> Clock | None:
    return clock_ahead_of_utc(clock, offset, -hours) if hours <= 12 else None


def _on_a_dial(hour: float) -> bool:
    return 1 <= hour <= 12


def _past(minute: int | None) -> Make:
    return lambda hour: Clock(int(hour), minute) if _on_a_dial(hour) else None


add("o clock", _past(None), "<num> o'clock", gives="clock", bare=True)
add("half past", _past(30), "half past <num>", gives="clock", bare=True)
add("quarter past", _past(15), "a? quarter past <num>", gives="clock", bare=True)


add(
    "quarter to",
    lambda hour: Clock(int(hour) - 1 or 12, 45),
    "a? quarter to <num>",
    where=_on_a_dial,
    gives="clock",
    bare=True,
)


@rule("<num> minutes? past <num>", gives="clock", bare=True)
def minutes_past(minutes: float, hour: float) -> Clock | None:
    return Clock(int(hour), int(minutes)) if minutes in (5, 10, 20, 25) and _on_a_dial(hour) else None


# Seven am, half past seven pm


def _half_of_the_day(half: str, starts: int, called: str) -> None:
    @rule(f"<num> {half}", gives="clock", name=f"hour {called}")
    def of_an_hour(hour: float) -> Clock | None:
        return Clock(int(hour) % 12 + starts, exact=True) if hour in range(1, 13) else None

    @rule(f"<clock> {half}", gives="clock", name=f"clock {called}")
    def of_a_clock(clock: Clock) -> Clock | None:
        return None if clock.exact else replace(clock, hour=clock.hour % 12 + starts, exact=True)


_half_of_the_day("am", 0, "in the morning")
_half_of_the_day("pm", 12, "after noon")
fixed("noon", Clock(12, 0, exact=True), "noon|midday", "12 noon", gives="clock", bare=True)
fixed("midnight", Clock(24, 0, exact=True), "midnight", gives="clock", bare=True)


@rule("<clock> in the <daypart>", "<clock> at <daypart>", gives="clock")
def clock_in_a_daypart(clock: Clock, part: str) -> Clock:
    late = part in ("afternoon", "evening", "night") and clock.hour < 12
    return replace(clock, hour=clock.hour + 12 if late else clock.hour, exact=True)


@rule("<num> in the <daypart>", gives="clock")
def hour_in_a_daypart(hour: float, part: str) -> Clock | None:
    return clock_in_a_daypart(Clock(int(hour)), part) if hour in range(1, 13) else None


add("today at", AtClock, "<clock>", bare=None)
add("at clock", AtClock, "at|by|around|about|until|till|before|after|from <clock>", trim=1)
fixed("at", True, "at|around", "at around|about|exactly", ", at?", "from", "by", "@", gives="at")


@rule("<time> <clock>", name="day clock")
@rule("<time> <at> <clock>")
def day_at_clock(day: Meaning, *clock: Clock) -> AtClock | None:
    return None if isinstance(day, AtClock) else AtClock(clock[-1], day)


@rule("<md> ,? <clock> <year>", "<weekday> ,? <md> ,? <clock> <year>")
def clock_before_the_year(*parts: Any) -> AtClock | None:
    """Thu Oct 26 11:00:09 EDT 2023: how programs write it."""
    date, clock, number = parts[-3:]
    return AtClock(clock, Within(MonthDay(date.month, date.day), year(number)))


@rule("<md> ,? <clock> - <clock> <year>", "<weekday> ,? <md> ,? <clock> - <clock> <year>")
def hours_before_the_year(*parts: Any) -> Hours | None:
    date, first, last, number = parts[-4:]
    return Hours(first, last, Within(MonthDay(date.month, date.day), year(number)))


@rule("<time> at|around|@ <num>", "<time> at around|about <num>")
def day_at_hour(day: Meaning, hour: float) -> AtClock | None:
    return clock_on_a_day(hour, day)


@rule("<clock> ,? on? the? <time>", "at <num> on <time>", "at <num> <day>|<tonight>")
def clock_on_a_day(clock: Clock | float, day: Meaning) -> AtClock | None:
    if not isinstance(clock, Clock):
        if clock not in range(1, 25):
            return None
        clock = Clock(int(clock), exact=clock > 12)
    return None if isinstance(day, AtClock) else AtClock(clock, day)
