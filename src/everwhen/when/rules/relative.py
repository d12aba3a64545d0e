"""Times relative to the moment of speaking: yesterday, last week, next Friday, two months ago, recently."""

from __future__ import annotations

from collections.abc import Callable

from everwhen.when.calendar import Unit
from everwhen.when.cycles import Coming, Counted, Cycle, DayOfMonth, Pick, Season, Several, Weekday, Weekend
from everwhen.when.meaning import (
    Days,
    Following,
    Meaning,
    UnitAt,
)
from everwhen.when.offsets import Ago, Amount, Count, InAmount, Window, amount
from everwhen.when.parser import RuleBook

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_LONG: tuple[Unit, ...] = ("week", "month", "quarter", "year", "decade", "century")


same("a day", "<day>", gives="time")


def _unit(offset: int) -> Callable[[Unit], UnitAt | None]:
    return lambda unit: UnitAt(unit, offset) if unit in _LONG else None


add("last unit", _unit(-1), "last|previous calendar|fiscal|financial|school? <unit>", gives="whole")
add(
    "this unit",
    _unit(0),
    "this|current <unit>",
    "the current|present <unit>",
    "this|current|present|the calendar|fiscal|financial <unit>",
    gives="whole",
)
add(
    "next unit",
    _unit(1),
    "this? next|coming|upcoming calendar|fiscal|financial|school? <unit>",
    gives="whole",
)
add("unit before last", _unit(-2), "<unit> before last", gives="whole")
add("unit after next", _unit(2), "<unit> after next", gives="whole")


@rule("following <unit>", gives="whole")
def following_unit(unit: Unit) -> Following | None:
    return Following(unit) if unit in _LONG else None


@rule("this? past <unit>", gives="whole")
def past_unit(unit: Unit) -> Meaning | None:
    if unit == "quarter":
        return UnitAt(unit, -1)
    return Window(amount(1, unit), -1) if unit not in ("second", "minute") else None


@rule("in|over|during|within|for|throughout the last|past <unit>", trim=1)
def over_the_last_unit(unit: Unit) -> Window | None:
    """With a preposition and an article it runs up to now: over the last year."""
    return Window(amount(1, unit), -1) if unit not in ("second", "minute") else None


fixed("last hour", Window(amount(1, "hour"), -1), "last hour")
fixed("next hour", Window(amount(1, "hour"), 1), "next hour")


@rule("the <unit>", gives="the-unit")
def the_unit(unit: Unit) -> UnitAt | None:
    return UnitAt(unit, 0) if unit in _LONG or unit == "day" else None


add("for the unit", lambda unit: unit if unit.unit in ("day", *_LONG[:4]) else None, "for <the-unit>", trim=1)


@rule("in|during|throughout <the-unit>", trim=1)
def in_the_unit(unit: UnitAt) -> UnitAt | None:
    return unit if unit.unit in _LONG[:4] else None


@rule("all <unit>", "all <unit> long", trim=1)
def all_of_the_unit(unit: Unit) -> UnitAt | None:
    return UnitAt(unit, 0) if unit in ("week", "month", "quarter", "year") else None


add("all of the season", Season, "all <season>", "all <season> long", trim=1)


# Cycles: weekdays, months, seasons, holidays, weekends


@rule("last <cycle>", "this? past <cycle>")
def last_of_a_cycle(cycle: Cycle) -> Pick | None:
    return None if isinstance(cycle, DayOfMonth) else Pick("last", cycle)


add("previous of a cycle", lambda cycle: Pick("previous", cycle), "previous <cycle>")


@rule("this|current <cycle>")
def this_of_a_cycle(cycle: Cycle) -> Pick | None:
    return None if isinstance(cycle, DayOfMonth) else Pick("this", cycle)


add("next of a cycle", lambda cycle: Pick("next", cycle), "next|following <cycle>")
add("coming of a cycle", Coming, "this|the? coming|upcoming <cycle>")
add("weekday last", lambda cycle: Pick("last", cycle) if isinstance(cycle, Weekday) else None, "<cycle> last")
add("weekday next", lambda cycle: Pick("next", cycle) if isinstance(cycle, Weekday) else None, "<cycle> next")


@rule("<cycle> before last")
def cycle_before_last(cycle: Cycle) -> Counted:
    return Counted(cycle, -2)


@rule("<cycle> after next")
def cycle_after_next(cycle: Cycle) -> Counted:
    return Counted(cycle, 2)


same("weekend", "<weekend>", gives="cycle", bare=True)
fixed("long weekend", Weekend(3), "long|holiday|bank <weekend>", gives="cycle", bare=True)
same("the weekend", "the <weekend>", "at|on|over|during the? <weekend>")


