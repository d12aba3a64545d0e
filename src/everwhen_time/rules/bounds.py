"""Times with one bound or two: since 2016, hasta el viernes, from March to May, dal 3 al 5 maggio.

A rule without a pattern here gets its patterns from `languages/*.toml`, where they are listed under its name. The
patterns of categories alone ("<since> <on>? <time>") serve all languages but English. `gives`, `bare` and `trim` are
explained at `parser.Rule`, `fixed` and `same` at the methods of `parser.RuleBook`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from everwhen_time.calendar import DAY
from everwhen_time.cycles import (
    Coming,
    DayOfMonth,
    Holiday,
    MonthDay,
    Months,
    Pick,
    Season,
    SlashDay,
    Weekday,
    Weekend,
    WeekNumber,
    Within,
)
from everwhen_time.meaning import (
    AtClock,
    Context,
    Days,
    Fixed,
    Hours,
    Instants,
    Kind,
    Meaning,
    NoSuchDay,
    Now,
    Part,
    PartOfDay,
    Span,
    UnitAt,
)
from everwhen_time.offsets import (
    TODAY,
    Ago,
    Amount,
    Between,
    Bound,
    Lasting,
    Onward,
    Window,
    Word,
    WrittenDate,
)
from everwhen_time.parser import Make, RuleBook, ends_in, not_ending_in
from everwhen_time.rules.dates import day_at, month_and_year, month_day, year, year_in_two_digits

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_DAYS = (Weekday, DayOfMonth, MonthDay, SlashDay, Holiday)
_LONGER = (Months, Season, Fixed, WeekNumber)


same("of a time", where=ends_in(Months, Fixed), gives="final", trim=1)


# The preposition is what tells May from may; or all through November.
same("within it", where=ends_in(*_LONGER), trim=2)
same("during a time", where=ends_in(*_LONGER), trim=1)


same("in the time", where=ends_in(Season, Months, Fixed, Holiday), trim=1)


same("on a day", where=ends_in(*_DAYS), trim=1)


# Alone it says which, not since when: the photos from last summer, a letter from 2014.
same("from a time", where=ends_in(Fixed, Months, Season), trim=1)


same("at a holiday", where=ends_in(Holiday, Weekend), trim=1)


same("the cycle", where=ends_in(Season, Months, Holiday), bare=None)


fixed("since word", "since", gives="bound")
fixed("until word", "until", gives="bound")
fixed("by word", "by", gives="bound")
fixed("before word", "before", gives="bound")
fixed("after word", "after", gives="bound")


add("bounded", Bound, where=not_ending_in(Bound, Between, Days))


@rule(gives="final", bare=True, name="since a year in two digits")
def since_a_year_in_two_digits(number: int) -> Bound | None:
    began = year_in_two_digits(number)
    return None if began is None else Bound("since", began)


# Two weeks since Monday: Monday is said, the two weeks add nothing.
add("so long since a time", lambda _, edge: Bound("since", edge), where=not_ending_in(Bound, Between, Days))


# Since two years, as many say whose first language is another one.
add("since so long", lambda so_long: Bound("since", Ago(so_long, -1)))


# Away through Friday, runs through June: Friday and June count.
_THROUGH = ends_in(*_DAYS, *_LONGER, UnitAt, Pick, Part)
add("through", partial(Bound, "by"), where=_THROUGH)


fixed("end of the day", True, gives="day-end")
fixed("by the end of the day", TODAY)


def is_one_day(meaning: Meaning) -> bool:
    """Whether it is a day and nothing longer or shorter."""
    if isinstance(meaning, (Fixed, UnitAt)):
        return meaning.unit == "day"
    if isinstance(meaning, (Pick, Coming)):
        meaning = meaning.cycle
    return isinstance(meaning, (*_DAYS, WrittenDate))


def last_is_a_day(*parts: object) -> bool:
    """Whether what was matched last is a day."""
    return isinstance(parts[-1], Meaning) and is_one_day(parts[-1])


add("by the end of a day", lambda _, day: Bound("by", day), where=last_is_a_day)
same("the end of a day", where=last_is_a_day)


add("by a part", lambda position, whole: Bound("by", Part(position, whole)))


add("from then onward", Onward, where=not_ending_in(Bound, Between, Onward, Hours))


add("and onward", Onward, where=not_ending_in(Bound, Between, Onward, Days))


add("at the latest", partial(Bound, "by"), where=not_ending_in(Bound, Between, Onward, Days))


@rule()
def for_so_long(*parts: Meaning | Amount) -> Lasting | None:
    """Away from Friday for three days; hours do not say when on that day they began."""
    so_long = next(part for part in parts if isinstance(part, Amount))
    first = next(part for part in parts if isinstance(part, Meaning))
    if so_long.fuzzy or so_long.unit in ("hour", "minute", "second") or not is_one_day(first):
        return None
    return Lasting(first, so_long)


fixed("now", Now(), gives="moment")
fixed("up to", True, gives="up-to")


@rule(name="from one to another")
def from_one_to_another(first: Meaning, _: bool, last: Meaning) -> Between | None:
    if isinstance(first, (Bound, Between)) or isinstance(last, (Bound, Between)):
        return None
    if isinstance(last, Weekday) and not is_one_day(first) and not isinstance(first, PartOfDay):
        return None  # "next week - Monday" is that week's Monday
    if isinstance(first, AtClock) and first.day in (None, TODAY):
        return None  # hours of a day are a rule of their own
    if isinstance(last, Hours) or (isinstance(last, AtClock) and last.day is None):
        return None
    return Between(first, last) if _years_or_no_year(first, last) else None


def _years_or_no_year(first: Meaning, last: Meaning) -> bool:
    """A bare number may be a year in a range only beside another date or year of our time."""
    years = [m.start.year for m in (first, last) if isinstance(m, Fixed) and m.unit == "year"]
    return len(years) != 1 and all(number >= 1700 for number in years)


add("between two", Between, where=lambda first, _: not isinstance(first, (Bound, Between)))


@rule()
def between_years(*years: int | bool) -> Between | None:
    first, last = (number for number in years if not isinstance(number, bool))
    return Between(year(first), year(last)) if first < last else None


@rule(name="year and the next")
@rule()
def two_years(first: int, last: int) -> Between | None:
    """2015-16: a season or school year."""
    return Between(year(first), year(first + 1)) if last in (first + 1, (first + 1) % 100) else None


# Days of one month


@rule("<daynum>", "<daynum> .", "<nth>", gives="dayn")
def day_number(day: int) -> int | None:
    return day if 1 <= day <= 31 else None


@rule(gives="mdrange", name="days before a month")
@rule(gives="mdrange", name="between days of a month")
def days_before_a_month(first: int, *rest: int) -> Between | None:
    """ "3-5 May", "between the 3rd and the 5th of May": the first day; in `rest` the last day and the month, after
    the value of a joining word where the pattern has one."""
    return range_in_month(rest[-1], first, rest[-2])


@rule(gives="mdrange", name="days behind a month")
@rule(gives="mdrange", name="between month and days")
def days_behind_a_month(start: MonthDay, *rest: int) -> Between | None:
    """ "May 3-5": the first day with its month; the last day comes last, after the value of a joining word."""
    return range_in_month(start.month, start.day, rest[-1])


def range_in_month(month: int, first: int, last: int) -> Between | None:
    """From one day of a month to another; None where the month lacks one of them or the last is not later."""
    start, end = month_day(month, first), month_day(month, last)
    return Between(start, end) if start and end and first < last else None


same("days without a year")


@rule()
def days_and_year(days: Between, container: int | Meaning) -> Between | None:
    whole = year(container) if isinstance(container, int) else container
    first, last = days.first, days.last
    if not isinstance(first, MonthDay) or not isinstance(last, MonthDay):
        return None
    return Between(Within(first, whole), Within(last, whole))


@rule(name="days in a whole")
def days_in_a_whole(first: int, last: int, whole: Meaning) -> Between | None:
    """ "The 3rd to the 5th of next month"."""
    sides = Within(DayOfMonth(first), whole), Within(DayOfMonth(last), whole)
    return Between(*sides) if first < last else None


@rule()
@rule(gives="final", bare=True, name="days alone")  # nothing beside it
def days_of_some_month(first: int, *rest: int) -> Between | None:
    """ "From the 3rd to the 5th", without a month; the last day comes last, after the value of a joining word."""
    return Between(DayOfMonth(first), DayOfMonth(rest[-1])) if 1 <= first < rest[-1] <= 31 else None


@rule()
def iso_interval(first: Meaning, last: Meaning) -> Meaning | None:
    """2023-05-01T10:00Z/2023-05-01T12:00Z."""
    if not isinstance(first, Instants) or not isinstance(last, Instants):
        return None
    if first.start is None or last.start is None or last.start < first.start:
        return None
    return Instants(first.start, last.start, first.grain)


@rule()
def iso_dates(first: Meaning, last: Meaning) -> Meaning | None:
    """2023-05-01/2023-05-08: ISO 8601 intervals end before their second date."""
    if not isinstance(first, Fixed) or not isinstance(last, Fixed) or last.start <= first.start:
        return None
    return Between(first, Fixed(last.start - DAY, "day"))


# Over the words that join, in any language


@dataclass(frozen=True, slots=True)
class Limit(Meaning):
    """ "Jusqu'à mercredi": in the future, unless the verb is certainly past ("est fermé" describes the present)."""

    kind: ClassVar[Kind] = "range"
    bounded: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.9
    bound: Bound

    def span(self, ctx: Context) -> Span | None:
        return self.bound.span(ctx if ctx.side and ctx.certain else ctx.facing("future"))


_STRETCHES = (Between, Bound, Onward, Window, Days, Hours, NoSuchDay)


def is_edge(found: Meaning) -> bool:
    """Whether it may be where a range begins or ends. A range may not, and a time of day without its day may not."""
    return not isinstance(found, (*_STRETCHES, Limit)) and not (
        isinstance(found, AtClock) and found.day is None
    )


def are_edges(first: Meaning, last: Meaning) -> bool:
    return is_edge(first) and is_edge(last)


def _is_edge_without_ago(found: Meaning) -> bool:
    """ "Before two days ago" is no boundary: it is a way to say how long before."""
    return is_edge(found) and not isinstance(found, Ago)


def _limit(word: Word) -> Make:
    return lambda edge: Limit(Bound(word, edge))


add("since", partial(Bound, "since"), "<since> <on>? <time>", where=is_edge)


add("until", _limit("until"), "<until> <on>? <time>", where=is_edge)


_BY = ("<by> <on>? <time>", "<until> <on>? <time> <inclusive>", "<until> <inclusive> <on>? <time>")
add("by", _limit("by"), *_BY, where=is_edge)


add("before", partial(Bound, "before"), "<before> <on>? <time>", where=_is_edge_without_ago)


add("after", partial(Bound, "after"), "<after> <on>? <time>", where=_is_edge_without_ago)


add("onward", Onward, "<onward> <on>? <time>", "<from> <on>? <time> <onward>", where=is_edge)


# A day of the month needs the end of the sentence behind it: "bis zum 15.", not "bis 15 Leute da sind".


def _patterns(before: str) -> tuple[str, str]:
    return f"{before} <dayn>", f"{before.removesuffix('?')}? <day-word> <dayn>"


def _of_a_day(word: Word) -> Make:
    return lambda day: Bound(word, DayOfMonth(day))


add("until a day", _of_a_day("until"), *_patterns("<until> <on>?"))
add("since a day", _of_a_day("since"), *_patterns("<since> <on>"))
add("before a day of the month", _of_a_day("before"), *_patterns("<before> <on>?"))
add("after a day of the month", _of_a_day("after"), *_patterns("<after> <on>?"))
add("onward from a day", lambda day: Onward(DayOfMonth(day)), *_patterns("<onward> <on>?"))


add("between", Between, "<between> <on>? <time> <and> <on>? <time>", where=are_edges)
add("from to", Between, "<start> <on>? <time> <till> <on>? <time>", where=are_edges)


_UNTIL_NOW = ("<start> <on>? <time> <till> <now>", "<between> <on>? <time> <and> <now>")
add("until now", lambda first: Between(first, Now()), *_UNTIL_NOW, where=is_edge)


_FROM_NOW = ("<between> <now> <and> <on>? <time>", "<start> <now> <till> <on>? <time>")
add("from now to a time", lambda last: Between(Now(), last), *_FROM_NOW, where=is_edge)


@rule("<time> - <time>", "<time> <until>|<by> <on>? <time>")
def joined(first: Meaning, last: Meaning) -> Between | None:
    return Between(first, last) if are_edges(first, last) and not isinstance(first, Weekday) else None


_WEEKDAYS = "<weekday> -|<until>|<by> <weekday>"
add("weekday to weekday", lambda first, last: Between(Weekday(first), Weekday(last)), _WEEKDAYS)


@rule("<start> <month> <till> <month> ,? <of>? <year>", "<between> <month> <and> <month> <of>? <year>")
@rule("<month> - <month> <year>", "<month> <until> <month> <year>")
def months_of_a_year(first: int, last: int, number: int) -> Between | None:
    start = month_and_year(first, number if first < last else number - 1)
    return Between(start, month_and_year(last, number))


@rule("<start> <year> <till> <year>", "<between> <year> <and> <year>", "<years> <year> - <year>")
def year_to_year(first: int, last: int) -> Between | None:
    return Between(year(first), year(last)) if first < last else None


# Ranges of days


@rule("<dayn> <till> <on>? <md>", "<dayn> - <md>", "<dayn> <and> <on>? <md>", gives="stretch", bare=None)
def days_of_a_month(first: int, last: MonthDay) -> Between | None:
    """ "Dal 3 al 5 maggio", "3. bis 5. Mai"."""
    return range_in_month(last.month, first, last.day)


add("month and days", range_in_month, "<full-month> <daynum> -|<till> <daynum>", gives="stretch", bare=None)


@rule("<stretch> ,? <of>? <year>", gives="stretch")
def stretch_and_year(stretch: Between, number: int) -> Between | None:
    if not isinstance(stretch.first, MonthDay) or not isinstance(stretch.last, MonthDay):
        return None
    over = stretch.first.month > stretch.last.month  # from December to February
    first = day_at(number - over, stretch.first.month, stretch.first.day)
    last = day_at(number, stretch.last.month, stretch.last.day)
    return Between(first, last) if first and last else None


@rule("<dayn> <till> <on>? <date>", "<dayn> - <date>", "<dayn> <and> <on>? <date>", gives="stretch")
def days_of_a_dated_month(first: int, last: Meaning) -> Between | None:
    """ "3. bis 5. Mai 2023": the month and year are the last day's."""
    if isinstance(last, Fixed):
        start = day_at(last.start.year, last.start.month, first)
        return Between(start, last) if start and first < last.start.day else None
    if isinstance(last, WrittenDate) and first < last.first:
        return Between(WrittenDate(first, last.second, last.year), last)
    return None


