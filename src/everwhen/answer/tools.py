"""The tools over one bank, for our own agent and for anybody else's: typed arguments, errors as data.

A wrong call is answered with data that says what is wrong. What a tool says of itself is its docstring.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everwhen.answer.view import BankView, Label, data, entry_line, event_line, fact_line, framed, turn_lines
from everwhen.errors import EverwhenError, Unavailable, UsageError
from everwhen.models.llm.base import LLMError, Tool
from everwhen.models.llm.pydantic_ai import EXTRA
from everwhen.recall.calendar.timeline import days_in_words, merged
from everwhen.types import Fact
from everwhen.types.answers import TOOLS
from everwhen.types.context import value
from everwhen.types.recall import WEEKDAYS
from everwhen.types.times import TimeReader
from everwhen_time import Interval
from everwhen_time.calendar import add_months
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from pydantic_ai.toolsets import FunctionToolset

MOST = 50
"""Results of one call at the most."""
LONGEST_ARGUMENTS = 20_000
ATTEMPTS = 3
PAUSE = 0.05
"""Seconds before a call is tried again that failed for the moment, such as while another process writes."""
AT_ONCE = 4
"""Calls of one step that run side by side."""
DATES = ("since", "until")


class Arguments(BaseModel):
    """What a tool is called with. Nothing is taken that it does not name: there is no way to another bank."""

    model_config = ConfigDict(extra="forbid", str_max_length=2_000, str_strip_whitespace=True)


class DateFilter(Arguments):
    """Arguments with a date filter."""

    since: str = Field(
        "", description="Only from this day on: an ISO date, or words such as 'last March'. Empty: no bound."
    )
    until: str = Field("", description="Only up to this day, which is included. Empty: no bound.")

    def window(self, kit: ToolContext) -> Interval | None:
        clock = TimeReader(kit.view.zone, kit.view.at)
        start = clock.interval(self.since, "since").start if self.since else None
        end = clock.interval(self.until, "until").end if self.until else None
        if start is not None and end is not None and end < start:
            raise UsageError(
                f"until '{self.until}' lies before since '{self.since}'; give the earlier one as since"
            )
        return None if start is None and end is None else Interval(start, end, "second")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works with: what the question sees of the bank, and how turns are named in what is shown."""

    view: BankView
    label: Label = str


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool: its name, what it says of itself, its arguments, and what it does with them."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[ToolContext, Any], str]
    dated: str = ""
    """What its date filters bound."""

    def offered(self, dates: bool = True) -> Tool:
        """As a model is offered it."""
        description = f"{self.description} {self.dated}" if dates and self.dated else self.description
        return Tool(self.name, description, self.schema(dates))

    def schema(self, dates: bool = True) -> dict[str, Any]:
        """The JSON schema of its arguments; without `dates`, the date filters are not on offer."""
        schema = self.arguments.model_json_schema()
        properties = {
            name: {key: value for key, value in one.items() if key != "title"}
            for name, one in schema["properties"].items()
            if dates or name not in DATES
        }
        return {
            "type": "object",
            "properties": properties,
            "required": schema.get("required", []),
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class Toolbox:
    """The tools over one bank. `call` never raises for what it is given: what is wrong comes back as data.

    >>> [tool["function"]["name"] for tool in memory.tools().openai()][:2]  # doctest: +SKIP
    ['search_turns', 'search_events']
    """

    kit: ToolContext
    names: tuple[str, ...] = TOOLS
    dates: bool = True

    @cached_property
    def tools(self) -> dict[str, MemoryTool]:
        return {name: BY_NAME[name] for name in self.names}

    def offered(self) -> list[Tool]:
        """As our own models are offered them."""
        return [one.offered(self.dates) for one in self.tools.values()]

    def openai(self) -> list[dict[str, Any]]:
        """The `tools` of an OpenAI chat completion, and of every server that speaks like it."""
        return [
            {
                "type": "function",
                "function": {
                    "name": one.name,
                    "description": one.description,
                    "parameters": dict(one.parameters),
                },
            }
            for one in self.offered()
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        return [
            {"name": one.name, "description": one.description, "input_schema": dict(one.parameters)}
            for one in self.offered()
        ]

    def pydantic_ai(self) -> FunctionToolset[Any]:
        """The same as a toolset for an agent of pydantic-ai's."""
        try:
            from pydantic_ai import Tool as Offered
            from pydantic_ai.toolsets import FunctionToolset
        except ImportError as error:
            raise LLMError("extra", f"a pydantic-ai toolset needs pydantic-ai: {EXTRA}") from error

        def made(one: Tool) -> Offered[Any]:
            def call(**arguments: Any) -> str:  # what is wrong with them comes back as data
                return self.call(one.name, arguments)

            return Offered.from_schema(call, one.name, one.description, dict(one.parameters))

        return FunctionToolset([made(one) for one in self.offered()], id="everwhen")

    def call(self, name: str, arguments: str | Mapping[str, Any] | None = None) -> str:
        """What a tool gives: data in a frame, or `{"error": …}`. Transient trouble is tried again first."""
        tool = self.tools.get(name)
        if tool is None:
            return _error(f"there is no tool '{name[:100]}'; there are: {', '.join(self.tools)}")
        try:
            given = self._checked(tool, arguments)
            return self._persistently(tool, given)
        except (UsageError, ValidationError) as error:
            return _error(_one_line(error, tool))
        except EverwhenError as error:
            return _error(str(error))
        except Exception as error:  # a tool that breaks must not break the dialogue
            return _error(f"{name} failed: {type(error).__name__}")

    def call_all(self, calls: Sequence[tuple[str, str | Mapping[str, Any] | None]]) -> list[str]:
        """Several calls side by side; results in the order of the calls."""
        if len(calls) < 2:
            return [self.call(*one) for one in calls]
        with ThreadPoolExecutor(min(AT_ONCE, len(calls)), "everwhen-tool") as pool:
            return list(pool.map(lambda one: self.call(*one), calls))

    def dispatch(self, tool_calls: Iterable[Any]) -> list[dict[str, str]]:
        """The `tool` messages that answer the tool calls of an OpenAI message, in their order."""
        calls = list(tool_calls)
        functions = [value(call, "function") for call in calls]
        results = self.call_all([(str(value(one, "name")), value(one, "arguments")) for one in functions])
        return [
            {"role": "tool", "tool_call_id": str(value(call, "id")), "content": content}
            for call, content in zip(calls, results, strict=True)
        ]

    def _checked(self, tool: MemoryTool, arguments: str | Mapping[str, Any] | None) -> Arguments:
        if isinstance(arguments, str):
            if len(arguments) > LONGEST_ARGUMENTS:
                raise UsageError(f"the arguments have {len(arguments)} characters; that is too long")
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError:
                raise UsageError(f"the arguments of {tool.name} are not JSON") from None
        if not isinstance(arguments, Mapping | None):
            raise UsageError(f"the arguments of {tool.name} are a JSON object")
        given = dict(arguments or {})
        if not self.dates and (named := [name for name in DATES if given.get(name)]):
            raise UsageError(f"{tool.name} takes no {' or '.join(named)} here")
        return tool.arguments.model_validate(given)

    def _persistently(self, tool: MemoryTool, given: Arguments) -> str:
        attempt = 1
        while True:
            try:
                return tool.run(self.kit, given)
            except Unavailable:
                if attempt >= ATTEMPTS:
                    raise
                sleep(PAUSE * 2**attempt)
                attempt += 1


def result_lines(kind: str, lines: Sequence[str], room: int, of: int | None = None) -> str:
    """Lines as a result, as many as have room, and one in any case; what is left out is counted."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0 and any(not one.startswith("#") for one in kept):
            break
        kept.append(line)
    more = max(of or 0, len(lines)) - len(kept)
    if more > 0:
        kept.append(f"({more} more; narrow the dates or the words)")
    return framed(kind, kept)


def _error(message: str) -> str:
    return data({"error": " ".join(message.split())})


def _one_line(error: UsageError | ValidationError, tool: MemoryTool) -> str:
    if isinstance(error, UsageError):
        return str(error)
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "extra_forbidden":
        return f"{tool.name} takes no '{where[:100]}'; it takes: {', '.join(tool.arguments.model_fields)}"
    return f"{tool.name}: {where[:100]}: {first['msg']}"


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
            day = _one_day(kit, given.date, "date")
            moved = _moved(day, given.amount, given.unit)
            return data({"result": moved.isoformat(), "weekday": WEEKDAYS[moved.weekday()]})
        case "weekday":
            day = _one_day(kit, given.date, "date")
            return data({"date": day.isoformat(), "result": WEEKDAYS[day.weekday()]})
        case _:
            return _count(kit, given)


def _difference(kit: ToolContext, given: DateMath) -> str:
    """From one to the other, in whole days; a range where a side is longer than a day, since it may be any of them."""
    (first, last), (begin, end) = (
        _first_and_last_day(kit, given.date, "date"),
        _first_and_last_day(kit, given.other, "other"),
    )
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
        "result": days_in_words(shortest, longest),
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


def _first_and_last_day(kit: ToolContext, text: str, name: str) -> tuple[date, date]:
    """The first and the last day of what a text names, in the bank's zone."""
    if not text:
        raise UsageError(f"date_math needs {name}: an ISO date, or words such as 'today'")
    clock, zone = TimeReader(kit.view.zone, kit.view.at), zone_of(kit.view.zone)
    first, last = clock.first(text, name), clock.last(text, name)
    return first.astimezone(zone).date(), last.astimezone(zone).date()


def _one_day(kit: ToolContext, text: str, name: str) -> date:
    first, last = _first_and_last_day(kit, text, name)
    if first != last:
        raise UsageError(f"'{text}' is {_range(first, last)}; {name} must be one day")
    return first


def _moved(day: date, amount: int, unit: Unit) -> date:
    try:
        if unit in ("days", "weeks"):
            return day + timedelta(days=amount * (7 if unit == "weeks" else 1))
        return add_months(
            datetime(day.year, day.month, day.day), amount * (12 if unit == "years" else 1)
        ).date()
    except (OverflowError, ValueError):
        raise UsageError(f"{amount} {unit} from {day} is no date of the calendar") from None


def _months(first: date, second: date) -> int:
    months = (second.year - first.year) * 12 + second.month - first.month
    return months - (second.day < first.day)


def _range(first: date, last: date) -> str:
    return first.isoformat() if first == last else f"{first} to {last}"
