"""Rules shared by the other languages; each language brings its own words for the same categories."""

from __future__ import annotations

from datetime import datetime

from everwhen.when.bounds import Between, Bound
from everwhen.when.calendar import Unit
from everwhen.when.chart import RuleBook
from everwhen.when.cycles import Cycle, DayOfMonth, MonthDay, Months, Pick, Season, Weekday, Weekend, Within
from everwhen.when.meaning import Days, Fixed, Meaning, Part, PartOfDay, UnitAt
from everwhen.when.offsets import Ago, Amount, Count, Nth, Window, amount
from everwhen.when.rules.dates import month_day, year

book = RuleBook()
rule = book.rule

_LONG = ("week", "month", "year")


@rule("<day>")
def a_day(day: Meaning) -> Meaning:
    return day


@rule("<last> <unit>", "<unit> <last>", gives="whole")
def last_unit(_: object, unit: Unit) -> UnitAt | None:
    unit = unit if unit in _LONG else _  # type: ignore[assignment]
    return UnitAt(unit, -1) if unit in _LONG else None


@rule("<this> <unit>", gives="whole")
def this_unit(_: object, unit: Unit) -> UnitAt | None:
    return UnitAt(unit, 0) if unit in _LONG else None


@rule("<next> <unit>", "<unit> <next>", "<unit> que viene|vem", gives="whole")
def next_unit(first: object, second: object = None) -> UnitAt | None:
    unit = first if first in _LONG else second
    return UnitAt(unit, 1) if unit in _LONG else None  # type: ignore[arg-type]


@rule("<last> <cycle>", "<cycle> <last>")
def last_cycle(*parts: object) -> Pick | None:
    return Pick("last", _cycle(parts))


@rule("<next> <cycle>", "<cycle> <next>", "<cycle> que viene|vem")
def next_cycle(*parts: object) -> Pick | None:
    return Pick("next", _cycle(parts))


@rule("<this> <cycle>")
def this_cycle(*parts: object) -> Pick | None:
    return Pick("this", _cycle(parts))


def _cycle(parts: tuple[object, ...]) -> Cycle:
    return next(part for part in parts if isinstance(part, Cycle))


@rule("<num>", gives="count")
def number(value: int) -> Count | None:
    return Count(value, value) if 0 < value < 1000 else None


@rule("<few>", "<num> <few>", gives="count")
def few(*_: object) -> Count:
    return Count(2, 5)


@rule("<count> <of>? <unit>", gives="amount")
def so_many(count: Count, *rest: object) -> Amount:
    return amount(count, rest[-1])  # type: ignore[arg-type]


@rule("<ago> <amount>", "il y a <amount>", "<amount> <ago-after>")
def ago(*parts: object) -> Ago:
    return Ago(_amount(parts), -1)


@rule("<ahead> <amount>", "dentro de <amount>", "daqui a <amount>")
def ahead(*parts: object) -> Ago:
    return Ago(_amount(parts), 1)


def _amount(parts: tuple[object, ...]) -> Amount:
    return next(part for part in parts if isinstance(part, Amount))


@rule("<last> <amount>", "<count> <last> <unit>", "<count> <unit> <last>")
def the_last_so_long(*parts: object) -> Window | None:
    return _window(parts, -1)


@rule("<next> <amount>", "<count> <next> <unit>", "<count> <unit> <next>")
def the_next_so_long(*parts: object) -> Window | None:
    return _window(parts, 1)


def _window(parts: tuple[object, ...], sign: int) -> Window | None:
    for part in parts:
        if isinstance(part, Amount):
            return Window(part, sign)  # type: ignore[arg-type]
    counts = [part for part in parts if isinstance(part, Count)]
    units = [part for part in parts if isinstance(part, str)]
    return Window(amount(counts[0], units[-1]), sign) if counts and units else None  # type: ignore[arg-type]


@rule("<weekday> -? feira", gives="cycle")
def feira(day: int) -> Weekday:
    return Weekday(day)


@rule("<weekday> -? feira", gives="weekday")
def feira_day(day: int) -> int:
    return day


@rule("<daynum> .? <of>? <month>", "<daynum> º|° <of>? <month>", gives="md")
def day_and_month(day: int, *rest: object) -> MonthDay | None:
    return month_day(rest[-1], day)  # type: ignore[arg-type]


@rule("<md>", gives="cycle")
def day_of_the_year(date: MonthDay) -> MonthDay:
    return date


@rule("<weekday> ,? <on>? <md>", gives="cycle")
def weekday_and_date(weekday: int, *rest: object) -> MonthDay:
    date = rest[-1]
    assert isinstance(date, MonthDay)
    return MonthDay(date.month, date.day, weekday)


@rule("<month> <of>? <year>", gives="whole")
def month_and_year(month: int, *rest: object) -> Fixed:
    return Fixed(datetime(rest[-1], month, 1), "month")  # type: ignore[arg-type]


@rule("<cycle> ,? <of>? <year>")
def cycle_and_year(cycle: Cycle, *rest: object) -> Within | None:
    return Within(cycle, year(rest[-1])) if cycle.every == "year" else None  # type: ignore[arg-type]


@rule("<cycle> <of>? <whole>", "<cycle> <of> <on> <whole>", "<cycle> <on> <whole>")
def cycle_within(cycle: Cycle, *rest: object) -> Within:
    return Within(cycle, rest[-1])  # type: ignore[arg-type]


@rule("<whole> <cycle>")
def within_cycle(whole: Meaning, cycle: Cycle) -> Within:
    return Within(cycle, whole)