@rule("<dayn> <till> <on>? <dotted>", "<dayn> - <dotted>", "<dayn> - <slash>", gives="stretch")
@rule("<dayn> <till> <on>? <slash>", "<dayn> <till> <on>? <decimal>", gives="stretch")
def days_in_figures(first: int, last: SlashDay) -> Between | None:
    """ "3.-5.5.", "del 3 al 5/5"."""
    return Between(SlashDay(first, last.second), last) if first < last.first else None


add(
    "date to date",
    lambda first, last: Between(MonthDay(first.month, first.day), MonthDay(last.month, last.day)),
    "<md> <till> <on>? <md>",
    gives="stretch",
)


add("date to full date", Between, "<md>|<date> <till> <on>? <date>", "<date> <till> <on>? <md>")


same("stretch of days", "<stretch>", "<start> <stretch>", "<between> <on>? <stretch>")


@rule(
    "<start> <dayn> <till> <on>? <dayn> <of>? <whole>",
    "<between> <on>? <dayn> <and> <on>? <dayn> <of>? <whole>",
)
def days_of_a_whole(first: int, last: int, month: Meaning) -> Between | None:
    """ "Vom 3. bis 5. nächsten Monats"."""
    if not isinstance(month, UnitAt) or month.unit != "month" or first >= last:
        return None
    return Between(Within(DayOfMonth(first), month), Within(DayOfMonth(last), month))


@rule("<start> <dayn> <till> <on>? <dayn>", "<between> <on>? <dayn> <and> <on>? <dayn>")
def days_of_no_month(first: int, last: int) -> Between | None:
    """ "Vom 3. bis 5.", without a month."""
    return Between(DayOfMonth(first), DayOfMonth(last)) if first < last else None


@rule("<md> <till> <on>? <dayn>", gives="stretch")
def date_to_day(first: MonthDay, day: int) -> Between | None:
    return range_in_month(first.month, first.day, day)


@rule(gives="stretch")
def full_date_to_day(first: Fixed, day: int) -> Between | None:
    last = day_at(first.start.year, first.start.month, day) if isinstance(first, Fixed) else None
    return Between(first, last) if last and first.start.day < day else None
