"""Times counted from now or from another time, and times with one bound or two."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile
from typing import ClassVar, Literal

from everwhen_time.calendar import DAY, MULTIPLES, UNITS, Unit, first_week, floor, last_week, shift
from everwhen_time.cycles import Cycle, MonthDay, SlashDay, Weekday, after, before, instances, nearest
from everwhen_time.interval import Duration, Grain, coarser
from everwhen_time.meaning import (
    GRAIN,
    PARTS_OF_DAY,
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
    UnitAt,
    unit_span,
)

# A half of one unit is said in the next smaller one: a year and a half ago is a month, not a year.
_FRACTIONS: dict[Unit, tuple[int, Unit]] = MULTIPLES | {
    "year": (12, "month"),
    "month": (30, "day"),
    "week": (7, "day"),
    "day": (24, "hour"),
    "hour": (60, "minute"),
    "minute": (60, "second"),
}


@dataclass(frozen=True, slots=True)
class Count:
    """A number between two bounds: "a few" is 2 to 5."""

    low: float
    high: float


FEW = Count(2, 5)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of time in calendar units: two years and three months."""

    parts: tuple[tuple[Count, Unit], ...]
    nights: bool = False  # of days: the nights are counted

    @property
    def unit(self) -> Unit:
        """The smallest unit, which is how precisely it is stated."""
        return min((unit for _, unit in self.parts), key=UNITS.index)

    @property
    def fuzzy(self) -> bool:
        return any(count.low != count.high for count, _ in self.parts)

    def plus(self, other: Amount) -> Amount | None:
        """Both together; None unless the other goes on in a smaller unit."""
        if UNITS.index(other.parts[0][1]) >= UNITS.index(self.unit):
            return None
        return Amount(self.parts + other.parts)

    def duration(self) -> Duration:
        """The same as an ISO duration; a fuzzy count by its middle."""
        total: dict[str, int] = {}
        for count, unit in self.parts:
            factor, smaller = MULTIPLES.get(unit, (1, unit))
            name = smaller + "s"
            total[name] = total.get(name, 0) + round((count.low + count.high) / 2 * factor)
        return Duration(**total)

    def move(self, ctx: Context, moment: datetime, sign: Sign, upper: bool = True) -> datetime:
        """The moment so much later or earlier."""
        for count, unit in self.parts:
            number = (count.high if upper else count.low) * sign
            if unit in ("hour", "minute", "second"):
                moment = ctx.exactly(moment, shift(datetime(2000, 1, 1), unit, number) - datetime(2000, 1, 1))
            else:
                moment = shift(moment, unit, number)
        return moment


def amount(count: Count | float, unit: Unit) -> Amount:
    """So many of a unit, with fractions stated in the smaller unit."""
    if not isinstance(count, Count):
        count = Count(count, count)
    if count.low == count.high and count.low != int(count.low) and unit in _FRACTIONS:
        each, smaller = _FRACTIONS[unit]
        whole = int(count.low)
        rest = round((count.low - whole) * each)
        part = (Count(rest, rest), smaller)
        return Amount(((Count(whole, whole), unit), part) if whole else (part,))
    return Amount(((count, unit),))


