"""Times given relative to another time: the Sunday before 25 May, two days after Christmas, the last week of June."""

from __future__ import annotations

from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    Cycle,
    DayOfMonth,
    Holiday,
    MonthDay,
    Months,
    Pick,
    SlashDay,
    Weekday,
    Weekend,
    Within,
)
from everwhen_time.meaning import AtClock, Fixed, Hours, Meaning, PartOfDay, Sign, UnitAt
from everwhen_time.offsets import (
    TODAY,
    Amount,
    Beside,
    EdgeOf,
    Nth,
    Offset,
    OnTheDay,
    UnitOf,
    WeekendOf,
    amount,
)
from everwhen_time.parser import RuleBook
from everwhen_time.rules.relative import is_counted

book = RuleBook()
add, rule, fixed = book.add, book.rule, book.fixed


fixed("before", -1, "before", "prior|previous to", "preceding", "ahead of", "leading up to", gives="before")
fixed("after", 1, "after", "following", gives="after")
add("so long after", Offset, "<amount> <after> the? <time>")
add("so long before", Offset, "<amount> <before> the? <time>")


@rule("<amount> from the? <time>")
def so_long_from(so_long: Amount, anchor: Meaning) -> Offset:
    return Offset(so_long, 1, anchor, ahead=True)


@rule("the? <unit> <before> the? <time>", "the? <unit> <before> <the-unit>", name="unit before")
@rule("the? <unit> <after> the? <time>", name="unit after")
@rule("the? <cycle> <before> the? <time>", name="cycle before")
@rule("the? <cycle> <after> the? <time>", name="cycle after")
def beside(thing: Unit | Cycle, sign: Sign, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(thing, sign, anchor)


def _hour_of_it(anchor: Meaning) -> bool:
    """Whether the time of day belongs to the neighbour: the day after tomorrow in the morning, Friday before 5pm."""
    if isinstance(anchor, PartOfDay):
        return isinstance(anchor.day, UnitAt)
    return isinstance(anchor, (AtClock, Hours))


@rule("the <num> <units> <before> the? <time>", name="units before")
@rule("the <num> <units> <after> the? <time>", name="units after")
def units_beside(count: float, unit: Unit, sign: Sign, anchor: Meaning) -> Beside:
    return Beside(unit, sign, anchor, int(count))


@rule("the <units> <before> the? <time>", name="some units before")
@rule("the <units> <after> the? <time>", name="some units after")
def some_units_beside(unit: Unit, sign: Sign, anchor: Meaning) -> Beside | None:
    """In the weeks before Christmas: a few of them."""
    return Beside(unit, sign, anchor, 5) if is_counted(unit) else None


@rule("the? <nth> <cycle> <after> the? <time>")
def nth_cycle_after(count: int, cycle: Cycle, sign: Sign, anchor: Meaning) -> Beside:
    return Beside(cycle, sign, anchor, count)


add("last cycle before", Beside, "the? last <cycle> <before> the? <time>")


@rule("the? <daypart> <before> <time>", name="daypart before")
@rule("the? <daypart> <after> <time>", name="daypart after")
def daypart_beside(part: str, sign: Sign, anchor: Meaning) -> PartOfDay:
    return PartOfDay(part, Beside("day", sign, anchor))


fixed("the day before", UnitAt("day", -1), "the day before", bare=True)
fixed("the day after", UnitAt("day", 1), "the day after", bare=True)


@rule("the? week of the? <time>", "the? week beginning|starting|commencing on? the? <time>", "w / c <time>")
def week_of(anchor: Meaning) -> UnitOf:
    return UnitOf("week", anchor)


@rule("the? week ending on? <time>")
def week_ending(anchor: Meaning) -> Beside:
    return Beside("week", -1, Offset(amount(1, "day"), 1, anchor))


add("month of", lambda anchor: UnitOf("month", anchor), "the? month of <time>")
add("weekend of", UnitOf, "the? <weekend> of the? <time>")


@rule("the? <cycle> <weekend>")
def weekend_of_a_holiday(day: Cycle, _: Weekend) -> WeekendOf | None:
    """Labor Day weekend, the 4th of July weekend."""
    return WeekendOf(day) if isinstance(day, (Holiday, MonthDay)) else None


@rule("the? <time> <weekend>")
def weekend_of_a_known_holiday(day: Meaning, _: Weekend) -> WeekendOf | None:
    """Last Thanksgiving weekend; "Easter weekend 2022" is a rule of its own."""
    found = day.cycle if isinstance(day, (Pick, Within)) else None
    return WeekendOf(day) if isinstance(found, Holiday) else None


@rule("the? <cycle> <weekend> ,? of|in? <whole>")
def weekend_of_a_holiday_in(day: Cycle, _: Weekend, year: Meaning) -> WeekendOf | None:
    return WeekendOf(Within(day, year)) if isinstance(day, (Holiday, MonthDay)) else None


@rule("the? <cycle> ,? of|in? <whole>", "the? <cycle> of the <whole>")
def cycle_within(cycle: Cycle, container: Meaning) -> Within | None:
    if isinstance(cycle, (MonthDay, Months)) and _plain(cycle) and isinstance(container, Fixed):
        return None  # a date or month with its year is a rule of its own
    if isinstance(cycle, (Weekday, DayOfMonth, SlashDay)) and _takes_no_such_year(cycle, container):
        return None  # "Friday 1500" is a time of day
    return Within(cycle, container)


def _takes_no_such_year(cycle: Cycle, container: Meaning) -> bool:
    """Whether only the figures of a year were seen: no year has one Friday, and 27/7 is of our time."""
    if not isinstance(container, Fixed) or container.unit != "year":
        return False
    return not isinstance(cycle, SlashDay) or not 1900 <= container.start.year < 2100


def _plain(cycle: Cycle) -> bool:
    return not isinstance(cycle, Months) or cycle.unit == "month"


# Last year's Christmas.
add("possessive", lambda container, cycle: Within(cycle, container), "<whole> 's <cycle>")


@rule("<whole> -|, on? <weekday>", "<whole> on? <weekday>")
def weekday_of_a_week(week: Meaning, day: int) -> Within:
    return Within(Weekday(day), week)


@rule("the? <nth> <cycle> of|in <time>", "the? <nth> <cycle> of|in <the-unit>", gives="whole")
@rule(
    "the? <nth> full? <unit> of|in the? <time>",
    "the? <nth> full? <unit> of|in <the-unit>",
    gives="whole",
    name="nth unit",
)
def nth_of_a_cycle(number: int, thing: Cycle | Unit, whole: Meaning) -> Nth:
    return Nth(number, thing, whole)


@rule("the? last|final <cycle> of|in <time>", "the? last|final <cycle> of|in <the-unit>", gives="whole")
@rule(
    "the? last|final <unit> of|in the? <time>",
    "the? last|final <unit> of|in <the-unit>",
    gives="whole",
    name="last unit of",
)
def last_of_a_cycle_in(thing: Cycle | Unit, whole: Meaning) -> Nth:
    return Nth(-1, thing, whole)


@rule("the? second to last|penultimate <unit> of|in <time>", gives="whole")
def last_but_one(unit: Unit, whole: Meaning) -> Nth:
    return Nth(-2, unit, whole)


@rule("the? first <amount> of|in the? <time>", "the? first <amount> of <the-unit>")
def first_so_long_of(so_long: Amount, whole: Meaning) -> EdgeOf:
    return EdgeOf(so_long, 1, whole)


@rule("the? last|final <amount> of|in the? <time>", "the? last|final <amount> of <the-unit>")
def last_so_long_of(so_long: Amount, whole: Meaning) -> EdgeOf:
    return EdgeOf(so_long, -1, whole)


@rule("one|some <unit> in|during|of? <time>", "one|some|a <daypart> in|during <time>")
@rule("one|a|any <weekday> in|during <time>")
def one_of(_: object, whole: Meaning) -> Meaning | None:
    """One day last week, a Saturday in March: it is not said which."""
    return None if isinstance(whole, (PartOfDay, UnitAt)) and not _longer(whole) else whole


def _longer(whole: Meaning) -> bool:
    return isinstance(whole, UnitAt) and whole.unit != "day"


add("ago to the day", lambda so_long, day: Offset(so_long, -1, day), "<amount> ago <day>")
# "It is three years today since he died"; without "since" it may be a day to come: "the exam is two weeks today".
add("so long since to the day", lambda so_long, day: Offset(so_long, -1, day), "<amount> <day> since")


@rule("<amount> ago ,? on|this? <weekday>")
def ago_on_a_weekday(so_long: Amount, day: int) -> OnTheDay:
    return OnTheDay(Weekday(day), so_long, -1)


@rule("<amount> on <weekday>", "<weekday> week")
def week_on_a_weekday(*parts: object) -> Offset | None:
    """British: a week on Friday, Friday week."""
    day = next(part for part in parts if isinstance(part, int))
    so_long = next((part for part in parts if isinstance(part, Amount)), amount(1, "week"))
    return Offset(so_long, 1, Weekday(day), ahead=True) if so_long.unit == "week" else None


@rule("<weekday> in <amount>")
def weekday_in_so_long(day: int, so_long: Amount) -> OnTheDay | None:
    """Friday in two weeks."""
    return OnTheDay(Weekday(day), so_long, 1) if so_long.unit == "week" else None


@rule("on this day <amount> ago", "this day|time <amount> ago")
def this_day_ago(so_long: Amount) -> Offset:
    return Offset(so_long, -1, TODAY)


add("this time last", lambda unit: Offset(amount(1, unit), -1, TODAY), "this time last <unit>")
add("this time next", lambda unit: Offset(amount(1, unit), 1, TODAY), "this time next <unit>")
