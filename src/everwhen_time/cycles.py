"""Recurring times (weekdays, months, seasons, holidays): which one a speaker means, and how often they recur."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Literal

from everwhen_time.calendar import DAY, MULTIPLES, Unit, days_in, first_week, shift
from everwhen_time.holidays import holiday_date
from everwhen_time.meaning import GRAIN, Context, Conventions, Kind, Meaning, Piece, Side, Span

Which = Literal["last", "this", "next", "previous"]
_REACH = {
    "week": 60,
    "month": 60,
    "year": 44,
}  # cycles looked at on either side; 44 years hold a leap century


class Cycle(Meaning):
    """Something that recurs at most once in every week, month or year."""

    __slots__ = ()
    every: ClassVar[Unit] = "year"
    # A weekday's name with a past or a future verb means another day; a month's or a date's may mean the present one.
    excludes_now: ClassVar[bool] = False

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        """The one in the cycle that begins there."""
        raise NotImplementedError

    def span(self, ctx: Context) -> Span | None:
        return nearest(self, ctx, ctx.side or "past")


def instances(cycle: Cycle, ctx: Context, moment: datetime, step: Literal[-1, 1]) -> Iterator[Piece]:
    """Those around the moment, outward in one direction, from one cycle on the other side of it."""
    start = ctx.floor(moment, cycle.every)
    for index in range(-1, _REACH[cycle.every]):
        found = cycle.instance(shift(start, cycle.every, index * step), ctx.conventions)
        if found is not None:
            yield found


def nearest(cycle: Cycle, ctx: Context, side: Side) -> Piece | None:
    """The latest that has begun, or the earliest that is not over.

    Where today is excluded: the latest that is over, or the earliest that has not begun.
    """
    for found in instances(cycle, ctx, ctx.now, -1 if side == "past" else 1):
        if side == "past" and (found.end if cycle.excludes_now else found.start) <= ctx.now:
            return found
        if side == "future" and (found.start >= ctx.now if cycle.excludes_now else found.end > ctx.now):
            return found
    return None


def before(cycle: Cycle, ctx: Context, moment: datetime, count: int = 1) -> Piece | None:
    """The latest that is over by the moment; with a count, the so-many-th before it."""
    for found in instances(cycle, ctx, moment, -1):
        count -= found.end <= moment
        if count == 0:
            return found
    return None


def after(cycle: Cycle, ctx: Context, moment: datetime, count: int = 1) -> Piece | None:
    """The earliest that begins at the moment or later; with a count, the so-many-th."""
    for found in instances(cycle, ctx, moment, 1):
        count -= found.start >= moment
        if count == 0:
            return found
    return None


@dataclass(frozen=True, slots=True)
class Weekday(Cycle):
    """A day of the week, Monday = 0."""

    every: ClassVar[Unit] = "week"
    excludes_now: ClassVar[bool] = True
    day: int

    def instance(self, start: datetime, conventions: Conventions) -> Piece:
        day = start + DAY * ((self.day - start.weekday()) % 7)
        return Piece(day, day + DAY, "day")

    def span(self, ctx: Context) -> Span | None:
        if ctx.now.weekday() == self.day and (ctx.side is None or ctx.present):
            return Piece(ctx.today, ctx.today + DAY, "day")  # "the review is on Friday", said on a Friday
        return nearest(self, ctx, ctx.side or "past")


@dataclass(frozen=True, slots=True)
class Weekend(Cycle):
    """Saturday and Sunday, a long one with the Monday after."""

    every: ClassVar[Unit] = "week"
    days: int = 2

    def instance(self, start: datetime, conventions: Conventions) -> Piece:
        day = start + DAY * ((5 - start.weekday()) % 7)
        return Piece(day, day + DAY * self.days, "day")

    def span(self, ctx: Context) -> Span | None:
        if ctx.side is None:  # "dinner at mum's the weekend": the nearest, Monday and Tuesday look back
            if ctx.now.weekday() < 2:
                return before(self, ctx, ctx.now)
            return self.instance(ctx.floor(ctx.now, "week"), ctx.conventions)
        return nearest(self, ctx, ctx.side)


@dataclass(frozen=True, slots=True)
class DayOfMonth(Cycle):
    """The 13th; with a weekday, a month in which the two meet."""

    every: ClassVar[Unit] = "month"
    confidence: ClassVar[float] = 0.8
    day: int
    weekday: int | None = None

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        if self.day > days_in(start.year, start.month):
            return None
        day = start.replace(day=self.day)
        if self.weekday is not None and day.weekday() != self.weekday:
            return None
        return Piece(day, day + DAY, "day")

    def span(self, ctx: Context) -> Span | None:
        if self.weekday is None or ctx.side is not None:
            return nearest(self, ctx, ctx.side or "past")
        back, ahead = nearest(self, ctx, "past"), nearest(self, ctx, "future")
        if back is None or ahead is None:
            return back or ahead
        return back if ctx.now - back.start <= ahead.start - ctx.now else ahead


@dataclass(frozen=True, slots=True)
class MonthDay(Cycle):
    """A day of the year: 3 May. A weekday beside it decides between the years when it can."""

    month: int
    day: int
    weekday: int | None = None

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        if self.day > days_in(start.year, self.month):
            return None
        day = start.replace(month=self.month, day=self.day)
        return Piece(day, day + DAY, "day")

    def span(self, ctx: Context) -> Span | None:
        side: Side = ctx.side or "past"
        found = nearest(self, ctx, side)
        if self.weekday is not None and found and found.start.weekday() != self.weekday:
            other = nearest(self, ctx, "future" if side == "past" else "past")
            if other and other.start.weekday() == self.weekday:
                return other
        return found


@dataclass(frozen=True, slots=True)
class SlashDay(Cycle):
    """Two numbers, a day and a month in the order of the convention, or in the only order possible: 22/4."""

    confidence: ClassVar[float] = 0.8
    first: int
    second: int

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        month, day = self.first, self.second
        if conventions.day_first or month > 12:
            month, day = day, month
        if month > 12:  # day first by convention, but written the other way round
            month, day = day, month
        return MonthDay(month, day).instance(start, conventions) if 1 <= month <= 12 and day >= 1 else None


@dataclass(frozen=True, slots=True)
class Months(Cycle):
    """So many months from a month on: May, the second quarter, the first half."""

    confidence: ClassVar[float] = 0.9
    first: int
    unit: Unit = "month"

    def instance(self, start: datetime, conventions: Conventions) -> Piece:
        begin = start.replace(month=self.first)
        return Piece(begin, shift(begin, self.unit, 1), GRAIN[self.unit])


SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}  # first month, in the north


@dataclass(frozen=True, slots=True)
class Season(Cycle):
    """Three whole months; winter belongs to the year in which it begins."""

    confidence: ClassVar[float] = 0.85
    name: str

    def instance(self, start: datetime, conventions: Conventions) -> Piece:
        month = SEASONS[self.name]
        if conventions.hemisphere == "south":
            month = (month + 5) % 12 + 1
        begin = start.replace(month=month)
        return Piece(begin, shift(begin, "month", 3), "season")


@dataclass(frozen=True, slots=True)
class Holiday(Cycle):
    """A named day of the year."""

    confidence: ClassVar[float] = 0.9
    name: str

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        day = holiday_date(self.name, start.year, conventions.country)
        return None if day is None else Piece(day, day + DAY, "day")


_HALF_A_YEAR = timedelta(weeks=26)


@dataclass(frozen=True, slots=True)
class WeekNumber(Cycle):
    """ISO week 31: of this year, or where a verb shows, the one before or the one to come."""

    number: int

    def instance(self, start: datetime, conventions: Conventions) -> Piece | None:
        begin = first_week(start.year, 1, conventions.week_start) + timedelta(weeks=self.number - 1)
        return Piece(begin, begin + timedelta(weeks=1), "week") if 1 <= self.number <= 53 else None

    def span(self, ctx: Context) -> Span | None:
        this_year = self.instance(ctx.floor(ctx.now, "year"), ctx.conventions)
        if ctx.side == "past":
            return nearest(self, ctx, "past")
        # "Show me week 1" looks ahead by its verb alone; "we ski in week 7", said in winter, by the calendar as well.
        is_over = this_year is not None and ctx.now - this_year.end > _HALF_A_YEAR
        return nearest(self, ctx, "future") if ctx.side == "future" and is_over else this_year


@dataclass(frozen=True, slots=True)
class Pick(Meaning):
    """The last, this, next or previous one of a cycle.

    last: the latest that is over. next: for a weekday, the one in the next week; else the first that begins after
    now, unless it is so near (within its own length) that a speaker would say "this". previous: the one in the cycle
    before. this: the one in the present week, month or year.
    """

    confidence: ClassVar[float] = 0.9
    which: Which
    cycle: Cycle

    def span(self, ctx: Context) -> Span | None:
        cycle, conventions = self.cycle, ctx.conventions
        start = ctx.floor(ctx.now, cycle.every)
        match self.which:
            case "last":
                return before(cycle, ctx, ctx.now)
            case "previous" if cycle.every == "week":
                return cycle.instance(shift(start, "week", -1), conventions)
            case "previous":
                return before(cycle, ctx, ctx.now)
            case "next" if cycle.every == "week":
                return cycle.instance(shift(start, "week", 1), conventions)
            case "next":
                found = after(cycle, ctx, ctx.now)
                if found is None or found.grain == "day":
                    return found
                far = found.start - ctx.now >= found.end - found.start
                return found if far else after(cycle, ctx, found.end)
        return self._this(ctx, start)

    def _this(self, ctx: Context, start: datetime) -> Span | None:
        around = nearest(self.cycle, ctx, "past")
        if around is not None and around.end > ctx.now:
            return around  # we are in it: this winter, said in January
        found = self.cycle.instance(start, ctx.conventions)
        if found is None or (found.grain != "season" and self.cycle.every != "week"):
            return found
        if ctx.side == "past" and found.start > ctx.now:
            return before(self.cycle, ctx, ctx.now)
        if ctx.side == "future" and found.end <= ctx.now:
            return after(self.cycle, ctx, ctx.now)
        return found


@dataclass(frozen=True, slots=True)
class Coming(Meaning):
    """The first that begins after today: this coming Friday."""

    cycle: Cycle

    def span(self, ctx: Context) -> Span | None:
        return after(self.cycle, ctx, ctx.today + DAY)


@dataclass(frozen=True, slots=True)
class Counted(Meaning):
    """The nth one back or ahead: two Fridays ago, three summers ago, the weekend after next."""

    confidence: ClassVar[float] = 0.9
    cycle: Cycle
    count: int  # negative: back

    def span(self, ctx: Context) -> Span | None:
        if self.count < 0:
            return before(self.cycle, ctx, ctx.now, -self.count)
        if self.cycle.every == "week":
            start = shift(ctx.floor(ctx.now, "week"), "week", self.count)
            return self.cycle.instance(start, ctx.conventions)
        return after(self.cycle, ctx, ctx.now, self.count)


@dataclass(frozen=True, slots=True)
class Several(Meaning):
    """Several in a row, up to the latest that is over or from the next one on: the last two Fridays."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.8
    cycle: Cycle
    count: int  # negative: back

    def span(self, ctx: Context) -> Span | None:
        if self.count < 0:
            first, last = before(self.cycle, ctx, ctx.now, -self.count), before(self.cycle, ctx, ctx.now)
        else:
            first, last = after(self.cycle, ctx, ctx.now), after(self.cycle, ctx, ctx.now, self.count)
        return None if first is None or last is None else Span(first.start, last.end, first.grain)


