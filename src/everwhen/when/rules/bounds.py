"""Times with one bound or two: since 2016, until June, by Friday, from March to May, 3-9 March."""

from __future__ import annotations

from everwhen.when.bounded import Between, Bound, Lasting, Onward, WrittenDate
from everwhen.when.calendar import DAY
from everwhen.when.cycles import (
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
    WeekNumber,
    Within,
)
from everwhen.when.meaning import AtClock, Days, Fixed, Hours, Instants, Meaning, Now, Part, PartOfDay, UnitAt
from everwhen.when.offsets import TODAY, Ago, Amount
from everwhen.when.parser import RuleBook
from everwhen.when.rules.dates import month_day, year

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

_DAYS = (Weekday, DayOfMonth, MonthDay, SlashDay, Holiday)
_LONGER = (Months, Season, Fixed, WeekNumber)


@rule("of <time>", gives="final", trim=1)
def of_a_time(found: Meaning) -> Meaning | None:
    return found if isinstance(found, (Months, Fixed)) else None


@rule("in|during|throughout|around|circa <time>", trim=1)
@rule("all|half|halfway|midway|partway through|thru <time>", trim=2, name="within it")  # all through November
def in_a_time(found: Meaning) -> Meaning | None:
    """The preposition is what tells May from may."""
    return found if isinstance(found, _LONGER) else None


@rule("in|over|during|throughout|by|for|around|come the <time>", "come <time>", trim=1)
def in_the_time(found: Meaning) -> Meaning | None:
    return found if isinstance(found, (Season, Months, Fixed, Holiday)) else None


@rule("on|for|around|about|from|this <time>", trim=1)
def on_a_day(found: Meaning) -> Meaning | None:
    return found if isinstance(found, _DAYS) else None


@rule("from <time>", trim=1)
def from_a_time(found: Meaning) -> Meaning | None:
    """Alone it says which, not since when: the photos from last summer, a letter from 2014."""
    return found if isinstance(found, (Fixed, Months, Season)) else None


@rule("at|over|around|for|during <time>", trim=1)
def at_a_holiday(found: Meaning) -> Meaning | None:
    return found if isinstance(found, (Holiday, Weekend)) else None


@rule("the <cycle>", bare=None)
def the_cycle(found: Cycle) -> Cycle | None:
    return found if isinstance(found, (Season, Months, Holiday)) else None


fixed("since", "since", "since", "ever since", gives="bound")
fixed("until", "until", "until|till|til|'til", "up until|to|till", gives="bound")
fixed("by", "by", "by", "no later than", "not later than", gives="bound")
fixed("before", "before", "before", "prior to", "earlier than", gives="bound")
fixed("after", "after", "after", "following", "later than", gives="bound")


@rule("<bound> the? early|late? <time>")
def bounded(word: str, edge: Meaning) -> Bound | None:
    return None if isinstance(edge, (Bound, Between, Days)) else Bound(word, edge)  # type: ignore[arg-type]


@rule("<amount> since the? <time>")
def so_long_since_a_time(_: object, edge: Meaning) -> Bound | None:
    """Two weeks since Monday: Monday is said, the two weeks add nothing."""
    return None if isinstance(edge, (Bound, Between, Days)) else Bound("since", edge)


# Since two years, as many say whose first language is another one.
add("since so long", lambda so_long: Bound("since", Ago(so_long, -1)), "since <amount>")


@rule("through|thru <time>")
def through(edge: Meaning) -> Bound | None:
    """Away through Friday, runs through June: Friday and June count."""
    return Bound("by", edge) if isinstance(edge, (*_DAYS, *_LONGER, UnitAt, Pick, Part)) else None


fixed(
    "end of the day",
    True,
    "the? close|end of business|play|trading|work",
    "the? end of the? working|business|work? day",
    "eod|cob|eob",
    gives="day-end",
)
fixed("by the end of the day", TODAY, "by <day-end>")


@rule("by <day-end> ,? on? <time>")
def by_the_end_of_a_day(_: bool, day: Meaning) -> Bound | None:
    return Bound("by", day) if one_day(day) else None


add("the end of a day", lambda _, day: day if one_day(day) else None, "<day-end> ,? on? <time>")


