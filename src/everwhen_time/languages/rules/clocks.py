"""Times of day: um 10 Uhr, a las tres de la tarde, à 9h30, alle 8, morgen om 8.45, 18:00 - 19:05."""

from __future__ import annotations

from everwhen_time.bounded import Between, Bound
from everwhen_time.meaning import AtClock, Clock, Hours, Meaning, PartOfDay, UnitAt
from everwhen_time.offsets import Ago, Window
from everwhen_time.parser import SharedRules, turned
from everwhen_time.rules.clocks import clock_in_a_daypart

book = SharedRules()
add, rule, same = book.add, book.rule, book.same


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


@rule("<num> <and> <half>", gives="clock", bare=True)
def half_past(number: int) -> Clock | None:
    return Clock(number, 30) if 1 <= number <= 12 else None


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
    return AtClock(clock, day) if _is_day(day) else None


add("clock on a day", turned(day_at_clock), "<clock> ,? <on>? <time>", "<clock> <of> <on>? <time>")


def _is_day(day: Meaning) -> bool:
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
    return Hours(found.first, found.last, whole) if _is_day(whole) else None


add("hours on a day", turned(day_and_hours), "<hours> ,? <on>? <time>")
same("only hours", "<hours>", bare=True)
