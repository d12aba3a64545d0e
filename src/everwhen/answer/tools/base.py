"""How a tool is described, checked and called. A wrong call is answered with data that says what is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everwhen.answer.bank_view import BankView
from everwhen.answer.rendering import Label, data, framed
from everwhen.errors import EverwhenError, Unavailable, UsageError
from everwhen.models.llm.base import LLMError, Tool
from everwhen.models.llm.providers import EXTRA
from everwhen.types.agent_recipe import TOOLS
from everwhen.types.context import value
from everwhen.types.time_arguments import TimeReader
from everwhen_time import Interval

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
        told = f"{self.description} {self.dated}" if dates and self.dated else self.description
        return Tool(self.name, told, self.schema(dates))

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
        from everwhen.answer.tools.memory_tools import BY_NAME

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
                time.sleep(PAUSE * 2**attempt)
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