@rule("<count> <weekdays> ago", "<count> <weekdays> back")
def weekdays_ago(count: Count, day: int) -> Counted | None:
    return _counted(Weekday(day), count, -1)


@rule("<count> weekends ago", "<count> weekends back")
def weekends_ago(count: Count) -> Counted | None:
    return _counted(Weekend(), count, -1)


add("seasons ago", lambda count, season: _counted(Season(season), count, -1), "<count> <season> ago")
add("weekdays from now", lambda count, day: _counted(Weekday(day), count, 1), "<count> <weekdays> from now")


@rule("last|past <num> <weekdays>", "the last|past <num> <weekdays>")
def the_last_weekdays(count: float, day: int) -> Several:
    return Several(Weekday(day), -int(count))


@rule("last|past <num> weekends", "the last|past <num> weekends")
def the_last_weekends(count: float) -> Several:
    return Several(Weekend(), -int(count))


@rule("the? last|past <num> <season>")
def the_last_seasons(count: float, season: str) -> Several:
    return Several(Season(season), -int(count))


add("the next weekdays", lambda count, day: Several(Weekday(day), int(count)), "the? next <num> <weekdays>")


def _counted(cycle: Cycle, count: Count, sign: int) -> Counted | None:
    if count.low != count.high or count.low != int(count.low):
        return None
    return Counted(cycle, int(count.low) * sign)


# Counting from now


@rule("<amount> ago", "<amount> back", "<amount> ago now", "<letter-amount> ago")
@rule(
    "<amount> since",
    "<amount> have|has passed|elapsed since",
    "<amount> have|has gone by since",
    name="so long since",
)
def ago(so_long: Amount) -> Ago:
    """Three years ago; three years since grandpa died."""
    return Ago(so_long, -1)


@rule("<units> ago")
def unspecified_ago(unit: Unit) -> Ago | None:
    most = {"day": 6, "week": 7, "month": 11, "year": 10, "decade": 5}.get(unit)
    return Ago(Amount(((Count(2, most), unit),)), -1) if most else None


add(
    "in so long",
    InAmount,
    "in <amount>",
    "in <amount> ' time",
    "in <amount> 's time",
    "in <amount> time",
    "in <amount> from now|today",
)


@rule("<amount> from now", "<amount> hence")
@rule("+ <amount>", "+ <letter-amount>", gives="final", bare=True, name="plus so long")  # as commands have it
def from_now(so_long: Amount) -> Ago:
    return Ago(so_long, 1)


@rule("within <amount>", "within the next|coming <amount>")
def within(so_long: Amount) -> Window:
    return Window(so_long, 1, from_now=True)


@rule("last|past|previous <amount>", "these|those last|past <amount>", "the last|past|previous <amount>")
def the_last_so_long(so_long: Amount) -> Window | None:
    return None if _article(so_long) else Window(so_long, -1)


@rule("next|coming|following <amount>", "the next|coming|following <amount>")
def the_next_so_long(so_long: Amount) -> Window | None:
    return None if _article(so_long) else Window(so_long, 1)


@rule("last|past <units>", "the last|past <units>")
def the_last_units(unit: Unit) -> Window | None:
    return Window(amount(Count(2, 5), unit), -1) if unit in ("day", "week", "month", "year") else None


@rule("the coming|next <units>", "coming <units>")
def the_coming_units(unit: Unit) -> Window | None:
    return Window(amount(Count(2, 5), unit), 1) if unit in ("day", "week", "month", "year") else None


def _article(so_long: Amount) -> bool:
    return len(so_long.parts) == 1 and so_long.unit in ("second",)


# Ages: an anchor that only the memory can date


@rule("when|since i|we|you|he|she|they was|were <num>", gives="age")
@rule("when|since i|we|you|he|she|they was|were <num> years old", gives="age")
@rule("by the time i|we|you|he|she|they was|were <num>", gives="age")
@rule("at the age of <num>", "at age <num>", gives="age")
def age(years: float) -> str | None:
    return f"age {years:g}" if 0 < years < 120 else None


fixed(
    "childhood",
    "young",
    "when|since i|we|you|he|she|they was|were a? kid|kids|child|children|teenager|little|young",
    gives="age",
)


# Vague


same("vaguely", "<vague>")
fixed("the other day", Days(-7, -1), "the? other day|morning|evening|night|afternoon")
fixed("the other week", Days(-21, -4), "the other week")
fixed("the other month", Days(-90, -15), "the other month")
fixed("of late", Days(-14, 0), "the? last|past while", "of late", "these days", "in recent days|weeks")
fixed("recent months", Window(amount(Count(2, 5), "month"), -1), "in recent months")
fixed("recent years", Window(amount(Count(2, 5), "year"), -1), "in recent years")