@dataclass(frozen=True, slots=True)
class Within(Meaning):
    """The one of a cycle inside a longer time: Friday of last week, Christmas 2022."""

    cycle: Cycle
    container: Meaning

    def span(self, ctx: Context) -> Span | None:
        whole = self.container.piece(ctx)
        if whole.end - whole.start < (shift(whole.start, self.cycle.every, 1) - whole.start) * 0.9:
            return None  # a Friday of a day says nothing
        for found in instances(self.cycle, ctx, whole.start, 1):
            if found.start >= whole.start:
                return found if found.start < whole.end else None
        return None


# How often: every second Friday, twice a week

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How often, in which unit and on which days: every second Friday, twice a week."""

    unit: Unit
    step: int = 1
    on: Cycle | None = None
    times: int = 1
    part: str | None = None  # a part of the day: every morning
    workdays: bool = False
    nth: int | None = None  # which of its kind in the month: the last Friday of every month is -1

    @property
    def rule(self) -> str:
        """The rule in iCalendar's words (RFC 5545); `X-TIMES`: how often in each, where no day is named."""
        step, unit = MULTIPLES.get(self.unit, (1, self.unit))
        fields = ["FREQ=DAILY" if unit == "day" else f"FREQ={unit.upper()}LY"]
        if self.step * step != 1:
            fields.append(f"INTERVAL={self.step * step}")
        match self.on:
            case Weekday(day=day):
                fields.append(f"BYDAY={self.nth or ''}{_DAYS[day]}")
            case Weekend():
                fields.append("BYDAY=SA,SU")
            case DayOfMonth(day=day):
                fields.append(f"BYMONTHDAY={day}")
            case MonthDay(month=month, day=day):
                fields += [f"BYMONTH={month}", f"BYMONTHDAY={day}"]
            case Months(first=month):
                fields.append(f"BYMONTH={month}")
            case Season(name=name) | Holiday(name=name):
                fields.append(f"X-ON={name}")
        if self.workdays:
            fields.append("BYDAY=MO,TU,WE,TH,FR")
        if self.part:
            fields.append(f"X-PART={self.part}")
        if self.times != 1:
            fields.append(f"X-TIMES={self.times}")
        return ";".join(fields)

    def __str__(self) -> str:
        return self.rule
