"""Times with one bound or two: seit März, hasta el viernes, avant 2015, dal 3 al 5 maggio, a partir de amanhã."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from everwhen_time.bounded import Between, Bound, Onward, Word
from everwhen_time.cycles import DayOfMonth, Weekday
from everwhen_time.meaning import AtClock, Context, Days, Hours, Kind, Meaning, NoSuchDay, Now, Span
from everwhen_time.offsets import Ago, Window
from everwhen_time.parser import Make, SharedRules
from everwhen_time.rules.dates import month_and_year, year

book = SharedRules()
add, rule = book.add, book.rule

_STRETCHES = (Between, Bound, Onward, Window, Days, Hours, NoSuchDay)


def _edge(found: Meaning) -> bool:
    """Whether it may be an end of something: what has open sides of its own, or is but a clock, may not."""
    return not isinstance(found, (*_STRETCHES, Limit)) and not (
        isinstance(found, AtClock) and found.day is None
    )


@dataclass(frozen=True, slots=True)
class Limit(Meaning):
    """ "Jusqu'à mercredi": in the future, unless the verb is certainly past ("est fermé" describes the present)."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    bound: Bound

    def span(self, ctx: Context) -> Span | None:
        return self.bound.span(ctx if ctx.side and ctx.certain else ctx.facing("future"))


def _edges(first: Meaning, last: Meaning) -> bool:
    return _edge(first) and _edge(last)


def _day(found: Meaning) -> bool:
    return _edge(found) and not isinstance(found, Ago)


def _limit(word: Word) -> Make:
    return lambda edge: Limit(Bound(word, edge))


add("since", partial(Bound, "since"), "<since> <on>? <time>", where=_edge)


add("until", _limit("until"), "<until> <on>? <time>", where=_edge)


_BY = ("<by> <on>? <time>", "<until> <on>? <time> <inclusive>", "<until> <inclusive> <on>? <time>")
add("by", _limit("by"), *_BY, where=_edge)


add("before", partial(Bound, "before"), "<before> <on>? <time>", where=_day)


add("after", partial(Bound, "after"), "<after> <on>? <time>", where=_day)


add("onward", Onward, "<onward> <on>? <time>", "<from> <on>? <time> <onward>", where=_edge)


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


add("between", Between, "<between> <on>? <time> <and> <on>? <time>", where=_edges)
add("from to", Between, "<start> <on>? <time> <till> <on>? <time>", where=_edges)


_UNTIL_NOW = ("<start> <on>? <time> <till> <now>", "<between> <on>? <time> <and> <now>")
add("until now", lambda first: Between(first, Now()), *_UNTIL_NOW, where=_edge)


_FROM_NOW = ("<between> <now> <and> <on>? <time>", "<start> <now> <till> <on>? <time>")
add("from now", lambda last: Between(Now(), last), *_FROM_NOW, where=_edge)


@rule("<time> - <time>", "<time> <until>|<by> <on>? <time>")
def joined(first: Meaning, last: Meaning) -> Between | None:
    return Between(first, last) if _edges(first, last) and not isinstance(first, Weekday) else None


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
