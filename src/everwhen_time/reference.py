"""What `resolve` gives: a time expression of a text with its meaning, a rule where it comes again and again."""

from __future__ import annotations

from dataclasses import dataclass

from everwhen_time.calendar import MULTIPLES, Unit
from everwhen_time.cycles import Cycle, DayOfMonth, Holiday, MonthDay, Months, Season, Weekday, Weekend
from everwhen_time.interval import Duration, Grain, Interval
from everwhen_time.meaning import Kind

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


@dataclass(frozen=True, slots=True)
class TimeRef:
    """A time expression found in a text, and what it means."""

    span: tuple[int, int]
    text: str
    interval: Interval | None
    grain: Grain
    kind: Kind
    confidence: float
    rule: tuple[str, ...] = ()  # the rules that built it, innermost first
    recurrence: Recurrence | None = None
    duration: Duration | None = None
    anchor: str | None = None  # an event or age that the time hangs on, where the text gives no date for it
