"""`date_math`: arithmetic with dates, computed."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Literal

from pydantic import Field

from everwhen.agent.rendering import data, event_line
from everwhen.agent.tools.base import DateFilter, MemoryTool, ToolContext, result_lines
from everwhen.errors import UsageError
from everwhen.recall.time_comparison import in_words
from everwhen.recall.timeline import merged
from everwhen.time_arguments import TimeReader
from everwhen.types.recall import WEEKDAYS
from everwhen.when.calendar import add_months
from everwhen.when.zones import zone_of

Unit = Literal["days", "weeks", "months", "years"]
FURTHEST = 100_000
"""Units that a date may be moved by."""
DONE = ("happened", "ongoing")


class DateMath(DateFilter):
    """Arguments of `date_math`."""

    operation: Literal["difference", "add", "weekday", "count"] = Field(
        description="difference: from date to other. add: date plus amount units. weekday: the day of date. "
        "count: how many events about something happened in a stretch of time."
    )
    date: str = Field("", description="An ISO date, or words such as 'last Friday', 'today'.")
    other: str = Field("", description="The second date of a difference.")
    amount: int = Field(0, ge=-FURTHEST, le=FURTHEST, description="How many units to add; may be negative.")
    unit: Unit = Field("days", description="The unit of amount.")
    about: str = Field("", description="What the counted events are about.")


def _date_math(kit: ToolContext, given: DateMath) -> str:
    match given.operation:
        case "difference":
            return _difference(kit, given)
        case "add":
            day = _day(kit, given.date, "date")
            moved = _moved(day, given.amount, given.unit)
            return data({"result": moved.isoformat(), "weekday": WEEKDAYS[moved.weekday()]})
        case "weekday":
            day = _day(kit, given.date, "date")
            return data({"date": day.isoformat(), "result": WEEKDAYS[day.weekday()]})
        case _:
            return _count(kit, given)


def _difference(kit: ToolContext, given: DateMath) -> str:
    """From one to the other, in whole days; a range where a side is longer than a day, since it may be any of them."""
    (first, last), (begin, end) = (_days(kit, given.date, "date"), _days(kit, given.other, "other"))
    least, most = (begin - last).days, (end - first).days
    order = (
        "date is earlier" if begin > last else "other is earlier" if end < first else "same or overlapping"
    )
    shortest, longest = (
        sorted((abs(least), abs(most))) if least * most > 0 else (0, max(abs(least), abs(most)))
    )
    exact = first == last and begin == end
    months = _months(*sorted((first, begin))) if exact else None
    return data(
        {
            "date": _range(first, last),
            "other": _range(begin, end),
            "order": order,
            "days": shortest if shortest == longest else [shortest, longest],
            "weeks": round(shortest / 7, 2) if exact else None,
            "full_months": months,
            "full_years": None if months is None else months // 12,
            "result": in_words(shortest, longest),
        }
    )


def _count(kit: ToolContext, given: DateMath) -> str:
    window = given.window(kit)
    if not given.about and window is None:
        raise UsageError("date_math count needs about, or since and until")
    events = merged(
        [
            event
            for event in kit.view.events(given.about or None, window)
            if event.status in DONE and event.occurred is not None
        ]
    )
    head = data({"count": len(events), "note": "each event once; check that each one is meant"})
    return result_lines(
        "events", [head, *(event_line(event, kit.label) for event in events)], kit.view.recipe.longest
    )


def _days(kit: ToolContext, text: str, name: str) -> tuple[date, date]:
    """The first and the last day of what a text names, in the bank's zone."""
    if not text:
        raise UsageError(f"date_math needs {name}: an ISO date, or words such as 'today'")
    clock, zone = TimeReader(kit.view.zone, kit.view.at), zone_of(kit.view.zone)
    first, last = clock.first(text, name), clock.last(text, name)
    return first.astimezone(zone).date(), last.astimezone(zone).date()


def _day(kit: ToolContext, text: str, name: str) -> date:
    first, last = _days(kit, text, name)
    if first != last:
        raise UsageError(f"'{text}' is {_range(first, last)}; {name} must be one day")
    return first


def _moved(day: date, amount: int, unit: Unit) -> date:
    try:
        if unit in ("days", "weeks"):
            return day + timedelta(days=amount * (7 if unit == "weeks" else 1))
        return add_months(datetime.combine(day, time()), amount * (12 if unit == "years" else 1)).date()
    except (OverflowError, ValueError):
        raise UsageError(f"{amount} {unit} from {day} is no date of the calendar") from None


def _months(first: date, second: date) -> int:
    """Whole months from one day to a later one."""
    months = (second.year - first.year) * 12 + second.month - first.month
    return months - (second.day < first.day)


def _range(first: date, last: date) -> str:
    return first.isoformat() if first == last else f"{first} to {last}"


date_math = MemoryTool(
    "date_math",
    "Date arithmetic, computed: the difference of two dates, a date plus days, weeks, months or years, the weekday of "
    "a date, the number of events in a stretch of time. Use it instead of counting yourself.",
    DateMath,
    _date_math,
)
