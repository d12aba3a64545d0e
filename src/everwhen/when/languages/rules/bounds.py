"""Times with one bound or two: seit März, hasta el viernes, avant 2015, dal 3 al 5 maggio, a partir de amanhã."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from everwhen.when.bounded import Between, Bound, Onward, Word
from everwhen.when.cycles import DayOfMonth, Weekday
from everwhen.when.languages.rules.shared import SharedRules
from everwhen.when.meaning import AtClock, Context, Days, Hours, Kind, Meaning, NoSuchDay, Now, Span
from everwhen.when.offsets import Ago, Window
from everwhen.when.rules.dates import month_and_year, year

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


@rule("<since> <on>? <time>")
def since(edge: Meaning) -> Bound | None:
    return Bound("since", edge) if _edge(edge) else None


@rule("<until> <on>? <time>")
def until(edge: Meaning) -> Limit | None:
    return Limit(Bound("until", edge)) if _edge(edge) else None


@rule("<by> <on>? <time>", "<until> <on>? <time> <inclusive>", "<until> <inclusive> <on>? <time>")
def by(edge: Meaning) -> Limit | None:
    return Limit(Bound("by", edge)) if _edge(edge) else None


@rule("<before> <on>? <time>")
def before(edge: Meaning) -> Bound | None:
    return Bound("before", edge) if _edge(edge) and not isinstance(edge, Ago) else None


@rule("<after> <on>? <time>")
def after(edge: Meaning) -> Bound | None:
    return Bound("after", edge) if _edge(edge) and not isinstance(edge, Ago) else None


@rule("<onward> <on>? <time>", "<from> <on>? <time> <onward>")
def onward(edge: Meaning) -> Onward | None:
    return Onward(edge) if _edge(edge) else None


# A day of the month needs the end of the sentence behind it: "bis zum 15.", not "bis 15 Leute da sind".


def _of_a_day(word: Word) -> Callable[[int], Bound]:
    return lambda day: Bound(word, DayOfMonth(day))


add("until a day", _of_a_day("until"), "<until> <on>? <dayn>", "<until> <on>? <day-word> <dayn>")
add("since a day", _of_a_day("since"), "<since> <on> <dayn>", "<since> <on>? <day-word> <dayn>")
add(
    "before a day of the month",
    _of_a_day("before"),
    "<before> <on>? <dayn>",
    "<before> <on>? <day-word> <dayn>",
)
add("after a day of the month", _of_a_day("after"), "<after> <on>? <dayn>", "<after> <on>? <day-word> <dayn>")


@rule("<onward> <on>? <dayn>", "<onward> <on>? <day-word> <dayn>")
def onward_from_a_day(day: int) -> Onward:
    return Onward(DayOfMonth(day))


@rule("<start> <on>? <time> <till> <on>? <time>", name="from to")
@rule("<between> <on>? <time> <and> <on>? <time>")
def between(first: Meaning, last: Meaning) -> Between | None:
    return Between(first, last) if _edge(first) and _edge(last) else None


@rule("<start> <on>? <time> <till> <now>", "<between> <on>? <time> <and> <now>")
def until_now(first: Meaning) -> Between | None:
    return Between(first, Now()) if _edge(first) else None


@rule("<between> <now> <and> <on>? <time>", "<start> <now> <till> <on>? <time>")
def from_now(last: Meaning) -> Between | None:
    return Between(Now(), last) if _edge(last) else None


@rule("<time> - <time>", "<time> <until> <on>? <time>", "<time> <by> <on>? <time>")
def joined(first: Meaning, last: Meaning) -> Between | None:
    return Between(first, last) if _edge(first) and _edge(last) and not isinstance(first, Weekday) else None


@rule("<weekday> - <weekday>", "<weekday> <until> <weekday>", "<weekday> <by> <weekday>")
def weekday_to_weekday(first: int, last: int) -> Between:
    return Between(Weekday(first), Weekday(last))


@rule("<start> <month> <till> <month> ,? <of>? <year>", "<between> <month> <and> <month> <of>? <year>")
@rule("<month> - <month> <year>", "<month> <until> <month> <year>")
def months_of_a_year(first: int, last: int, number: int) -> Between | None:
    start = month_and_year(first, number if first < last else number - 1)
    return Between(start, month_and_year(last, number))


@rule("<start> <year> <till> <year>", "<between> <year> <and> <year>", "<years> <year> - <year>")
def year_to_year(first: int, last: int) -> Between | None:
    return Between(year(first), year(last)) if first < last else None