def one_day(meaning: Meaning) -> bool:
    """Whether it is a day and nothing longer or shorter."""
    if isinstance(meaning, (Fixed, UnitAt)):
        return meaning.unit == "day"
    if isinstance(meaning, (Pick, Coming)):
        meaning = meaning.cycle
    return isinstance(meaning, (*_DAYS, WrittenDate))


@rule("by <position> <time>", "by <position> <the-unit>")
def by_a_part(position: str, whole: Meaning) -> Bound:
    return Bound("by", Part(position, whole))  # type: ignore[arg-type]


@rule(
    "from|starting|beginning <time> on|onward|onwards|forward",
    "starting|beginning|effective from|on|in? <time>",
    "as of|from <time>",
)
def onward(edge: Meaning) -> Onward | None:
    return None if isinstance(edge, (Bound, Between, Onward, Hours)) else Onward(edge)


@rule("<time> onward|onwards", "<time> or later|after", "<time> at the earliest")
@rule("not before <time>", "no|not earlier|sooner than <time>", "at the earliest on? <time>")
def and_onward(edge: Meaning) -> Onward | None:
    return None if isinstance(edge, (Bound, Between, Onward, Days)) else Onward(edge)


@rule("<time> at the latest", "at the latest by|on? <time>")
def at_the_latest(edge: Meaning) -> Bound | None:
    return None if isinstance(edge, (Bound, Between, Onward, Days)) else Bound("by", edge)


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


@rule(
    "between <time> and|- the? <time>",
    "between <time> and <now>",
    "between <now> and the? <time>",
    "anytime|sometime between <time> and <time>",
)
def between(first: Meaning, last: Meaning) -> Between | None:
    return None if isinstance(first, (Bound, Between)) else Between(first, last)


@rule("from <year> <to> <year>", "between <year> and <year>", "from <year> - <year>")
def between_years(*years: int | bool) -> Between | None:
    first, last = (number for number in years if not isinstance(number, bool))
    return Between(year(first), year(last)) if first < last else None


@rule("<year> / <year>")
def two_years(first: int, last: int) -> Between | None:
    return Between(year(first), year(last)) if last == first + 1 else None


@rule("<year> - <yy>", "<year> / <yy>")
def year_and_the_next(number: int, short: int) -> Between | None:
    """2015-16: a season or school year."""
    return Between(year(number), year(number + 1)) if (number + 1) % 100 == short else None


# Days of one month


@rule("<daynum>", "the? <nth>", gives="dom")
def day_number(day: int) -> int | None:
    return day if 1 <= day <= 31 else None


@rule("from? <dom> <to> <dom> of? <month>", gives="mdrange")
def days_of_a_month(first: int, _: bool, last: int, month: int) -> Between | None:
    return _days(month, first, last)


@rule("between <dom> and|- <dom> of? <month>", gives="mdrange")
def between_days_of_a_month(first: int, last: int, month: int) -> Between | None:
    return _days(month, first, last)


@rule("from? <md> <to> <dom>", gives="mdrange")
def month_and_days(start: MonthDay, _: bool, last: int) -> Between | None:
    return _days(start.month, start.day, last)


@rule("between <md> and <dom>", gives="mdrange")
def between_month_and_days(start: MonthDay, last: int) -> Between | None:
    return _days(start.month, start.day, last)


def _days(month: int, first: int, last: int) -> Between | None:
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
    if first >= last:
        return None
    return Between(Within(DayOfMonth(first), whole), Within(DayOfMonth(last), whole))


@rule("from|between the? <nth> <to> the? <nth>", "between the? <nth> and the? <nth>")
def days_of_some_month(first: int, *rest: int | bool) -> Between | None:
    last = rest[-1]
    if not 1 <= first < last <= 31:
        return None
    return Between(DayOfMonth(first), DayOfMonth(int(last)))


@rule("the? <ordinal> <to> the? <ordinal>", gives="final", bare=True)
def days_alone(first: int, _: bool, last: int) -> Between | None:
    """24th to 26th, with nothing beside it."""
    return Between(DayOfMonth(first), DayOfMonth(last)) if 1 <= first < last <= 31 else None


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
