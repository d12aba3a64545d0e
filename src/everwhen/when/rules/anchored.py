"""Times given relative to another time: the Sunday before 25 May, two days after Christmas, the last week of June."""

from __future__ import annotations

from everwhen.when.calendar import Unit
from everwhen.when.cycles import (
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
from everwhen.when.meaning import AtClock, Fixed, Hours, Meaning, PartOfDay, UnitAt
from everwhen.when.offsets import (
    TODAY,
    Amount,
    Beside,
    Count,
    EdgeOf,
    Nth,
    Offset,
    OnTheDay,
    UnitOf,
    WeekendOf,
    amount,
)
from everwhen.when.parser import RuleBook

book = RuleBook()
rule = book.rule


@rule("before", "prior|previous to", "preceding", "ahead of", "leading up to", gives="before")
def before() -> bool:
    return True


@rule("after", "following", gives="after")
def after() -> bool:
    return True


@rule("<amount> <before> the? <time>")
def so_long_before(so_long: Amount, _: bool, anchor: Meaning) -> Offset:
    return Offset(so_long, -1, anchor)


@rule("<amount> <after> the? <time>")
def so_long_after(so_long: Amount, _: bool, anchor: Meaning) -> Offset:
    return Offset(so_long, 1, anchor)


@rule("<amount> from the? <time>")
def so_long_from(so_long: Amount, anchor: Meaning) -> Offset:
    return Offset(so_long, 1, anchor, ahead=True)


@rule("the? <unit> <before> the? <time>", "the? <unit> <before> <the-unit>")
def unit_before(unit: Unit, _: bool, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(unit, -1, anchor)


@rule("the? <unit> <after> the? <time>")
def unit_after(unit: Unit, _: bool, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(unit, 1, anchor)


def _hour_of_it(anchor: Meaning) -> bool:
    """Whether the time of day belongs to the neighbour: the day after tomorrow in the morning, Friday before 5pm."""
    if isinstance(anchor, PartOfDay):
        return isinstance(anchor.day, UnitAt)
    return isinstance(anchor, (AtClock, Hours))


@rule("the <num> <units> <before> the? <time>")
def units_before(count: float, unit: Unit, _: bool, anchor: Meaning) -> Beside:
    return Beside(unit, -1, anchor, int(count))


@rule("the <num> <units> <after> the? <time>")
def units_after(count: float, unit: Unit, _: bool, anchor: Meaning) -> Beside:
    return Beside(unit, 1, anchor, int(count))


@rule("the <units> <before> the? <time>")
def some_units_before(unit: Unit, _: bool, anchor: Meaning) -> Beside | None:
    """In the weeks before Christmas: a few of them."""
    return Beside(unit, -1, anchor, 5) if unit in ("day", "week", "month", "year") else None


@rule("the <units> <after> the? <time>")
def some_units_after(unit: Unit, _: bool, anchor: Meaning) -> Beside | None:
    return Beside(unit, 1, anchor, 5) if unit in ("day", "week", "month", "year") else None


@rule("the? <cycle> <before> the? <time>")
def cycle_before(cycle: Cycle, _: bool, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(cycle, -1, anchor)


@rule("the? <cycle> <after> the? <time>")
def cycle_after(cycle: Cycle, _: bool, anchor: Meaning) -> Beside | None:
    return None if _hour_of_it(anchor) else Beside(cycle, 1, anchor)


@rule("the? <nth> <cycle> <after> the? <time>")
def nth_cycle_after(count: int, cycle: Cycle, _: bool, anchor: Meaning) -> Beside:
    return Beside(cycle, 1, anchor, count)


@rule("the? last <cycle> <before> the? <time>")
def last_cycle_before(cycle: Cycle, _: bool, anchor: Meaning) -> Beside:
    return Beside(cycle, -1, anchor)


@rule("the? <daypart> <before> <time>")
def daypart_before(part: str, _: bool, anchor: Meaning) -> PartOfDay:
    return PartOfDay(part, Beside("day", -1, anchor))


@rule("the? <daypart> <after> <time>")
def daypart_after(part: str, _: bool, anchor: Meaning) -> PartOfDay:
    return PartOfDay(part, Beside("day", 1, anchor))


@rule("the day before", bare=True)
def the_day_before() -> UnitAt:
    return UnitAt("day", -1)


@rule("the day after", bare=True)
def the_day_after() -> UnitAt:
    return UnitAt("day", 1)


@rule("the? week of the? <time>", "the? week beginning|starting|commencing on? the? <time>", "w / c <time>")
def week_of(anchor: Meaning) -> UnitOf:
    return UnitOf("week", anchor)


@rule("the? week ending on? <time>")
def week_ending(anchor: Meaning) -> Beside:
    return Beside("week", -1, Offset(amount(Count(1, 1), "day"), 1, anchor))


@rule("the? month of <time>")
def month_of(anchor: Meaning) -> UnitOf:
    return UnitOf("month", anchor)


@rule("the? <weekend> of the? <time>")
def weekend_of(weekend: Weekend, anchor: Meaning) -> UnitOf:
    return UnitOf(weekend, anchor)


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


@rule("<whole> 's <cycle>")
def possessive(container: Meaning, cycle: Cycle) -> Within:
    """Last year's Christmas."""
    return Within(cycle, container)


@rule("<whole> -|, on? <weekday>", "<whole> on? <weekday>")
def weekday_of_a_week(week: Meaning, day: int) -> Within:
    return Within(Weekday(day), week)


@rule("the? <nth> <cycle> of|in <time>", "the? <nth> <cycle> of|in <the-unit>", gives="whole")
def nth_of_a_cycle(number: int, cycle: Cycle, whole: Meaning) -> Nth:
    return Nth(number, cycle, whole)


@rule("the? last|final <cycle> of|in <time>", "the? last|final <cycle> of|in <the-unit>", gives="whole")
def last_of_a_cycle_in(cycle: Cycle, whole: Meaning) -> Nth:
    return Nth(-1, cycle, whole)


@rule("the? <nth> full? <unit> of|in the? <time>", "the? <nth> full? <unit> of|in <the-unit>", gives="whole")
def nth_unit(number: int, unit: Unit, whole: Meaning) -> Nth:
    return Nth(number, unit, whole)


@rule("the? last|final <unit> of|in the? <time>", "the? last|final <unit> of|in <the-unit>", gives="whole")
def last_unit_of(unit: Unit, whole: Meaning) -> Nth:
    return Nth(-1, unit, whole)


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


@rule("<amount> ago <day>")
def ago_to_the_day(so_long: Amount, day: UnitAt) -> Offset:
    return Offset(so_long, -1, day)


@rule("<amount> ago ,? on|this? <weekday>")
def ago_on_a_weekday(so_long: Amount, day: int) -> OnTheDay:
    return OnTheDay(Weekday(day), so_long, -1)


@rule("<amount> on <weekday>", "<weekday> week")
def week_on_a_weekday(*parts: object) -> Offset | None:
    """British: a week on Friday, Friday week."""
    day = next(part for part in parts if isinstance(part, int))
    so_long = next((part for part in parts if isinstance(part, Amount)), amount(Count(1, 1), "week"))
    return Offset(so_long, 1, Weekday(day), ahead=True) if so_long.unit == "week" else None


@rule("<weekday> in <amount>")
def weekday_in_so_long(day: int, so_long: Amount) -> OnTheDay | None:
    """Friday in two weeks."""
    return OnTheDay(Weekday(day), so_long, 1) if so_long.unit == "week" else None


@rule("on this day <amount> ago", "this day|time <amount> ago")
def this_day_ago(so_long: Amount) -> Offset:
    return Offset(so_long, -1, TODAY)


@rule("this time last <unit>")
def this_time_last(unit: Unit) -> Offset:
    return Offset(amount(Count(1, 1), unit), -1, TODAY)


@rule("this time next <unit>")
def this_time_next(unit: Unit) -> Offset:
    return Offset(amount(Count(1, 1), unit), 1, TODAY)
