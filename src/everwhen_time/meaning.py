"""The meaning of a time expression before it is placed on the calendar: small frozen nodes, built from one another.

Rules make nodes from words; a node's `span(ctx)` places it. Everything here is wall-clock time in the speaker's zone;
`resolve` converts the result to UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import ClassVar, Literal

from everwhen_time.calendar import DAY, UNITS, Unit, floor, shift
from everwhen_time.interval import Grain, coarser
from everwhen_time.zones import wall_clock

Side = Literal["past", "future"]
Kind = Literal["point", "range", "duration", "recurrence"]
Sign = Literal[-1, 1]


@dataclass(frozen=True, slots=True)
class Conventions:
    """What depends on the speaker's region: the first day of the week, the order of day and month, the hemisphere, the
    country."""

    week_start: int = 0  # Monday, as `datetime.weekday` counts
    day_first: bool = False  # 3/4 is March 4; True: 3 April
    hemisphere: Literal["north", "south"] = "north"
    country: str = "US"  # whose Thanksgiving, Mother's Day and Independence Day


@dataclass(frozen=True, slots=True)
class Context:
    """When and where something was said, and whether the verb points to the past or the future."""

    now: datetime  # wall clock of the zone, naive
    zone: tzinfo
    side: Side | None = None
    certain: bool = True  # whether a sure sign, not a mere hint, decided the side
    given: bool = False  # whether the caller gave it, not a verb
    present: bool = False  # whether only a verb in the present tense decided it: "the review is on Friday"
    asks: bool = False  # whether it asks a memory, which knows what was
    mentioned: Piece | None = None  # the date mentioned before, which "two days later" counts from
    conventions: Conventions = field(default_factory=Conventions)

    @property
    def today(self) -> datetime:
        return floor(self.now, "day")

    def floor(self, moment: datetime, unit: Unit) -> datetime:
        return floor(moment, unit, self.conventions.week_start)

    def exactly(self, moment: datetime, delta: timedelta) -> datetime:
        """The wall clock after so much real time has passed, daylight-saving changes included."""
        instant = moment.replace(tzinfo=self.zone).astimezone(UTC) + delta
        return instant.astimezone(self.zone).replace(tzinfo=None)

    def at(self, moment: datetime) -> Context:
        """The same place and speaker at another moment, from which is counted."""
        return replace(self, now=moment)

    def facing(self, side: Side) -> Context:
        """The same moment with the side decided by the words themselves ("since" looks back)."""
        return replace(self, side=side)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open piece of wall-clock time."""

    start: datetime | None
    end: datetime | None
    grain: Grain


@dataclass(frozen=True, slots=True)
class Piece(Span):
    """A span with a beginning and an end."""

    start: datetime
    end: datetime


class NoSuchTime(ValueError):
    """The calendar has no such time, or it is open where a piece is needed."""


class Meaning:
    """A node: it can place itself on the calendar, and says how certain that is."""

    __slots__ = ()
    kind: ClassVar[Kind] = "point"
    confidence: ClassVar[float] = 0.95
    bounded: ClassVar[bool] = False
    """Whether its words name where it begins or ends: since, until, before, from one time to another."""

    def span(self, ctx: Context) -> Span | None:
        """Where it lies, seen from the context; None when there is no such time (30 February)."""
        raise NotImplementedError

    def beginning(self, ctx: Context) -> tuple[datetime, Grain]:
        """Where it begins, and the grain that it is said in."""
        found = self.span(ctx)
        if found is None or found.start is None:
            raise NoSuchTime
        return found.start, found.grain

    def piece(self, ctx: Context) -> Piece:
        """Where it lies, where that has a beginning and an end, as what is said with it needs."""
        found = self.span(ctx)
        if found is None or found.start is None or found.end is None:
            raise NoSuchTime
        return found if isinstance(found, Piece) else Piece(found.start, found.end, found.grain)

    def on_a_day(self, ctx: Context) -> Piece:
        """Where it lies, where that is at most a day."""
        found = self.piece(ctx)
        if found.end - found.start > DAY:
            raise NoSuchTime
        return found


GRAIN: dict[Unit, Grain] = {unit: "quarter" if unit == "half" else unit for unit in UNITS}


def unit_span(ctx: Context, moment: datetime, unit: Unit) -> Span:
    """The calendar unit that the moment lies in."""
    start = ctx.floor(moment, unit)
    return Span(start, shift(start, unit, 1), GRAIN[unit])