@rule("<year>", gives="whole", bare=True)
def a_year(number: int) -> Fixed:
    return year(number)


@rule("<unit> <year>", gives="whole")
def the_year(unit: Unit, number: int) -> Fixed | None:
    return year(number) if unit == "year" else None


@rule("<cycle>", "<whole>", bare=None)
def nearest_one(found: Meaning) -> Meaning:
    return found


@rule("<within> <time>", "<within> <on> <time>", trim=1)
def in_a_time(*parts: object) -> Meaning | None:
    found = parts[-1]
    return found if isinstance(found, (Months, Season, Fixed)) else None


@rule("<on> <time>", "<within> <time>", trim=1)
def at_the_weekend(_: str, found: Meaning) -> Meaning | None:
    return found if isinstance(found, Weekend) else None


@rule("<on> <nth-day>", trim=1)
def day_of_the_month(_: str, day: int) -> DayOfMonth:
    return DayOfMonth(day)


@rule("<daynum> .", gives="nth-day")
def german_ordinal(day: int) -> int:
    return day


@rule("<early> <of>? <time>", "<early> <on>? <time>")
def early(*parts: object) -> Part:
    return Part("early", parts[-1])  # type: ignore[arg-type]


@rule("<late> <of>? <time>", "<late> <on>? <time>")
def late(*parts: object) -> Part:
    return Part("late", parts[-1])  # type: ignore[arg-type]


@rule("<day> <part>", "<day> à|de|por la? <part>", "<weekday> <part>", "<weekday> por|de|à la? <part>")
def part_of_a_day(day: object, part: str) -> PartOfDay:
    whole = Weekday(day) if isinstance(day, int) else day
    return PartOfDay(part, whole)  # type: ignore[arg-type]


@rule("<this> <part>")
def part_of_today(_: object, part: str) -> PartOfDay:
    return PartOfDay(part, UnitAt("day"))


@rule("<recently>")
def recently(found: Days) -> Days:
    return found


@rule("<since> <time>", "<since> <on> <time>")
def since(*parts: object) -> Bound:
    return Bound("since", parts[-1])  # type: ignore[arg-type]


@rule("<until> <time>", "<until> a|à|al|zum? <time>", "<until> <on> <time>")
def until(*parts: object) -> Bound:
    return Bound("until", parts[-1])  # type: ignore[arg-type]


@rule("<start> <time> <to> <time>", "<start> <on>? <time> <to> <on>? <time>")
def from_to(*parts: object) -> Between:
    first, last = (part for part in parts if isinstance(part, Meaning))
    return Between(first, last)


@rule("<start> <daynum> <to> <daynum> <of>? <month>")
def days_of_a_month(*parts: object) -> Between | None:
    first, last, month = (part for part in parts if isinstance(part, int))
    start, end = month_day(month, first), month_day(month, last)
    return Between(start, end) if start and end and first < last else None


# Written without spaces: Chinese and Japanese


@rule("<year> 年", gives="whole")
def nian(number: int) -> Fixed:
    return year(number)


@rule("<cjk-month> 份?", gives="cycle")
def yue(month: int) -> Months:
    return Months(month)


@rule("<cjk-month> 的|の? <cjk-day>", gives="cycle")
def yue_ri(month: int, day: int) -> MonthDay | None:
    return month_day(month, day)


@rule("<whole> 的|の? <cycle>")
def of_a_whole(whole: Meaning, cycle: Cycle) -> Within:
    return Within(cycle, whole)


@rule("<num> 个|個|ヶ|か|カ? <unit> 间|間? 前|以前|之前", "<few> 个|個|ヶ|か? <unit> 间|間? 前|以前|之前")
def cjk_ago(count: int | Count, unit: Unit) -> Ago:
    return Ago(amount(count if isinstance(count, Count) else Count(count, count), unit), -1)


@rule("<num> 个|個|ヶ|か|カ? <unit> 间|間? 后|後|以后|之后")
def cjk_ahead(count: int, unit: Unit) -> Ago:
    return Ago(amount(Count(count, count), unit), 1)


@rule("过去|最近|過去 <num> 个|個|ヶ|か? <unit> 间|間?")
def cjk_window(count: int, unit: Unit) -> Window:
    return Window(amount(Count(count, count), unit), -1)


@rule("从|自 <time> 到|至 <time>", "<time> から <time> まで?")
def cjk_from_to(first: Meaning, last: Meaning) -> Between:
    return Between(first, last)


@rule("自|自从|从 <time> 以来|起|开始", "<time> 以来|以來|から")
def cjk_since(edge: Meaning) -> Bound:
    return Bound("since", edge)


@rule("到|直到 <time> 为止", "<time> まで|为止|之前|以前")
def cjk_until(edge: Meaning) -> Bound | None:
    return None if isinstance(edge, Days) else Bound("until", edge)


@rule("<time> 的|の? <part>")
def cjk_part(day: Meaning, part: str) -> PartOfDay | None:
    return None if isinstance(day, PartOfDay) else PartOfDay(part, day)


@rule("<time> 初", "<time> 上旬")
def cjk_early(whole: Meaning) -> Part:
    return Part("early", whole)


@rule("<time> 末|底|下旬", "<time> の? 終わり")
def cjk_late(whole: Meaning) -> Part:
    return Part("late", whole)


@rule("<whole> 的|の? 第 <num> 周|週")
def cjk_nth_week(whole: Meaning, number: int) -> Nth:
    return Nth(number, "week", whole)
