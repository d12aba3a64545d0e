"""The tools by name: what was said, what happened, what is true, all of it in the order of time, arithmetic with dates.

What a tool says of itself is its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Literal, get_type_hints

from pydantic import Field

from everwhen.answer.rendering import data, entry_line, event_line, fact_line, turn_lines
from everwhen.answer.tools.base import MOST, Arguments, DateFilter, MemoryTool, ToolContext, result_lines
from everwhen.errors import UsageError
from everwhen.recall.time_comparison import in_words
from everwhen.recall.timeline import merged
from everwhen.types import Fact
from everwhen.types.recall import WEEKDAYS
from everwhen.types.time_arguments import TimeReader
from everwhen_time.calendar import add_months
from everwhen_time.zones import zone_of

BY_NAME: dict[str, MemoryTool] = {}


def _tool(dated: str = "") -> Callable[[Callable[[ToolContext, Any], str]], None]:
    """Makes a tool of a function; `dated` is what its date filters bound."""

    def add(run: Callable[[ToolContext, Any], str]) -> None:
        name, said = run.__name__, " ".join((run.__doc__ or "").split())
        BY_NAME[name] = MemoryTool(name, said, get_type_hints(run)["given"], run, dated)

    return add


def _at_most(default: int, what: str) -> Any:
    return Field(default, ge=1, le=MOST, description=f"How many {what}.")


def _shown(kit: ToolContext, kind: str, lines: Sequence[str], of: int | None = None) -> str:
    return result_lines(kind, lines, kit.view.recipe.longest, of)


# What was said


class SearchTurns(DateFilter):
    query: str = Field(min_length=1, description="Keywords, or the question in other words.")
    top_k: int = _at_most(15, "turns")


class Pattern(DateFilter):
    pattern: str = Field(min_length=1, description="Words as they stand, whatever the case.")
    regex: bool = Field(False, description="The pattern is a regular expression.")


class GrepTurns(Pattern):
    top_k: int = _at_most(20, "turns")


@_tool("since and until bound when it was said.")
def search_turns(kit: ToolContext, given: SearchTurns) -> str:
    """Search what was said, by meaning and words. Gives turns with the ones before and after, under their dates."""
    turns, found = kit.view.search(given.query, given.window(kit), given.top_k)
    return _shown(kit, "turns", turn_lines(turns, kit.label, found))


@_tool("since and until bound when it was said.")
def grep_turns(kit: ToolContext, given: GrepTurns) -> str:
    """Every turn that contains exact words, in the order of time: for names, numbers and phrases, and to be sure that
    nothing is missed."""
    hits = kit.view.grep(given.pattern, given.regex, given.window(kit), given.top_k)
    return _shown(kit, "turns", turn_lines([hit.turn for hit in hits], kit.label))


# What happened


class SearchEvents(DateFilter):
    query: str = Field(min_length=1, description="What the events are about.")
    top_k: int = _at_most(20, "events")


class GrepEvents(Pattern):
    top_k: int = _at_most(20, "events")


@_tool("since and until bound when it happened, not when it was told.")
def search_events(kit: ToolContext, given: SearchEvents) -> str:
    """Search the event calendar: who did what, with the date on which it happened. told_only: no date was said, the
    date is that of telling."""
    events = kit.view.search_events(given.query, given.window(kit), given.top_k)
    return _shown(kit, "events", [event_line(event, kit.label) for event in events])


@_tool("since and until bound when it happened.")
def grep_events(kit: ToolContext, given: GrepEvents) -> str:
    """Every event whose sentence, or another wording of it, contains exact words."""
    hits = kit.view.grep_events(given.pattern, given.regex, given.window(kit), given.top_k)
    return _shown(kit, "events", [event_line(hit.event, kit.label) for hit in hits])


# What is true, and from when to when

_PREDICATE = Field("", description="Such as lives_in, works_at, prefers, owns. Empty: all.")


class FactsCurrent(Arguments):
    subject: str = Field("", description="Of whom or what, by name. Empty: of everybody.")
    predicate: str = _PREDICATE
    top_k: int = _at_most(30, "facts")


class FactsHistory(DateFilter):
    subject: str = Field(min_length=1, description="Of whom or what, by name.")
    predicate: str = _PREDICATE
    top_k: int = _at_most(30, "facts")


@_tool()
def facts_current(kit: ToolContext, given: FactsCurrent) -> str:
    """What holds now of a person or thing: where somebody lives, works, what they own or prefer. The newest value."""
    return _facts(kit, kit.view.facts(given.subject or None, given.predicate or None), given.top_k)


@_tool("since and until keep what held in between.")
def facts_history(kit: ToolContext, given: FactsHistory) -> str:
    """What held over time, with from and until: for what was so before, and for what changed."""
    if not given.subject:
        raise UsageError("facts_history needs a subject; facts_current lists who there is")
    window, facts = given.window(kit), kit.view.history(given.subject, given.predicate or None)
    return _facts(kit, [one for one in facts if window is None or one.valid.overlaps(window)], given.top_k)


def _facts(kit: ToolContext, facts: Sequence[Fact], most: int) -> str:
    return _shown(
        kit, "facts", [fact_line(one, kit.label, kit.view.zone) for one in facts[:most]], len(facts)
    )


# All of it in the order of time


class Timeline(DateFilter):
    about: str = Field("", description="What it is about. Empty: everything.")
    kind: Literal["all", "event", "fact", "session"] = Field("all", description="What is listed.")
    top_k: int = _at_most(MOST, "entries")


@_tool()
def timeline(kit: ToolContext, given: Timeline) -> str:
    """What happened, what began or ended to be true, and the conversations, oldest first; each event once, however
    often it was told. For order, first and last, and how often."""
    entries = kit.view.timeline(given.about or None, given.window(kit), None)
    if given.kind != "all":
        entries = [entry for entry in entries if entry.kind.startswith(given.kind)]
    lines = [entry_line(entry, kit.label) for entry in entries[: given.top_k]]
    return _shown(kit, "timeline", lines, len(entries))


# Arithmetic with dates, computed

Unit = Literal["days", "weeks", "months", "years"]
FURTHEST = 100_000
"""Units that a date may be moved by."""
DONE = ("happened", "ongoing")


class DateMath(DateFilter):
    operation: Literal["difference", "add", "weekday", "count"] = Field(
        description="difference: from date to other. add: date plus amount units. weekday: the day of date. "
        "count: how many events about something happened in a stretch of time."
    )
    date: str = Field("", description="An ISO date, or words such as 'last Friday', 'today'.")
    other: str = Field("", description="The second date of a difference.")
    amount: int = Field(0, ge=-FURTHEST, le=FURTHEST, description="How many units to add; may be negative.")
    unit: Unit = Field("days", description="The unit of amount.")
    about: str = Field("", description="What the counted events are about.")


@_tool()
def date_math(kit: ToolContext, given: DateMath) -> str:
    """Date arithmetic, computed: the difference of two dates, a date plus days, weeks, months or years, the weekday of
    a date, the number of events in a stretch of time. Use it instead of counting yourself."""
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
    fields: dict[str, Any] = {
        "date": _range(first, last),
        "other": _range(begin, end),
        "order": order,
        "days": shortest if shortest == longest else [shortest, longest],
        "weeks": round(shortest / 7, 2) if exact else None,
        "full_months": months,
        "full_years": None if months is None else months // 12,
        "result": in_words(shortest, longest),
    }
    return data(fields)


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
    return _shown(kit, "events", [head, *(event_line(event, kit.label) for event in events)])


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
    months = (second.year - first.year) * 12 + second.month - first.month
    return months - (second.day < first.day)


def _range(first: date, last: date) -> str:
    return first.isoformat() if first == last else f"{first} to {last}"