@dataclass(frozen=True, slots=True)
class Fixed(Meaning):
    """A calendar unit at a known place: 3 May 2022, May 2022, 2022, the 1990s."""

    start: datetime
    unit: Unit

    def span(self, ctx: Context) -> Span:
        return Span(self.start, shift(self.start, self.unit, 1), GRAIN[self.unit])


@dataclass(frozen=True, slots=True)
class NoSuchDay(Meaning):
    """29 February 2023, 31 April: written as a date, so that no part of it is read as another date."""

    def span(self, ctx: Context) -> Span | None:
        return None


@dataclass(frozen=True, slots=True)
class Instants(Meaning):
    """Two instants written out in full, as an ISO 8601 interval or timestamp has them."""

    start: datetime | None  # aware
    end: datetime | None
    grain: Grain = "second"

    def span(self, ctx: Context) -> Span:
        return Span(wall_clock(self.start, ctx.zone), wall_clock(self.end, ctx.zone), self.grain)


@dataclass(frozen=True, slots=True)
class UnitAt(Meaning):
    """A calendar unit counted from the present one: last week is -1, today is day 0."""

    unit: Unit
    offset: int = 0

    def span(self, ctx: Context) -> Span:
        start = shift(ctx.floor(ctx.now, self.unit), self.unit, self.offset)
        return Span(start, shift(start, self.unit, 1), GRAIN[self.unit])


@dataclass(frozen=True, slots=True)
class Now(Meaning):
    """The moment of speaking. As the end of a range it cuts the range there."""

    def span(self, ctx: Context) -> Span:
        return Span(ctx.now, ctx.now + timedelta(seconds=1), "second")


@dataclass(frozen=True, slots=True)
class Days(Meaning):
    """Several days around today: recently, the other day, soon."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.5
    first: int
    last: int  # inclusive

    def span(self, ctx: Context) -> Span:
        return Span(ctx.today + DAY * self.first, ctx.today + DAY * (self.last + 1), "day")


_THIRDS: dict[Grain, tuple[Unit, tuple[int, int]]] = {
    # where the middle and the last third begin, in units from the start
    "week": ("day", (2, 4)),
    "month": ("day", (10, 20)),
    "quarter": ("month", (1, 2)),
    "season": ("month", (1, 2)),
    "year": ("month", (4, 8)),
    "decade": ("year", (4, 7)),
    "century": ("year", (34, 67)),
}
# "start" and "end" are the first and last third, but as a limit they are the very edge: by the end of May. Nobody
# calls September the end of the year: there they are the first and the last month.
Position = Literal["early", "start", "mid", "late", "end", "first half", "second half"]


@dataclass(frozen=True, slots=True)
class Part(Meaning):
    """A third or a half of a longer time: early June, mid-August, the second half of 2021."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.85
    position: Position
    whole: Meaning

    def span(self, ctx: Context) -> Span | None:
        whole = self.whole.piece(ctx)
        if self.position in ("first half", "second half"):
            middle = halfway(ctx, whole.start, whole.end)
            first = self.position == "first half"
            return Span(*((whole.start, middle) if first else (middle, whole.end)), finer(whole.grain))
        if isinstance(self.whole, PartOfDay) and self.whole.part in ("evening", "night"):
            return whole  # late last night is still last night
        one, two = _thirds(whole.start, whole.end, whole.grain)
        if whole.grain == "year" and self.position in ("start", "end"):
            one, two = shift(whole.start, "month", 1), shift(whole.end, "month", -1)
        if self.position == "mid":
            start, end = one, two
        else:
            start, end = (whole.start, one) if self.position in ("early", "start") else (two, whole.end)
        return Span(start, end, finer(whole.grain))


def _thirds(start: datetime, end: datetime, grain: Grain) -> tuple[datetime, datetime]:
    if grain in _THIRDS:
        unit, (one, two) = _THIRDS[grain]
        if shift(start, unit, two) < end:
            return shift(start, unit, one), shift(start, unit, two)
    third = (end - start) / 3
    return start + third, end - third


def halfway(ctx: Context, start: datetime, end: datetime) -> datetime:
    """The middle, moved to the nearest start of a month in long stretches, of a day in short ones."""
    middle = start + (end - start) / 2
    if end - start > timedelta(days=150):
        return floor(middle + timedelta(days=15), "month")
    return floor(middle, "day") if end - start > DAY else middle


def finer(grain: Grain) -> Grain:
    """The grain that a part of such a whole is spoken of in."""
    steps: dict[Grain, Grain] = {"century": "decade", "decade": "year", "year": "month"}
    return steps.get(grain, "day" if coarser(grain, "day") else "hour")


