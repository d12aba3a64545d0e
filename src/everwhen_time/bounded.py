"""Meanings with one bound or two: from March to May, since 2016, until June, before Friday."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Literal

from everwhen_time.cycles import Cycle, MonthDay, SlashDay, Weekday, nearest
from everwhen_time.interval import coarser
from everwhen_time.meaning import (
    AtClock,
    Clock,
    Context,
    Conventions,
    Fixed,
    Hours,
    Kind,
    Meaning,
    NoSuchTime,
    Now,
    Part,
    PartOfDay,
    Piece,
    Sign,
    Span,
)
from everwhen_time.offsets import Amount

Word = Literal["since", "until", "by", "before", "after"]


def floating(meaning: Meaning | None) -> bool:
    """Whether it has no year (or week) of its own, so that the other end of a range may lend it one."""
    match meaning:
        case Part(whole=inner) | PartOfDay(day=inner) | AtClock(day=inner) | Lasting(first=inner):
            return floating(inner)
    return isinstance(meaning, Cycle)


@dataclass(frozen=True, slots=True)
class Between(Meaning):
    """From the start of one time to the end of another; if only one of them has a year, the other gets it too."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    first: Meaning
    last: Meaning

    def span(self, ctx: Context) -> Piece:
        if ctx.side is None and floating(self.first) and floating(self.last):
            with suppress(NoSuchTime):
                ahead = self.span(replace(ctx, side="future", present=True))
                if ahead.start <= ctx.now:
                    return ahead
            return self.span(ctx.facing("past"))
        to_come = ctx.side == "future" and ctx.certain and not ctx.present
        if floating(self.last) and (to_come or not floating(self.first)):
            start, grain = self.first.beginning(ctx)
            last = self.last.piece(replace(ctx, now=start, side="future", present=True))
        else:
            last = self.last.piece(ctx)
            lent = replace(ctx, now=last.start, side="past", present=False)
            start, grain = self.first.beginning(lent if floating(self.first) else ctx)
        end = self._end(ctx, last)
        if start >= end:
            raise NoSuchTime
        return Piece(start, end, grain if coarser(last.grain, grain) else last.grain)

    def _end(self, ctx: Context, last: Piece) -> datetime:
        """The last day counts, but what runs to now or today ends now, and "between now and X" ends at X."""
        if isinstance(self.last, Now):
            return ctx.now
        if isinstance(self.first, Now):
            return last.start
        if last.start == ctx.today and last.grain == "day" and not isinstance(self.last, Cycle):
            return max(ctx.now, last.start)
        return last.end


@dataclass(frozen=True, slots=True)
class Bound(Meaning):
    """Open on one side. "since X", "from X on": from its start. "after X": from its end. "until X", "before X": up to
    its start. "by X": up to its end."""

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
    """From a time on, in the direction of the verb: from October onwards."""

    kind: ClassVar[Kind] = "range"
    edge: Meaning

    def span(self, ctx: Context) -> Span | None:
        start, grain = self.edge.beginning(ctx if ctx.side else ctx.facing("future"))
        return Span(start, None, grain)


@dataclass(frozen=True, slots=True)
class Lasting(Meaning):
    """From a day on, for a given length: from 3 May for two weeks."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.85
    first: Meaning
    amount: Amount

    def span(self, ctx: Context) -> Span | None:
        start = self.first.on_a_day(ctx).start
        return Span(start, self.amount.move(ctx, start, 1), "day")


@dataclass(frozen=True, slots=True)
class SideOfClock(Meaning):
    """The part of a day before or after a time of day: tomorrow before 4pm, Friday after 17:00."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    day: Meaning
    clock: Clock
    sign: Sign

    def span(self, ctx: Context) -> Span | None:
        whole, turn = self.day.piece(ctx), AtClock(self.clock, self.day).piece(ctx).start
        sides = (whole.start, turn) if self.sign < 0 else (turn, whole.end)
        return Span(*sides, "hour") if sides[0] < sides[1] else None


@dataclass(frozen=True, slots=True)
class DateOrClock(Fixed):
    """2 Nov 1815, 3 Dec 2125: a year; or a time of day, if the caller expects plans and the year is implausible for
    one."""

    clock: Clock

    def span(self, ctx: Context) -> Span:
        planned = 0 <= self.start.year - ctx.now.year <= _FARTHEST
        if ctx.given and ctx.side == "future" and not planned:
            return AtClock(self.clock, MonthDay(self.start.month, self.start.day)).piece(ctx)
        return Fixed.span(self, ctx)


@dataclass(frozen=True, slots=True)
class HoursOrYears(Hours):
    """12 June 1900-2000: hours, but only if the caller expects plans."""

    def span(self, ctx: Context) -> Span | None:
        return Hours.span(self, ctx) if ctx.given and ctx.side == "future" else None


_FARTHEST = 80
"""Years ahead that somebody may plan for."""


@dataclass(frozen=True, slots=True)
class DotDay(SlashDay):
    """11.2. as a date where days are written first; elsewhere it is a number at the end of a sentence."""

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        return SlashDay.instance(self, start, conventions) if conventions.day_first else None


@dataclass(frozen=True, slots=True)
class DayAndPoint(Meaning):
    """Tuesday 12.12, Friday 7.30: a date if it falls on that weekday, else a time of day if it can be one."""

    confidence: ClassVar[float] = 0.8
    weekday: int
    date: SlashDay

    def span(self, ctx: Context) -> Span | None:
        for side in (ctx.side or "past", "past", "future"):
            found = nearest(self.date, ctx, side)
            if found is not None and found.start.weekday() == self.weekday:
                return found
        hour, minute = self.date.first, self.date.second
        if hour <= 24 and 10 <= minute < 60:
            return AtClock(Clock(hour, minute, exact=hour > 12), Weekday(self.weekday)).span(ctx)
        # "on Thursday, 9.2 million": who does not write dates with points means something else by it
        return (self.date if ctx.conventions.day_first else Weekday(self.weekday)).span(ctx)


@dataclass(frozen=True, slots=True)
class WrittenDate(Meaning):
    """Three numbers whose order depends on convention: 03/04/21."""

    first: int
    second: int
    year: int
    day_first: bool = False  # whatever the convention is: 27.07.24

    def span(self, ctx: Context) -> Span | None:
        year = full_year(self.year, ctx.now.year)
        conventions = replace(ctx.conventions, day_first=True) if self.day_first else ctx.conventions
        return SlashDay(self.first, self.second).instance(datetime(year, 1, 1), conventions)


def full_year(year: int, present: int) -> int:
    """Two digits become the year that is at most 20 ahead: 87 is 1987 and, in 2016, 25 is 2025."""
    if year > 99:
        return year
    century = present // 100 * 100
    return century + year if century + year <= present + 20 else century - 100 + year
