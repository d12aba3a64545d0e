"""Times relative to the moment of speaking: yesterday, last week, next Friday, two months ago, recently."""

from __future__ import annotations

from functools import partial

from everwhen_time.anaphora import Following
from everwhen_time.calendar import Unit
from everwhen_time.cycles import Coming, Counted, Cycle, DayOfMonth, Pick, Season, Several, Weekday, Weekend
from everwhen_time.meaning import Days, Meaning, Sign, UnitAt
from everwhen_time.offsets import FEW, Ago, Amount, Count, InAmount, Window, amount
from everwhen_time.parser import Make, RuleBook, ends_in

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same


def is_long(unit: Unit) -> bool:
    """Whether "last" and "next" count such units by the calendar."""
    return unit not in ("second", "minute", "hour", "day", "half")


def is_hour_or_longer(unit: Unit) -> bool:
    return unit not in ("second", "minute")


def week_to_year(unit: Unit) -> bool:
    return unit in ("week", "month", "quarter", "year")


def is_counted(unit: Unit) -> bool:
    """Whether several of them are a stretch of time that people speak of: the last few days."""
    return unit in ("day", "week", "month", "year")


def few_units(sign: Sign) -> Make:
    """A few such units, up to now or from now on."""
    return lambda unit: Window(amount(FEW, unit), sign)


def unit_at(offset: int) -> Make:
    """The calendar unit that lies so many before or after the present one."""
    return lambda unit: UnitAt(unit, offset) if is_long(unit) else None


same("a day", "<day>")
add("last unit", unit_at(-1), "last|previous calendar|fiscal|financial|school? <unit>", gives="whole")
add(
    "this unit",
    unit_at(0),
    "this|current <unit>",
    "the current|present <unit>",
    "this|current|present|the calendar|fiscal|financial <unit>",
    gives="whole",
)
_NEXT = "this? next|coming|upcoming calendar|fiscal|financial|school? <unit>"
add("next unit", unit_at(1), _NEXT, gives="whole")
add("unit before last", unit_at(-2), "<unit> before last", gives="whole")
add("unit after next", unit_at(2), "<unit> after next", gives="whole")
add("following unit", Following, "following <unit>", gives="whole", where=is_long)


def _past(unit: Unit) -> Window:
    """The unit up to now."""
    return Window(amount(1, unit), -1)


@rule("this? past <unit>", gives="whole")
def past_unit(unit: Unit) -> Meaning | None:
    if unit == "quarter":
        return UnitAt(unit, -1)
    return _past(unit) if is_hour_or_longer(unit) else None


# With a preposition and an article it runs up to now: over the last year.
_OVER = "in|over|during|within|for|throughout the last|past <unit>"
add("over the last unit", _past, _OVER, where=is_hour_or_longer, trim=1)
fixed("last hour", _past("hour"), "last hour")
fixed("next hour", Window(amount(1, "hour"), 1), "next hour")
add("the unit", UnitAt, "the <unit>", gives="the-unit", where=lambda unit: is_long(unit) or unit == "day")
same("for the unit", "for <the-unit>", where=lambda at: at.unit == "day" or week_to_year(at.unit), trim=1)
same("in the unit", "in|during|throughout <the-unit>", where=lambda at: week_to_year(at.unit), trim=1)
add("all of the unit", UnitAt, "all <unit>", "all <unit> long", where=week_to_year, trim=1)
add("all of the season", Season, "all <season>", "all <season> long", trim=1)


# Cycles: weekdays, months, seasons, holidays, weekends


def _is_named(cycle: Cycle) -> bool:
    """Whether there is a last and a present one: "this 13th" names no day."""
    return not isinstance(cycle, DayOfMonth)


add("last of a cycle", partial(Pick, "last"), "last <cycle>", "this? past <cycle>", where=_is_named)
add("previous of a cycle", partial(Pick, "previous"), "previous <cycle>")
add("this of a cycle", partial(Pick, "this"), "this|current <cycle>", where=_is_named)
add("next of a cycle", partial(Pick, "next"), "next|following <cycle>")
add("coming of a cycle", Coming, "this|the? coming|upcoming <cycle>")
add("weekday last", partial(Pick, "last"), "<cycle> last", where=ends_in(Weekday))
add("weekday next", partial(Pick, "next"), "<cycle> next", where=ends_in(Weekday))