@dataclass(frozen=True, slots=True)
class HalfSoFar(Meaning):
    """ "Earlier this month", "later this year": the half before or after the middle, but never across now."""

    kind: ClassVar[Kind] = "range"
    confidence: ClassVar[float] = 0.7
    whole: Meaning
    sign: Sign

    def span(self, ctx: Context) -> Span | None:
        whole = self.whole.piece(ctx)
        middle = halfway(ctx, whole.start, whole.end)
        now = ctx.today if whole.end - whole.start > DAY else ctx.now
        if self.sign < 0:
            end = min(middle, now) if whole.start < now else middle
            return Span(whole.start, end, finer(whole.grain))
        start = max(middle, now) if now < whole.end else middle
        return Span(start, whole.end, finer(whole.grain))


@dataclass(frozen=True, slots=True)
class Rest(Meaning):
    """What is left of a unit, today included: the rest of the week."""

    kind: ClassVar[Kind] = "range"
    whole: Meaning

    def span(self, ctx: Context) -> Span | None:
        whole = self.whole.piece(ctx)
        return Span(max(whole.start, min(ctx.today, whole.end - DAY)), whole.end, "day")


@dataclass(frozen=True, slots=True)
class ToDate(Meaning):
    """A unit up to the moment of speaking: the year to date."""

    kind: ClassVar[Kind] = "range"
    unit: Unit

    def span(self, ctx: Context) -> Span:
        return Span(ctx.floor(ctx.now, self.unit), ctx.now, "day")


# Hours at which the parts of a day begin and end; beyond 24 lies in the next day.
PARTS_OF_DAY: dict[str, tuple[int, int]] = {
    "dawn": (5, 7),
    "morning": (6, 12),
    "noon": (12, 13),
    "lunchtime": (12, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "dusk": (18, 20),
    "night": (18, 30),
    "midnight": (24, 25),
}


@dataclass(frozen=True, slots=True)
class PartOfDay(Meaning):
    """A part of a known day: last night, Friday morning."""

    part: str
    day: Meaning

    def span(self, ctx: Context) -> Span | None:
        start = floor(self.day.on_a_day(ctx).start, "day")
        first, last = PARTS_OF_DAY[self.part]
        return Span(start + timedelta(hours=first), start + timedelta(hours=last), "hour")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as written; `offset` in minutes from UTC when a zone is written beside it."""

    hour: int
    minute: int | None = None
    second: int | None = None
    offset: int | None = None
    exact: bool = False  # whether am, pm, 24-hour writing or a word such as noon settled the half of the day


@dataclass(frozen=True, slots=True)
class AtClock(Meaning):
    """A time of day on a day. Without a day it is today's or, with a past verb, the latest one that is over."""

    clock: Clock
    day: Meaning | None = None

    def span(self, ctx: Context) -> Span | None:
        start = self._begins((self.day or UnitAt("day")).on_a_day(ctx).start, ctx)
        if self.day is None and ctx.side == "past" and start > ctx.now:
            start = self._was(start, ctx)
        clock = self.clock
        if clock.second is not None:
            return Span(start, start + timedelta(seconds=1), "second")
        return Span(start, start + timedelta(minutes=1), "minute")

    def _begins(self, day: datetime, ctx: Context) -> datetime:
        clock = self.clock
        hour = clock.hour
        if not clock.exact and hour < 12 and (day.hour >= 12 or (day.hour == 0 and hour < 7)):
            hour += 12  # "tomorrow at 5" and "tonight at 9" are in the second half of the day
        start = floor(day, "day") + timedelta(
            hours=hour, minutes=clock.minute or 0, seconds=clock.second or 0
        )
        if clock.offset is not None:
            aware = start.replace(tzinfo=UTC) - timedelta(minutes=clock.offset)
            start = aware.astimezone(ctx.zone).replace(tzinfo=None)
        return start

    def _was(self, start: datetime, ctx: Context) -> datetime:
        """The latest before now that the clock stood there: half a day back where it does not say which half."""
        half = timedelta(hours=12)
        return start - half if not self.clock.exact and start - half <= ctx.now else start - DAY


@dataclass(frozen=True, slots=True)
class Hours(Meaning):
    """From one time of day to another on the same day: Friday between 2pm and 4pm."""

    kind: ClassVar[Kind] = "range"
    bounded: ClassVar[bool] = True
    first: Clock
    last: Clock
    day: Meaning | None = None

    def span(self, ctx: Context) -> Span | None:
        start = AtClock(self.first, self.day).piece(ctx).start
        end = AtClock(self.last, self.day or Fixed(floor(start, "day"), "day")).piece(ctx).start
        return Span(start, end + DAY if end <= start else end, "hour")  # 10pm to 2am
