"""Times counted from now, or from a date mentioned before: last week, il y a trois jours, every Monday."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    Coming,
    Counted,
    Cycle,
    DayOfMonth,
    Holiday,
    Months,
    Pick,
    Recurrence,
    Season,
    Several,
    Weekday,
    Weekend,
    Within,
)
from everwhen_time.interval import coarser
from everwhen_time.meaning import GRAIN, Context, Days, Meaning, PartOfDay, Rest, Sign, Span, UnitAt
from everwhen_time.offsets import (
    FEW,
    Ago,
    Amount,
    Beside,
    Count,
    EdgeOf,
    Following,
    InAmount,
    Later,
    NextTo,
    Offset,
    OnTheDay,
    Window,
    amount,
)
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


def _unit(offset: int) -> Make:
    """The calendar unit that lies so many before or after the present one."""
    return lambda unit: UnitAt(unit, offset) if is_long(unit) or unit == "half" else None


same("a day", "<day>")
add("last unit", _unit(-1), "<last> <unit>", "<unit> <last>", gives="whole")
add("this unit", _unit(0), "<this> <unit>", "<unit> <this>", gives="whole")
add("next unit", _unit(1), "<next>|<coming> <unit>", "<unit> <next>|<coming>", gives="whole")
add("unit before last", _unit(-2), "<before-last> <unit>", "<unit> <before-last>", gives="whole")
add("unit after next", _unit(2), "<after-next> <unit>", "<unit> <after-next>", gives="whole")
add("following unit", Following, gives="whole", where=is_long)


def _past(unit: Unit) -> Window:
    """The unit up to now."""
    return Window(amount(1, unit), -1)


@rule(gives="whole")
def past_unit(unit: Unit) -> Meaning | None:
    if unit == "quarter":
        return UnitAt(unit, -1)
    return _past(unit) if is_hour_or_longer(unit) else None


# With a preposition and an article it runs up to now: over the last year.
add("over the last unit", _past, where=is_hour_or_longer, trim=1)
fixed("last hour", _past("hour"))
fixed("next hour", Window(amount(1, "hour"), 1))
add("the unit", UnitAt, gives="the-unit", where=lambda unit: is_long(unit) or unit == "day")
same("for the unit", where=lambda at: at.unit == "day" or week_to_year(at.unit), trim=1)
same("in the unit", where=lambda at: week_to_year(at.unit), trim=1)
add("all of the unit", UnitAt, where=week_to_year, trim=1)
add("all of the season", Season, trim=1)


# Cycles: weekdays, months, seasons, holidays, weekends


def _is_named(cycle: Cycle) -> bool:
    """Whether there is a last and a present one: "this 13th" names no day."""
    return not isinstance(cycle, DayOfMonth)


add("last of a cycle", partial(Pick, "last"), where=_is_named)
add("previous of a cycle", partial(Pick, "previous"))
add("this of a cycle", partial(Pick, "this"), where=_is_named)
add("next cycle", partial(Pick, "next"), "<next> <cycle>", "<cycle> <next>")
add("coming cycle", Coming, "<coming> <cycle>", "<cycle> <coming>")
add("weekday last", partial(Pick, "last"), where=ends_in(Weekday))
add("weekday next", partial(Pick, "next"), where=ends_in(Weekday))


@rule("<before-last> <cycle>", "<cycle> <before-last>")
def cycle_before_last(cycle: Cycle) -> Counted:
    return Counted(cycle, -2)


@rule("<after-next> <cycle>", "<cycle> <after-next>")
def cycle_after_next(cycle: Cycle) -> Counted:
    return Counted(cycle, 2)


same("weekend", gives="cycle", bare=True)
fixed("long weekend", Weekend(3), gives="cycle", bare=True)
same("the weekend")


def _counted(cycle: Cycle, count: Count, sign: int) -> Counted | None:
    if count.low != count.high or count.low != int(count.low):
        return None
    return Counted(cycle, int(count.low) * sign)


add("weekdays ago", lambda count, day: _counted(Weekday(day), count, -1))
add("weekends ago", lambda count: _counted(Weekend(), count, -1))
add("seasons ago", lambda count, season: _counted(Season(season), count, -1))
add("weekdays from now", lambda count, day: _counted(Weekday(day), count, 1))
add("the last weekdays", lambda count, day: Several(Weekday(day), -int(count)))
add("the last weekends", lambda count: Several(Weekend(), -int(count)))
add("the last seasons", lambda count, season: Several(Season(season), -int(count)))
add("the next weekdays", lambda count, day: Several(Weekday(day), int(count)))


# Counting from now


@rule("<ago> <amount>", "<amount> <ago-after>")
@rule(name="so long since")
def ago(so_long: Amount) -> Ago:
    """Three years ago; three years since grandpa died."""
    return Ago(so_long, -1)


@rule()
def unspecified_ago(unit: Unit) -> Ago | None:
    most = {"day": 6, "week": 7, "month": 11, "year": 10, "decade": 5}.get(unit)
    return Ago(amount(Count(2, most), unit), -1) if most else None


add("in so long", InAmount)


@rule()
@rule(gives="final", bare=True, name="plus so long")  # as commands have it
def from_now(so_long: Amount) -> Ago:
    return Ago(so_long, 1)


@rule("<within> <amount>", "<within> <on> <amount>")
def within(so_long: Amount) -> Window:
    return Window(so_long, 1, from_now=True)


def _window(sign: Sign) -> Make:
    """The last or the next so long; "the last second" is an idiom."""
    return lambda so_long: (
        Window(so_long, sign) if [unit for _, unit in so_long.parts] != ["second"] else None
    )


add("the last so long", _window(-1), "<last> <amount>", "<amount> <last>", "<since> <ago>? <amount>")
add("the next so long", _window(1), "<next>|<coming> <amount>", "<amount> <next>|<coming>")
add("the last units", few_units(-1), where=is_counted)
add("the coming units", few_units(1), where=is_counted)


# Ages: an anchor that only the memory can date


@rule(gives="age")
def age(years: float) -> str | None:
    return f"age {years:g}" if 0 < years < 120 else None


fixed("childhood", "young", gives="age")


# Vague


same("vaguely")
fixed("the other day", Days(-7, -1))
fixed("the other week", Days(-21, -4))
fixed("the other month", Days(-90, -15))
fixed("of late", Days(-14, 0))
fixed("recent months", Window(amount(FEW, "month"), -1))
fixed("recent years", Window(amount(FEW, "year"), -1))


@dataclass(frozen=True, slots=True)
class Ahead(Meaning):
    """ "In zwei Wochen": counted from now; with a past verb it is how long something took."""

    confidence: ClassVar[float] = 0.8
    amount: Amount

    def span(self, ctx: Context) -> Span | None:
        return None if ctx.side == "past" else Ago(self.amount, 1).span(ctx)


add("ago units", lambda unit: Ago(amount(FEW, unit), -1), "<ago> <units>", "<units> <ago-after>")
add("ago one", lambda unit: Ago(amount(1, unit), -1))


def _is_arranged_by(unit: Unit) -> bool:
    """Whether "in one" is a plan: in a week."""
    return unit in ("week", "month", "year", "hour")


add("ahead", Ahead, "<ahead> <amount>")


add("ahead one", lambda unit: Ahead(amount(1, unit)), "<ahead> <unit>", where=_is_arranged_by)


def _offset(sign: Sign) -> Make:
    def offset(*parts: Meaning | Amount) -> Offset | None:
        much = next(part for part in parts if isinstance(part, Amount))
        anchor = next(part for part in parts if isinstance(part, Meaning))
        return (
            None if isinstance(anchor, (Ago, Offset, Window)) else Offset(much, sign, anchor, ahead=sign > 0)
        )

    return offset


def _neighbour(sign: Sign) -> Make:
    def beside(thing: Unit | Cycle, anchor: Meaning) -> Beside | None:
        if isinstance(thing, Cycle):
            known = isinstance(thing, Weekday) and not isinstance(anchor, Weekday)
        else:
            known = is_counted(thing)
        return (
            Beside(thing, sign, anchor)
            if known and not isinstance(anchor, (Ago, Offset, Window, Beside))
            else None
        )

    return beside


_BEFORE = ("<day> <ago> <amount>", "<amount> <before> <day>", "<amount> <before> <on>? <time>")
add("before a day", _offset(-1), *_BEFORE)


_AFTER = (
    "<day>|<cycle> <ahead> <amount>",
    "<amount> <after> <on>? <time>",
    "<amount> <onward>|<since>|<from> <day>",
)
add("after a day", _offset(1), *_AFTER)


add("neighbour before", _neighbour(-1), "<unit>|<cycle> <before> <on>? <time>")


add("neighbour after", _neighbour(1), "<unit>|<cycle> <after> <on>? <time>")


add(
    "weekday so long ago",
    lambda much, weekday: OnTheDay(Weekday(weekday), much, -1) if much.unit == "week" else None,
    "<ago> <amount> <on>? <weekday>",
    "<amount> <ago-after> <on>? <weekday>",
    "<amount> <ago-after> <of> <weekday>",
)


def _so_many(sign: Sign) -> Make:
    return lambda count, unit: Window(amount(count, unit), sign)


add("the so many last", _so_many(-1), "<count> <last> <units>", "<count> <units> <last>")


add("the so many next", _so_many(1), "<count> <next>|<coming> <units>")


add("the last few", few_units(-1), "<last> <units>", "<units> <last>")


add("the next few", few_units(1), "<next>|<coming> <units>", "<units> <next>")


@rule("<nth> <amount> <of> <on>? <time>", "<num> <nth> <units> <of> <on>? <time>")
@rule("<nth> <amount> <in>? <time>")
def first_of_a_time(*parts: object) -> EdgeOf | None:
    return _edge(parts, 1)


add(
    "last of a time",
    lambda *parts: _edge(parts, -1),
    "<last> <amount> <of> <on>? <time>",
    "<count> <last> <units> <of> <on>? <time>",
    "<last> <amount> <in>? <time>",
)


def _edge(parts: tuple[object, ...], sign: Sign) -> EdgeOf | None:
    whole = parts[-1]
    assert isinstance(whole, Meaning)
    if sign > 0 and parts[0 if isinstance(parts[1], Amount) else 1] != 1:
        return None
    much = next((part for part in parts if isinstance(part, Amount)), None)
    if much is None:
        count = next(part for part in parts if isinstance(part, (int, Count)))
        unit = next(part for part in parts if isinstance(part, str))
        much = amount(count, unit)  # type: ignore[arg-type]
    known = isinstance(whole, (Months, UnitAt)) or not isinstance(whole, (Ago, Window, Offset))
    return EdgeOf(much, sign, whole) if known and coarser("decade", GRAIN[much.unit]) else None


same("as in english", "<said>", bare=None)


# Last, this, next


same("during behind", gives="whole")
add("last cycle", partial(Pick, "last"), "<last> <cycle>", "<cycle> <last>")
add("this cycle", partial(Pick, "this"), "<this> <cycle>", "<cycle> <this>")


# Where a weekday is said with its week (上周五), it is that week's, and not the latest that was.


def _weekday(offset: int) -> Make:
    return lambda day: Within(Weekday(day), UnitAt("week", offset))


add("weekday of last week", _weekday(-1), "<last> <week-day>")
add("weekday of this week", _weekday(0), "<this> <week-day>")
add("weekday of next week", _weekday(1), "<next> <week-day>")
add("weekday of the week before last", _weekday(-2), "<before-last> <week-day>")
add("weekday of the week after next", _weekday(2), "<after-next> <week-day>")
add("coming weekday", lambda day: Coming(Weekday(day)), "<coming> <week-day>")
add("only weekday", Weekday, "<week-day>")
add("weekly", lambda day: Recurrence("week", on=Weekday(day)), "<each-weekday>", gives="recurrence")
add(
    "every weekday", lambda day: Recurrence("week", on=Weekday(day)), "<every> <week-day>", gives="recurrence"
)


add(
    "rest of a unit",
    lambda unit: Rest(UnitAt(unit)),
    "<rest> <of>? <on>? <unit>",
    "<rest> <of>? <on>? <this> <unit>",
    where=lambda unit: is_long(unit) or unit == "half",
)


# Counted from a date mentioned before: two days later, the following week, the morning after

_COMES_ROUND = ends_in(Weekday, Weekend, Season, Holiday)

add("so long later", lambda so_long: Later(so_long, 1))
add("so long earlier", lambda so_long: Later(so_long, -1))
add("the unit after", lambda unit: NextTo(unit, 1))
# The next day is never tomorrow; the next week may be.
add("the next unit", lambda unit: NextTo(unit, 1, of_a_story=unit != "day"))
add("the unit before", lambda unit: NextTo(unit, -1))
add("the cycle after", lambda cycle: NextTo(cycle, 1), where=_COMES_ROUND)
add("the next cycle", lambda cycle: NextTo(cycle, 1, of_a_story=True), where=_COMES_ROUND)
add("the cycle before", lambda cycle: NextTo(cycle, -1), where=_COMES_ROUND)
add("the next daypart", lambda part: PartOfDay(part, NextTo("day", 1)))
add("the daypart before", lambda part: PartOfDay(part, NextTo("day", -1)))


# Again and again: every Monday, every second Friday, twice a week, on weekends, daily

again = partial(add, gives="recurrence")


def _whole(number: float, *_: Unit) -> bool:
    return number == int(number) and number >= 1


fixed("every", 1, gives="every-nth")
fixed("every other", 2, gives="every-nth")
add("every nth", lambda step: step if step > 1 else None, gives="every-nth")
again("every so many", lambda step, unit: Recurrence(unit, int(step)), "<every> <num> <units>", where=_whole)
again("every couple", lambda unit: Recurrence(unit, 2))
again("every few", lambda unit: Recurrence(unit, 3))
again("each unit", lambda step, unit: Recurrence(unit, step))
again("each cycle", lambda step, cycle: Recurrence(cycle.every, step, cycle))
again("every daypart", lambda step, part: Recurrence("day", step, part=part))
again("every weekday part", lambda step, day, part: Recurrence("week", step, Weekday(day), part=part))
again(
    "every day of the month",
    lambda day: Recurrence("month", 1, DayOfMonth(day)),
    where=lambda day: 1 <= day <= 31,
)
again("nth weekday of each month", lambda number, day: Recurrence("month", 1, Weekday(day), nth=number))
again("last weekday of each month", lambda day: Recurrence("month", 1, Weekday(day), nth=-1))
again("on weekdays", lambda day: Recurrence("week", 1, Weekday(day)))
again("weekday nights", lambda day, part: Recurrence("week", 1, Weekday(day), part=part))
again("on weekends", lambda weekend: Recurrence("week", 1, weekend))
again("on workdays", lambda: Recurrence("week", 1, workdays=True))
fixed("once", 1, gives="times")
fixed("twice", 2, gives="times")
fixed("thrice", 3, gives="times")
add("so many times", int, gives="times", where=lambda number: number in range(1, 1000))
again("times a unit", lambda times, unit: Recurrence(unit, 1, times=times))
again("daily", lambda: Recurrence("day"))
again("once a week", lambda: Recurrence("week"))
again("biweekly", lambda: Recurrence("week", 2))
again("monthly", lambda: Recurrence("month"))
again("quarterly", lambda: Recurrence("quarter"))
again("yearly", lambda: Recurrence("year"))


add("every cycle", lambda cycle: Recurrence(cycle.every, on=cycle), "<every> <cycle>", gives="recurrence")
add("every unit", Recurrence, "<every> <unit>", "<every> <units>", gives="recurrence")


add(
    "every nth cycle",
    lambda step, cycle: Recurrence(cycle.every, step, cycle) if step > 1 else None,
    "<every> <nth> <cycle>",
    gives="recurrence",
)


add(
    "nth weekday of months",
    lambda number, day, unit: Recurrence("month", 1, Weekday(day), nth=number) if unit == "month" else None,
    "<every> <nth> <weekday> <of> <on>? <unit>",
    "<every> <nth> <weekday> <in> <on>? <unit>",
    "<every> <nth> <weekday> <on> <unit>",
    gives="recurrence",
)


add(
    "every nth unit",
    lambda step, unit: Recurrence(unit, step) if step > 1 else None,
    "<every> <nth> <unit>",
    gives="recurrence",
)


add("every part", lambda part: Recurrence("day", part=part), "<every> <part>", gives="recurrence")