@rule("<cycle> before last")
def cycle_before_last(cycle: Cycle) -> Counted:
    return Counted(cycle, -2)


@rule("<cycle> after next")
def cycle_after_next(cycle: Cycle) -> Counted:
    return Counted(cycle, 2)


same("weekend", "<weekend>", gives="cycle", bare=True)
fixed("long weekend", Weekend(3), "long|holiday|bank <weekend>", gives="cycle", bare=True)
same("the weekend", "the <weekend>", "at|on|over|during the? <weekend>")


def _counted(cycle: Cycle, count: Count, sign: int) -> Counted | None:
    if count.low != count.high or count.low != int(count.low):
        return None
    return Counted(cycle, int(count.low) * sign)


add("weekdays ago", lambda count, day: _counted(Weekday(day), count, -1), "<count> <weekdays> ago|back")
add("weekends ago", lambda count: _counted(Weekend(), count, -1), "<count> weekends ago|back")
add("seasons ago", lambda count, season: _counted(Season(season), count, -1), "<count> <season> ago")
add("weekdays from now", lambda count, day: _counted(Weekday(day), count, 1), "<count> <weekdays> from now")
_LAST = "the? last|past <num>"
add("the last weekdays", lambda count, day: Several(Weekday(day), -int(count)), f"{_LAST} <weekdays>")
add("the last weekends", lambda count: Several(Weekend(), -int(count)), f"{_LAST} weekends")
add("the last seasons", lambda count, season: Several(Season(season), -int(count)), f"{_LAST} <season>")
add("the next weekdays", lambda count, day: Several(Weekday(day), int(count)), "the? next <num> <weekdays>")


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
    return Ago(amount(Count(2, most), unit), -1) if most else None


add("in so long", InAmount, "in <amount>", "in <amount> '|'s? time", "in <amount> from now|today")


@rule("<amount> from now", "<amount> hence")
@rule("+ <amount>", "+ <letter-amount>", gives="final", bare=True, name="plus so long")  # as commands have it
def from_now(so_long: Amount) -> Ago:
    return Ago(so_long, 1)


@rule("within <amount>", "within the next|coming <amount>")
def within(so_long: Amount) -> Window:
    return Window(so_long, 1, from_now=True)


def _window(sign: Sign) -> Make:
    """The last or the next so long; "the last second" is an idiom."""
    return lambda so_long: (
        Window(so_long, sign) if [unit for _, unit in so_long.parts] != ["second"] else None
    )


add("the last so long", _window(-1), "the? last|past|previous <amount>", "these|those last|past <amount>")
add("the next so long", _window(1), "the? next|coming|following <amount>")
add("the last units", few_units(-1), "the? last|past <units>", where=is_counted)
add("the coming units", few_units(1), "the coming|next <units>", "coming <units>", where=is_counted)


# Ages: an anchor that only the memory can date


_WHEN_YOUNG = "when|since i|we|you|he|she|they was|were"


@rule(f"{_WHEN_YOUNG} <num>", f"{_WHEN_YOUNG} <num> years old", gives="age")
@rule("by the time i|we|you|he|she|they was|were <num>", gives="age")
@rule("at the age of <num>", "at age <num>", gives="age")
def age(years: float) -> str | None:
    return f"age {years:g}" if 0 < years < 120 else None


_YOUNG = "a? kid|kids|child|children|teenager|little|young"
fixed("childhood", "young", f"{_WHEN_YOUNG} {_YOUNG}", gives="age")


# Vague


same("vaguely", "<vague>")
fixed("the other day", Days(-7, -1), "the? other day|morning|evening|night|afternoon")
fixed("the other week", Days(-21, -4), "the other week")
fixed("the other month", Days(-90, -15), "the other month")
fixed("of late", Days(-14, 0), "the? last|past while", "of late", "these days", "in recent days|weeks")
fixed("recent months", Window(amount(FEW, "month"), -1), "in recent months")
fixed("recent years", Window(amount(FEW, "year"), -1), "in recent years")