@dataclass(frozen=True, slots=True)
class Ago(Meaning):
    """An amount of time ago, or from now.

    The past is approximate: weeks ago is a week around that day, months and years ago are the calendar month and
    year. Plans are exact: "in two weeks" is that day.
    """

    confidence: ClassVar[float] = 0.85
    amount: Amount
    sign: Sign
    loose: bool = False  # what is said of the past is loose in either direction: "two weeks later"

    def span(self, ctx: Context) -> Span:
        far = self._around(ctx, self.amount.move(ctx, ctx.now, self.sign))
        if not self.amount.fuzzy:
            return far
        near = self._around(ctx, self.amount.move(ctx, ctx.now, self.sign, upper=False))
        first, last = (far, near) if self.sign < 0 else (near, far)
        return Span(first.start, last.end, far.grain)

    def _around(self, ctx: Context, target: datetime) -> Span:
        unit = self.amount.unit
        if unit in ("second", "minute"):
            return unit_span(ctx, target, "minute")
        if unit == "hour":
            middle, day = floor(target, "minute"), floor(target, "day")  # around it, but on its day
            half = timedelta(minutes=30)
            return Span(max(day, middle - half), min(day + DAY, middle + half), "hour")
        loose = self.loose or self.sign < 0 or self.amount.fuzzy
        if unit == "day" or not loose or (unit == "week" and self.amount.fuzzy):
            return unit_span(ctx, target, "day")
        if unit == "week":
            day = floor(target, "day")
            return Span(day - DAY * 3, day + DAY * 4, "week")
        if unit == "decade":  # ten years, stated as years are
            return unit_span(ctx, target, "year")
        if unit == "century":
            year = floor(target, "year")
            return Span(shift(year, "year", -5), shift(year, "year", 5), "decade")
        return unit_span(ctx, target, unit)


@dataclass(frozen=True, slots=True)
class InAmount(Meaning):
    """ "In two weeks": that day; with a past verb, how long something took ("wrote it in two weeks").

    "In a week" needs a future verb ("seven days in a week"), and "in a second" is never a date.
    """

    confidence: ClassVar[float] = 0.8
    amount: Amount

    def span(self, ctx: Context) -> Span | None:
        one = self.amount.parts[0][0] == Count(1, 1) and len(self.amount.parts) == 1
        if ctx.side == "past" or (one and (ctx.side is None or not ctx.certain)):
            return None  # "you cannot see it all in one day"
        if one and self.amount.unit in ("second", "minute"):
            return None
        return Ago(self.amount, 1).span(ctx)


