"""Two-sided and one-sided stretches: from March to May, since 2016, until June, before Friday."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Literal

from everwhen.when.cycles import Cycle, MonthDay, SlashDay
from everwhen.when.interval import coarser
from everwhen.when.meaning import AtClock, Context, Kind, Meaning, Now, Part, PartOfDay, Span

Word = Literal["since", "until", "by", "before", "after"]


def floating(meaning: Meaning | None) -> bool:
    """Whether it has no year (or week) of its own, so that the other end of a range may lend it one."""
    match meaning:
        case Part(whole=inner) | PartOfDay(day=inner) | AtClock(day=inner):
            return floating(inner)
    return isinstance(meaning, Cycle)


@dataclass(frozen=True, slots=True)
class Between(Meaning):
    """From the start of one to the end of the other; the end that knows its year lends it to the other."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    first: Meaning
    last: Meaning

    def span(self, ctx: Context) -> Span | None:
        if ctx.side is None and floating(self.first) and floating(self.last):
            ahead = self.span(ctx.facing("future"))
            running = ahead is not None and ahead.start is not None and ahead.start <= ctx.now
            return ahead if running else self.span(ctx.facing("past"))
        if floating(self.last) and not floating(self.first):
            first = self.first.span(ctx)
            if first is None or first.start is None:
                return None
            last = self.last.span(replace(ctx, now=first.start, side="future"))
        else:
            last = self.last.span(ctx)
            if last is None or last.start is None:
                return None
            if floating(self.first):
                first = self.first.span(replace(ctx, now=last.start, side="past"))
            else:
                first = self.first.span(ctx)
        if first is None or last is None or first.start is None or last.end is None:
            return None
        end = self._end(ctx, last)
        if first.start >= end:
            return None
        return Span(first.start, end, first.grain if coarser(last.grain, first.grain) else last.grain)

    def _end(self, ctx: Context, last: Span) -> datetime:
        """The last day counts, but what runs to now or today ends now, and "between now and X" ends at X."""
        assert last.start is not None and last.end is not None
        if isinstance(self.last, Now):
            return ctx.now
        if isinstance(self.first, Now):
            return last.start
        if last.start == ctx.today and last.grain == "day" and not isinstance(self.last, MonthDay):
            return max(ctx.now, last.start)
        return last.end


@dataclass(frozen=True, slots=True)
class Bound(Meaning):
    """Open on one side. since X and from X on: from its start; after X: from its end; until and before X:
    up to its start; by X: up to its end."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    word: Word
    edge: Meaning

    def span(self, ctx: Context) -> Span | None:
        if self.word == "since":
            ctx = ctx.facing("past")
        elif self.word in ("until", "by") and ctx.side is None:
            ctx = ctx.facing("future")
        if isinstance(self.edge, Part) and self.edge.position == "end" and self.word != "since":
            return Bound("after" if self.word == "after" else "by", self.edge.whole).span(ctx)
        edge = self.edge.span(ctx)
        if edge is None:
            return None
        side = {
            "since": (edge.start, None),
            "after": (edge.end, None),
            "until": (None, edge.start),
            "before": (None, edge.start),
            "by": (None, edge.end),
        }[self.word]
        return None if side == (None, None) else Span(*side, edge.grain)


@dataclass(frozen=True, slots=True)
class Onward(Meaning):
    """From a time on, on the side of the verb: from October onwards."""

    kind: ClassVar[Kind] = "range"
    edge: Meaning

    def span(self, ctx: Context) -> Span | None:
        edge = self.edge.span(ctx if ctx.side else ctx.facing("future"))
        return None if edge is None or edge.start is None else Span(edge.start, None, edge.grain)


@dataclass(frozen=True, slots=True)
class WrittenDate(Meaning):
    """Three numbers whose order is a matter of convention: 03/04/21."""

    first: int
    second: int
    year: int

    def span(self, ctx: Context) -> Span | None:
        year = full_year(self.year, ctx.now.year)
        return SlashDay(self.first, self.second).instance(datetime(year, 1, 1), ctx.conventions)


def full_year(year: int, present: int) -> int:
    """Two digits become the year that is at most 20 ahead: 87 is 1987 and, in 2016, 25 is 2025."""
    if year > 99:
        return year
    century = present // 100 * 100
    return century + year if century + year <= present + 20 else century - 100 + year
