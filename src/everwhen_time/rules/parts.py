"""Parts of a longer time, and times beside another: early June, verano de 2022, the Sunday before 25 May."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    Coming,
    Cycle,
    DayOfMonth,
    Holiday,
    MonthDay,
    Months,
    Pick,
    Season,
    SlashDay,
    Weekday,
    Weekend,
    Within,
)
from everwhen_time.meaning import (
    AtClock,
    Fixed,
    HalfSoFar,
    Hours,
    Meaning,
    Part,
    PartOfDay,
    Position,
    Rest,
    Sign,
    ToDate,
    UnitAt,
)
from everwhen_time.offsets import (
    TODAY,
    Ago,
    Amount,
    Beside,
    Count,
    EdgeOf,
    Nth,
    Offset,
    OnTheDay,
    UnitOf,
    WeekendOf,
    Window,
    WrittenDate,
    amount,
)
from everwhen_time.parser import Make, RuleBook, not_ending_in, turned
from everwhen_time.rules.dates import year
from everwhen_time.rules.relative import is_counted, is_long, week_to_year

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

fixed("early", "early", gives="position")
fixed("start", "start", gives="position")
fixed("middle", "mid", gives="position")
fixed("late", "late", gives="position")
fixed("end", "end", gives="position")
fixed("early in", "early", gives="position")
fixed("late in", "late", gives="position")
fixed("first half", "first half", gives="position")
fixed("second half", "second half", gives="position")


add("part of it", Part, where=not_ending_in(Part, Window, DayOfMonth))


@rule()
def part_of_a_decade(position: Position, decade: Fixed | int) -> Part:
    return Part(position, decade if isinstance(decade, Fixed) else Fixed(datetime(decade, 1, 1), "decade"))


add("part of the unit", Part, where=lambda _, whole: whole.unit != "day")


fixed("end of the week", Part("end", UnitAt("week")))
fixed("end of the month", Part("end", UnitAt("month")))
fixed("end of the year", Part("end", UnitAt("year")))


def _of(position: Position) -> Make:
    return lambda unit: Part(position, UnitAt(unit))


add("end of a unit", _of("end"), where=week_to_year)


add("start of a unit", _of("start"), where=week_to_year)


add("the earlier half", lambda whole: HalfSoFar(whole, -1))
add("the later half", lambda whole: HalfSoFar(whole, 1))
add("rest of", Rest, "<rest> <of>? <on>? <whole>")
add("rest of today", lambda day=TODAY: HalfSoFar(day, 1))


add("so far", ToDate, where=is_long)


fixed("year to date", ToDate("year"))
fixed("month to date", ToDate("month"))


# Parts of the day


add("tonight", lambda part="night": PartOfDay(part, TODAY), gives="tonight")


same("today at that time")


@rule("<last> <part>", "<part> <last>")
def last_night(part: str) -> PartOfDay | None:
    return PartOfDay(part, UnitAt("day", -1)) if part in ("night", "evening") else None


fixed("night before last", PartOfDay("night", UnitAt("day", -2)))


@rule()
def daypart_of_a_day(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, (PartOfDay, AtClock)) else PartOfDay(part, day)


@rule()
def dayparts_ago(count: Count, part: str) -> PartOfDay | None:
    """Three evenings ago."""
    return PartOfDay(part, Ago(amount(count, "day"), -1)) if count.low == count.high else None


def _part_of_daypart(position: Position) -> Make:
    def part_of_daypart(*parts: object) -> Part | None:
        day = next(part for part in parts if isinstance(part, Meaning))
        name = next(part for part in parts if isinstance(part, str))
        return None if isinstance(day, (PartOfDay, Part)) else Part(position, PartOfDay(name, day))

    return part_of_daypart


add("early on a day", _part_of_daypart("early"))
add("late on a day", _part_of_daypart("late"))


add("daypart of", PartOfDay, where=not_ending_in(PartOfDay))


same("first thing")


def _half(sign: Sign) -> Make:
    """The half so far or to come of a unit that the present one is of."""
    known = (UnitAt("week"), UnitAt("month"), UnitAt("year"))
    return lambda whole: HalfSoFar(whole, sign) if whole in known else None


add("earlier in", _half(-1), "<whole> <earlier>", "<earlier> <in>? <whole>")


add("later in", _half(1), "<whole> <later>", "<later> <in>? <whole>")


@rule("<day> <part>", "<day> <at-part> <part>", "<time> <part>", "<time> <at-part> <part>")
def part_of_a_day(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, (PartOfDay, UnitAt)) and not _is_day(day) else PartOfDay(part, day)


def _is_day(day: Meaning) -> bool:
    return isinstance(day, UnitAt) and day.unit == "day"


add(
    "part of",
    turned(part_of_a_day),
    "<part> <of> <on>? <time>",
    "<at-part> <part> <of> <on>? <time>",
    "<part> <on> <time>",
)
add("part of today", lambda part: PartOfDay(part, UnitAt("day")), "<this> <part>", gives="day")


def _weekday_part(pick: Callable[[Cycle], Meaning]) -> Make:
    return lambda found: PartOfDay(found.part, pick(found.day))


add("last weekday part", _weekday_part(partial(Pick, "last")), "<last> <weekday-part>")
add("this weekday part", _weekday_part(partial(Pick, "this")), "<this> <weekday-part>")
add("next weekday part", _weekday_part(partial(Pick, "next")), "<next> <weekday-part>")
add("coming weekday part", _weekday_part(Coming), "<coming> <weekday-part>")


# Given by another time: the Sunday before 25 May, two days after Christmas, the last week of June


fixed("before it", -1, gives="before-it")
fixed("after it", 1, gives="after-it")
add("so long after", Offset)
add("so long before", Offset)


@rule()
def so_long_from(so_long: Amount, anchor: Meaning) -> Offset:
    return Offset(so_long, 1, anchor, ahead=True)


@rule(name="unit before")
@rule(name="unit after")
@rule(name="cycle before")
@rule(name="cycle after")
def beside(thing: Unit | Cycle, sign: Sign, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(thing, sign, anchor)


def _hour_of_it(anchor: Meaning) -> bool:
    """Whether the time of day belongs to the neighbour: the day after tomorrow in the morning, Friday before 5pm."""
    if isinstance(anchor, PartOfDay):
        return isinstance(anchor.day, UnitAt)
    return isinstance(anchor, (AtClock, Hours))


@rule(name="units before")
@rule(name="units after")
def units_beside(count: float, unit: Unit, sign: Sign, anchor: Meaning) -> Beside:
    return Beside(unit, sign, anchor, int(count))


@rule(name="some units before")
@rule(name="some units after")
def some_units_beside(unit: Unit, sign: Sign, anchor: Meaning) -> Beside | None:
    """In the weeks before Christmas: a few of them."""
    return Beside(unit, sign, anchor, 5) if is_counted(unit) else None


@rule()
def nth_cycle_after(count: int, cycle: Cycle, sign: Sign, anchor: Meaning) -> Beside:
    return Beside(cycle, sign, anchor, count)


add("last cycle before", Beside)


@rule(name="daypart before")
@rule(name="daypart after")
def daypart_beside(part: str, sign: Sign, anchor: Meaning) -> PartOfDay:
    return PartOfDay(part, Beside("day", sign, anchor))


fixed("the day before", UnitAt("day", -1), bare=True)
fixed("the day after", UnitAt("day", 1), bare=True)


@rule()
def week_of(anchor: Meaning) -> UnitOf:
    return UnitOf("week", anchor)


@rule()
def week_ending(anchor: Meaning) -> Beside:
    return Beside("week", -1, Offset(amount(1, "day"), 1, anchor))


add("month of", lambda anchor: UnitOf("month", anchor))
add("weekend of", UnitOf)


@rule()
def weekend_of_a_holiday(day: Cycle, _: Weekend) -> WeekendOf | None:
    """Labor Day weekend, the 4th of July weekend."""
    return WeekendOf(day) if isinstance(day, (Holiday, MonthDay)) else None


@rule()
def weekend_of_a_known_holiday(day: Meaning, _: Weekend) -> WeekendOf | None:
    """Last Thanksgiving weekend; "Easter weekend 2022" is a rule of its own."""
    found = day.cycle if isinstance(day, (Pick, Within)) else None
    return WeekendOf(day) if isinstance(found, Holiday) else None


@rule()
def weekend_of_a_holiday_in(day: Cycle, _: Weekend, year: Meaning) -> WeekendOf | None:
    return WeekendOf(Within(day, year)) if isinstance(day, (Holiday, MonthDay)) else None


@rule(name="cycle in a time")
def cycle_in_a_time(cycle: Cycle, container: Meaning) -> Within | None:
    if isinstance(cycle, (MonthDay, Months)) and _is_day_or_month(cycle) and isinstance(container, Fixed):
        return None  # a date or month with its year is a rule of its own
    if isinstance(cycle, (Weekday, DayOfMonth, SlashDay)) and _takes_no_such_year(cycle, container):
        return None  # "Friday 1500" is a time of day
    return Within(cycle, container)


def _takes_no_such_year(cycle: Cycle, container: Meaning) -> bool:
    """Whether only the figures of a year were seen: no year has one Friday, and 27/7 is of our time."""
    if not isinstance(container, Fixed) or container.unit != "year":
        return False
    return not isinstance(cycle, SlashDay) or not 1900 <= container.start.year < 2100


def _is_day_or_month(cycle: Cycle) -> bool:
    return not isinstance(cycle, Months) or cycle.unit == "month"


# Last year's Christmas.
add("possessive", lambda container, cycle: Within(cycle, container))


@rule("<whole> <of>? <week-day>")
def weekday_of_a_week(week: Meaning, day: int) -> Within:
    return Within(Weekday(day), week)


@rule(gives="whole")
@rule(gives="whole", name="nth of its units")
def nth_of_a_cycle(number: int, thing: Cycle | Unit, whole: Meaning) -> Nth:
    return Nth(number, thing, whole)


@rule(gives="whole")
@rule(gives="whole", name="last of its units")
def last_of_a_cycle_in(thing: Cycle | Unit, whole: Meaning) -> Nth:
    return Nth(-1, thing, whole)


@rule(gives="whole")
def last_but_one(unit: Unit, whole: Meaning) -> Nth:
    return Nth(-2, unit, whole)


@rule()
def first_so_long_of(so_long: Amount, whole: Meaning) -> EdgeOf:
    return EdgeOf(so_long, 1, whole)


@rule()
def last_so_long_of(so_long: Amount, whole: Meaning) -> EdgeOf:
    return EdgeOf(so_long, -1, whole)


@rule()
def one_of(_: object, whole: Meaning) -> Meaning | None:
    """One day last week, a Saturday in March: it is not said which."""
    return None if isinstance(whole, (PartOfDay, UnitAt)) and not _longer(whole) else whole


def _longer(whole: Meaning) -> bool:
    return isinstance(whole, UnitAt) and whole.unit != "day"


add("ago to the day", lambda so_long, day: Offset(so_long, -1, day))
# "It is three years today since he died"; without "since" it may be a day to come: "the exam is two weeks today".
add("so long since to the day", lambda so_long, day: Offset(so_long, -1, day))


@rule()
def ago_on_a_weekday(so_long: Amount, day: int) -> OnTheDay:
    return OnTheDay(Weekday(day), so_long, -1)


@rule()
def week_on_a_weekday(*parts: object) -> Offset | None:
    """British: a week on Friday, Friday week."""
    day = next(part for part in parts if isinstance(part, int))
    so_long = next((part for part in parts if isinstance(part, Amount)), amount(1, "week"))
    return Offset(so_long, 1, Weekday(day), ahead=True) if so_long.unit == "week" else None


@rule()
def weekday_in_so_long(day: int, so_long: Amount) -> OnTheDay | None:
    """Friday in two weeks."""
    return OnTheDay(Weekday(day), so_long, 1) if so_long.unit == "week" else None


@rule()
def this_day_ago(so_long: Amount) -> Offset:
    return Offset(so_long, -1, TODAY)


add("this time last", lambda unit: Offset(amount(1, unit), -1, TODAY))
add("this time next", lambda unit: Offset(amount(1, unit), 1, TODAY))


# One of something that comes round, in something longer


@rule("<cycle> ,? <of>? <year>", "<cycle> <of>? <years> <year>", "<cycle> - <year>")
def cycle_and_year(cycle: Cycle, number: int) -> Within | None:
    return Within(cycle, year(number)) if cycle.every == "year" and not isinstance(cycle, MonthDay) else None


@rule("<year> <cycle>", "<year> - <quarterly>")
def year_and_cycle(number: int, cycle: Cycle) -> Within | None:
    return Within(cycle, year(number)) if isinstance(cycle, (Season, Months)) else None


@rule("<cycle> ,? <of>? <on>? <whole>", "<cycle> <in> <whole>")
def cycle_within(cycle: Cycle, whole: Meaning) -> Within | None:
    return (
        None
        if isinstance(whole, Fixed) and whole.unit == "year" and cycle.every != "year"
        else Within(cycle, whole)
    )


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
    return UnitOf(unit, anchor) if unit == "week" and _is_date(anchor) else None


def _is_date(anchor: Meaning) -> bool:
    if isinstance(anchor, Fixed):
        return anchor.unit == "day"
    return isinstance(anchor, (MonthDay, SlashDay, WrittenDate))


@rule(
    "<nth> <half-part> <of> <on>? <time>",
    "<nth> <half-part> <of>? <on>? <unit>",
    "<nth> <fortnight> <of> <on>? <time>",
)
def half_of(number: int, whole: Meaning | Unit) -> Part | None:
    if isinstance(whole, str):
        whole = UnitAt(whole)
    position: Position = "first half" if number == 1 else "second half"
    return Part(position, whole) if number in (1, 2) else None


@rule("<cycle> <of> <on>? <time>", "<cycle> <on> <time>")
def weekend_around(cycle: Cycle, anchor: Meaning) -> UnitOf | None:
    return UnitOf(cycle, anchor) if isinstance(cycle, Weekend) and _is_date(anchor) else None


@rule("<nth> <cycle> <of>? <on>? <time>", "<nth> <cycle> <in> <time>")
def nth_weekend(number: int, cycle: Cycle, whole: Meaning) -> Nth | None:
    return Nth(number, cycle, whole) if isinstance(cycle, Weekend) else None


add("week beginning", week_around, "<unit> <beginning> <on>? <time>")


add(
    "nth unit of a month",
    lambda number, unit, month: Nth(number, unit, Months(month)) if unit in ("day", "week") else None,
    "<nth> <unit> <of>? <month>",
)


@rule("<last> <unit> <of>? <month>")
def last_unit_of_a_month(unit: Unit, month: int) -> Nth | None:
    return Nth(-1, unit, Months(month)) if unit in ("day", "week") else None


@rule("<last> <unit> <of> <on>? <time>", "<last> <unit> <in>? <time>", "<last> <unit> <in> <on> <time>")
@rule("<unit> <last> <of> <on>? <time>")
def last_unit_of(unit: Unit, whole: Meaning) -> Nth | None:
    known = isinstance(whole, (Cycle, Fixed, UnitAt, Within)) and unit in ("day", "week", "month")
    return Nth(-1, unit, whole) if known else None


_OF = ("<nth> <weekday> <of> <on>? <time>", "<nth> <weekday> <in>? <time>", "<num> . <weekday> <in>? <time>")
add("nth weekday", lambda number, weekday, whole: Nth(number, Weekday(weekday), whole), *_OF)


_LAST_OF = ("<last> <weekday> <of> <on>? <time>", "<last> <weekday> <in> <time>")
add("last weekday", lambda weekday, whole: Nth(-1, Weekday(weekday), whole), *_LAST_OF)


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


@rule("<in> <cycle>", "<in> <on> <cycle>", "<in> <whole>", "<in> <on> <whole>", trim=1)
def in_a_time(found: Meaning) -> Meaning | None:
    """A preposition makes sure that an ambiguous word is a time: im Mai, en 2019, in estate."""
    return found if not isinstance(found, (DayOfMonth, SlashDay)) else None


# Where the longer comes first: 五月初, 2021年的第三个月


add("position behind", turned(part_of_a_time))
add("day behind", turned(day_in_a_month))
add("unit then position", turned(part_of_this_unit))
add("nth weekday behind", lambda whole, number, weekday: Nth(number, Weekday(weekday), whole))
add("unit position behind", lambda whole, unit, position: part_of_a_time(position, whole))
add(
    "nth unit behind",
    lambda whole, number, unit: Nth(number, unit, whole) if unit in ("day", "week", "month") else None,
)
add("last units behind", lambda whole, much: EdgeOf(much, -1, whole))
add("first units behind", lambda whole, much: EdgeOf(much, 1, whole))
