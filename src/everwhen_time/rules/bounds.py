"""Times with one bound or two: since 2016, until June, by Friday, from March to May, 3-9 March."""

from __future__ import annotations

from functools import partial

from everwhen_time.bounded import Between, Bound, Lasting, Onward, WrittenDate
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
from everwhen_time.meaning import AtClock, Days, Fixed, Hours, Instants, Meaning, Now, Part, PartOfDay, UnitAt
from everwhen_time.offsets import TODAY, Ago, Amount
from everwhen_time.parser import RuleBook, ends_in, not_ending_in
from everwhen_time.rules.dates import month_day, year, year_in_two_digits

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_DAYS = (Weekday, DayOfMonth, MonthDay, SlashDay, Holiday)
_LONGER = (Months, Season, Fixed, WeekNumber)


same("of a time", "of <time>", where=ends_in(Months, Fixed), gives="final", trim=1)


# The preposition is what tells May from may; or all through November.
same("within it", "all|half|halfway|midway|partway through|thru <time>", where=ends_in(*_LONGER), trim=2)
same("in a time", "in|during|throughout|around|circa <time>", where=ends_in(*_LONGER), trim=1)


_IN_THE = ("in|over|during|throughout|by|for|around|come the <time>", "come <time>")
same("in the time", *_IN_THE, where=ends_in(Season, Months, Fixed, Holiday), trim=1)


same("on a day", "on|for|around|about|from|this <time>", where=ends_in(*_DAYS), trim=1)


# Alone it says which, not since when: the photos from last summer, a letter from 2014.
same("from a time", "from <time>", where=ends_in(Fixed, Months, Season), trim=1)


same("at a holiday", "at|over|around|for|during <time>", where=ends_in(Holiday, Weekend), trim=1)


same("the cycle", "the <cycle>", where=ends_in(Season, Months, Holiday), bare=None)


fixed("since", "since", "since", "ever since", gives="bound")
fixed("until", "until", "until|till|til|'til", "up until|to|till", gives="bound")
fixed("by", "by", "by", "no later than", "not later than", gives="bound")
fixed("before", "before", "before", "prior to", "earlier than", gives="bound")
fixed("after", "after", "after", "following", "later than", gives="bound")


add("bounded", Bound, "<bound> the? early|late? <time>", where=not_ending_in(Bound, Between, Days))


@rule("since <yy>", gives="final", bare=True, name="year in two digits")
def since_a_year_in_two_digits(number: int) -> Bound | None:
    began = year_in_two_digits(number)
    return None if began is None else Bound("since", began)


# Two weeks since Monday: Monday is said, the two weeks add nothing.
add(
    "so long since a time",
    lambda _, edge: Bound("since", edge),
    "<amount> since the? <time>",
    where=not_ending_in(Bound, Between, Days),
)


# Since two years, as many say whose first language is another one.
add("since so long", lambda so_long: Bound("since", Ago(so_long, -1)), "since <amount>")


# Away through Friday, runs through June: Friday and June count.
_THROUGH = ends_in(*_DAYS, *_LONGER, UnitAt, Pick, Part)
add("through", partial(Bound, "by"), "through|thru <time>", where=_THROUGH)


fixed(
    "end of the day",
    True,
    "the? close|end of business|play|trading|work",
    "the? end of the? working|business|work? day",
    "eod|cob|eob",
    gives="day-end",
)
fixed("by the end of the day", TODAY, "by <day-end>")


def one_day(meaning: Meaning) -> bool:
    """Whether it is a day and nothing longer or shorter."""
    if isinstance(meaning, (Fixed, UnitAt)):
        return meaning.unit == "day"
    if isinstance(meaning, (Pick, Coming)):
        meaning = meaning.cycle
    return isinstance(meaning, (*_DAYS, WrittenDate))


def on_one_day(*parts: object) -> bool:
    """Whether what was matched last is a day."""
    return isinstance(parts[-1], Meaning) and one_day(parts[-1])


add("by the end of a day", lambda _, day: Bound("by", day), "by <day-end> ,? on? <time>", where=on_one_day)
same("the end of a day", "<day-end> ,? on? <time>", where=on_one_day)


add(
    "by a part", lambda position, whole: Bound("by", Part(position, whole)), "by <position> <time>|<the-unit>"
)


add(
    "onward",
    Onward,
    "from|starting|beginning <time> on|onward|onwards|forward",
    "starting|beginning|effective from|on|in? <time>",
    "as of|from <time>",
    where=not_ending_in(Bound, Between, Onward, Hours),
)


add(
    "and onward",
    Onward,
    "not before <time>",
    "no|not earlier|sooner than <time>",
    "at the earliest on? <time>",
    "<time> onward|onwards",
    "<time> or later|after",
    "<time> at the earliest",
    where=not_ending_in(Bound, Between, Onward, Days),
)