@dataclass(frozen=True, slots=True)
class Window(Meaning):
    """The last or next amount of time, up to or from now: over the past three months."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.9
    amount: Amount
    sign: Sign
    from_now: bool = False  # "within two weeks" begins now, "the next two weeks" tomorrow

    def span(self, ctx: Context) -> Span:
        if self.amount.nights and not self.from_now:  # up to last night, or from tonight on
            edge, far = ctx.today, self.amount.move(ctx, ctx.today, self.sign)
            first, last = (far, edge - DAY) if self.sign < 0 else (edge, far - DAY)
            evening, morning = PARTS_OF_DAY["night"]
            return Span(first + timedelta(hours=evening), last + timedelta(hours=morning), "hour")
        short = self.amount.unit in ("hour", "minute", "second")
        grain: Grain = GRAIN[self.amount.unit] if short else "day"
        if self.sign < 0:
            start = self.amount.move(ctx, ctx.now, -1)
            return Span(start if short else floor(start, "day"), ctx.now, grain)
        if short or self.from_now:
            end = self.amount.move(ctx, ctx.now, 1)
            return Span(ctx.now, end if short else floor(end, "day") + DAY, grain)
        start = ctx.today + DAY
        return Span(start, self.amount.move(ctx, start, 1), grain)


@dataclass(frozen=True, slots=True)
class Offset(Meaning):
    """An amount of time before or after another time: two days after Christmas, a week from Friday."""

    confidence: ClassVar[float] = 0.9
    amount: Amount
    sign: Sign
    anchor: Meaning
    ahead: bool = False  # "a week from Friday" looks ahead whatever the verb is silent about

    def span(self, ctx: Context) -> Span | None:
        anchor = self.anchor.piece(ctx.facing("future") if self.ahead and ctx.side is None else ctx)
        start = self.amount.move(ctx, anchor.start, self.sign)
        if not self.amount.fuzzy:
            return Span(start, start + (anchor.end - anchor.start), anchor.grain)
        near = self.amount.move(ctx, anchor.start, self.sign, upper=False)
        first, last = min(start, near), max(start, near)
        return Span(first, last + (anchor.end - anchor.start), anchor.grain)


@dataclass(frozen=True, slots=True)
class Beside(Meaning):
    """The unit next to another time: the Sunday before 25 May, the week after Easter, the month before May 2022.

    Next to a time of the same grain it is the calendar unit (the month before May is April); next to a finer one it
    is that length right beside it (the week before 9 June is the seven days before).
    """

    confidence: ClassVar[float] = 0.9
    thing: Cycle | Unit
    sign: Sign
    anchor: Meaning
    count: int = 1

    def span(self, ctx: Context) -> Span | None:
        anchor = self.anchor.piece(ctx)
        if isinstance(self.thing, Cycle):
            if self.sign < 0:
                return before(self.thing, ctx, anchor.start, self.count)
            return after(self.thing, ctx, anchor.end, self.count)
        unit, count = self.thing, self.count * self.sign
        if not coarser(GRAIN[unit], anchor.grain) and unit not in ("day", "hour"):
            start = ctx.floor(anchor.start, unit)
            far = shift(start, unit, count)
            first, last = (far, start) if count < 0 else (shift(start, unit, 1), shift(far, unit, 1))
            return Span(first, last, GRAIN[unit])
        if self.sign < 0:
            return Span(shift(anchor.start, unit, count), anchor.start, GRAIN[unit])
        return Span(anchor.end, shift(anchor.end, unit, count), GRAIN[unit])


@dataclass(frozen=True, slots=True)
class UnitOf(Meaning):
    """The calendar unit that contains another time: the week of 10 April, the weekend of 3 June."""

    unit: Unit | Cycle
    anchor: Meaning

    def span(self, ctx: Context) -> Span | None:
        start, grain = self.anchor.beginning(ctx)
        if isinstance(self.unit, Cycle):
            return self.unit.instance(ctx.floor(start, self.unit.every), ctx.conventions)
        return None if coarser(grain, GRAIN[self.unit]) else unit_span(ctx, start, self.unit)


@dataclass(frozen=True, slots=True)
class WeekendOf(Meaning):
    """The weekend nearest to a day, including the day if at most one day lies between: Labor Day weekend."""

    confidence: ClassVar[float] = 0.85
    day: Meaning

    def span(self, ctx: Context) -> Span | None:
        day = self.day.piece(ctx)
        weekday = day.start.weekday()
        saturday = day.start + DAY * (5 - weekday if weekday > 1 else -2 - weekday)
        sunday = saturday + DAY * 2
        if weekday in (1, 2):  # Tuesday and Wednesday stand apart
            return Span(saturday, sunday, "day")
        return Span(min(saturday, day.start), max(sunday, day.end), "day")


@dataclass(frozen=True, slots=True)
class Nth(Meaning):
    """The nth unit or weekday of a longer time, from its end if negative: the last Sunday of May."""

    number: int
    thing: Cycle | Unit
    whole: Meaning

    def span(self, ctx: Context) -> Span | None:
        whole = self.whole.piece(ctx)
        if isinstance(self.thing, Cycle):
            return self._of_cycle(ctx, self.thing, whole.start, whole.end)
        if not coarser(whole.grain, GRAIN[self.thing]):
            return None
        if self.thing == "week" and whole.grain in ("month", "quarter", "season", "year"):
            return self._week(ctx, whole.start, whole.end)
        edge = whole.start if self.number > 0 else whole.end
        offset = self.number - 1 if self.number > 0 else self.number
        start = shift(edge, self.thing, offset)
        end = shift(start, self.thing, 1)
        return Span(start, end, GRAIN[self.thing]) if whole.start <= start and end <= whole.end else None

    def _of_cycle(self, ctx: Context, cycle: Cycle, start: datetime, end: datetime) -> Span | None:
        until = takewhile(lambda found: found.start < end, instances(cycle, ctx, start, 1))
        inside = [found for found in until if start <= found.start]
        index = self.number - 1 if self.number > 0 else self.number
        return inside[index] if -len(inside) <= index < len(inside) else None

    def _week(self, ctx: Context, start: datetime, end: datetime) -> Span | None:
        """Weeks belong to the month or year that holds most of their days."""
        week_start = ctx.conventions.week_start
        final = end - DAY
        if self.number > 0:
            begin = first_week(start.year, start.month, week_start) + timedelta(weeks=self.number - 1)
        else:
            begin = last_week(final.year, final.month, week_start) + timedelta(weeks=self.number + 1)
        middle = begin + DAY * 3
        return Span(begin, begin + timedelta(weeks=1), "week") if start <= middle < end else None


@dataclass(frozen=True, slots=True)
class EdgeOf(Meaning):
    """The first or last part of a longer time: the first two weeks of June."""

    kind: ClassVar[Kind] = "range"
    amount: Amount
    sign: Sign
    whole: Meaning

    def span(self, ctx: Context) -> Span | None:
        whole = self.whole.piece(ctx)
        if self.sign > 0:
            start, end = whole.start, self.amount.move(ctx, whole.start, 1)
        else:
            start, end = self.amount.move(ctx, whole.end, -1), whole.end
        return (
            Span(start, end, GRAIN[self.amount.unit]) if whole.start <= start and end <= whole.end else None
        )


@dataclass(frozen=True, slots=True)
class OnTheDay(Meaning):
    """A weekday in a week some amount of time away: two weeks ago on Friday."""

    cycle: Cycle
    amount: Amount
    sign: Sign

    def span(self, ctx: Context) -> Span | None:
        moment = self.amount.move(ctx, ctx.now, self.sign)
        return self.cycle.instance(ctx.floor(moment, "week"), ctx.conventions)


TODAY = UnitAt("day")


# One bound or two: from March to May, since 2016, until June, before Friday

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
    bounded: ClassVar[bool] = True
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
    bounded: ClassVar[bool] = True
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
    bounded: ClassVar[bool] = True
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


# Counted from a date mentioned before: two days later, the next morning, the year after


@dataclass(frozen=True, slots=True)
class Later(Meaning):
    """An amount of time after or before the date mentioned; as approximate as "two weeks ago" is."""

    confidence: ClassVar[float] = 0.75
    amount: Amount
    sign: Sign

    def span(self, ctx: Context) -> Span | None:
        date = _mentioned_date(ctx, self.amount.unit)
        return Ago(self.amount, self.sign, loose=True).span(ctx.at(date.start))


@dataclass(frozen=True, slots=True)
class NextTo(Meaning):
    """The calendar unit, weekday or season next to the date mentioned: the following week, the Monday after."""

    confidence: ClassVar[float] = 0.75
    thing: Unit | Cycle
    sign: Sign
    of_a_story: bool = False  # "the next week" counts from now, unless the verb is past

    def span(self, ctx: Context) -> Span | None:
        if self.of_a_story and not (ctx.side == "past" and ctx.certain):
            return None
        thing = self.thing
        date = _mentioned_date(ctx, thing.every if isinstance(thing, Cycle) else thing)
        if isinstance(thing, Cycle):
            return before(thing, ctx, date.start) if self.sign < 0 else after(thing, ctx, date.end)
        start = shift(ctx.floor(date.start, thing), thing, self.sign)
        return Span(start, shift(start, thing, 1), GRAIN[thing])


@dataclass(frozen=True, slots=True)
class Following(Meaning):
    """ "The following week": the next one; in a story, the one after what was mentioned before."""

    confidence: ClassVar[float] = 0.8
    unit: Unit

    def span(self, ctx: Context) -> Span | None:
        return None if ctx.side == "past" and ctx.certain else UnitAt(self.unit, 1).span(ctx)


def _mentioned_date(ctx: Context, unit: Unit) -> Piece:
    """The date mentioned before, unless it is vaguer than what is counted: two days after "in 2016" are no day."""
    if ctx.mentioned is None or ctx.mentioned.end > shift(ctx.mentioned.start, unit, 1):
        raise NoSuchTime
    return ctx.mentioned


def counts_from_mentioned(value: object) -> bool:
    """Whether the meaning, or what it is made of, counts from a date mentioned before."""
    if isinstance(value, (Later, NextTo)):
        return True
    if not isinstance(value, Meaning) or not is_dataclass(value):
        return False
    return any(counts_from_mentioned(getattr(value, field.name)) for field in fields(value))