_LATEST = ("<time> at the latest", "at the latest by|on? <time>")
add("at the latest", partial(Bound, "by"), *_LATEST, where=not_ending_in(Bound, Between, Onward, Days))


@rule("from? <time> for <amount>", "for <amount> from|starting|beginning on? the? <time>")
def for_so_long(*parts: Meaning | Amount) -> Lasting | None:
    """Away from Friday for three days; hours do not say when on that day they began."""
    so_long = next(part for part in parts if isinstance(part, Amount))
    first = next(part for part in parts if isinstance(part, Meaning))
    if so_long.fuzzy or so_long.unit in ("hour", "minute", "second") or not one_day(first):
        return None
    return Lasting(first, so_long)


fixed("now", Now(), "now", "right now", "this moment", "the? present", "date", gives="now")
fixed("to", True, "to|until|till|til|through|thru|-", "up to|until", "all the way to", gives="to")


@rule(
    "from? <time> <to> the? <time>", "from <time> <to> <now>", "from <now> <to> <time>", "<time> <to> <now>"
)
def from_to(first: Meaning, _: bool, last: Meaning) -> Between | None:
    if isinstance(first, (Bound, Between)) or isinstance(last, (Bound, Between)):
        return None
    if isinstance(last, Weekday) and not one_day(first) and not isinstance(first, PartOfDay):
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


add(
    "between",
    Between,
    "between <time> and|- the? <time>",
    "between <time> and <now>",
    "between <now> and the? <time>",
    "anytime|sometime between <time> and <time>",
    where=lambda first, _: not isinstance(first, (Bound, Between)),
)


@rule("from <year> <to> <year>", "between <year> and <year>", "from <year> - <year>")
def between_years(*years: int | bool) -> Between | None:
    first, last = (number for number in years if not isinstance(number, bool))
    return Between(year(first), year(last)) if first < last else None


@rule("<year> - <yy>", "<year> / <yy>", name="year and the next")
@rule("<year> / <year>")
def two_years(first: int, last: int) -> Between | None:
    """2015-16: a season or school year."""
    return Between(year(first), year(first + 1)) if last in (first + 1, (first + 1) % 100) else None


# Days of one month


@rule("<daynum>", "the? <nth>", gives="dom")
def day_number(day: int) -> int | None:
    return day if 1 <= day <= 31 else None


@rule("from? <dom> <to> <dom> of? <month>", gives="mdrange")
@rule("between <dom> and|- <dom> of? <month>", gives="mdrange", name="between days of a month")
def days_of_a_month(first: int, *rest: int) -> Between | None:
    return days_of(rest[-1], first, rest[-2])


@rule("from? <md> <to> <dom>", gives="mdrange")
@rule("between <md> and <dom>", gives="mdrange", name="between month and days")
def month_and_days(start: MonthDay, *rest: int) -> Between | None:
    return days_of(start.month, start.day, rest[-1])


def days_of(month: int, first: int, last: int) -> Between | None:
    """From one day of a month to another."""
    start, end = month_day(month, first), month_day(month, last)
    return Between(start, end) if start and end and first < last else None


same("days without a year", "<mdrange>")


@rule("<mdrange> ,? of|in? <year>", "<mdrange> ,? of|in? <whole>")
def days_and_year(days: Between, container: int | Meaning) -> Between | None:
    whole = year(container) if isinstance(container, int) else container
    first, last = days.first, days.last
    if not isinstance(first, MonthDay) or not isinstance(last, MonthDay):
        return None
    return Between(Within(first, whole), Within(last, whole))


@rule("from|between <dom> -|to|and <dom> of|in <whole>")
def days_of_a_whole(first: int, last: int, whole: Meaning) -> Between | None:
    sides = Within(DayOfMonth(first), whole), Within(DayOfMonth(last), whole)
    return Between(*sides) if first < last else None


@rule("from|between the? <nth> <to> the? <nth>", "between the? <nth> and the? <nth>")
@rule("the? <ordinal> <to> the? <ordinal>", gives="final", bare=True, name="days alone")  # nothing beside it
def days_of_some_month(first: int, *rest: int) -> Between | None:
    return Between(DayOfMonth(first), DayOfMonth(rest[-1])) if 1 <= first < rest[-1] <= 31 else None


@rule("<instant> / <instant>")
def iso_interval(first: Meaning, last: Meaning) -> Meaning | None:
    if not isinstance(first, Instants) or not isinstance(last, Instants):
        return None
    if first.start is None or last.start is None or last.start < first.start:
        return None
    return Instants(first.start, last.start, first.grain)


@rule("<date> / <date>")
def iso_dates(first: Meaning, last: Meaning) -> Meaning | None:
    """2023-05-01/2023-05-08: ISO 8601 intervals end before their second date."""
    if not isinstance(first, Fixed) or not isinstance(last, Fixed) or last.start <= first.start:
        return None
    return Between(first, Fixed(last.start - DAY, "day"))
