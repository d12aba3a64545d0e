"""A tool as a model gets it: a short schema, no argument that is silently ignored, errors that speak of tools."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from everwhen.api.operations.mistakes import usage_error
from everwhen.serve.mcp.results import Json

LONGEST_ERROR = 600
"""Characters of an error: it may repeat what the caller wrote."""

COMMANDS = {
    "add": "add_memory",
    "recall": "search_memories",
    "turns": "search_turns",
    "sessions": "search_turns",
    "grep": "search_turns",
    "when": "when",
    "timeline": "timeline",
    "events": "timeline",
    "entities": "timeline",
    "facts current": "get_facts",
    "facts history": "get_facts",
    "facts correct": "correct_fact",
    "forget": "forget",
}
"""The tool that does what a command does; `timeline` shows the names of those that it tells of."""
_NO_TOOL = "`everwhen bank list` lists those that exist, and "
"""Said of a bank that is not there: here only the rest of the sentence can be followed."""
_COMMAND = re.compile(r"`everwhen ([^`]+)`")


class StrictTool(Tool):
    """A tool that refuses arguments which it does not have, and says in one sentence what is wrong."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        given, names = dict(arguments), self.parameters["properties"]
        if "about" in names and "about" not in given and "query" in given:
            given["about"] = given.pop("query")  # a model that has just searched goes on with `query`
        if unknown := [name[:50] for name in given if name not in names]:
            raise ToolError(
                f"{self.name} has no argument {', '.join(unknown[:5])}; it takes {', '.join(names)}"
            )
        try:
            return await super().run(given, context, convert_result)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            # The SDK puts "Error executing tool …" before the sentence, and keeps what was raised as the cause.
            cause = error.__cause__
            said = self._wrong(cause) if isinstance(cause, ValidationError) else str(cause)
            raise ToolError(said) from error

    def _wrong(self, error: ValidationError) -> str:
        """What is wrong with an argument, explained as in the schema."""
        wrong = usage_error(error)
        name = re.split(r"\W", str(wrong).removeprefix("unknown "))[0]
        meaning = self.parameters["properties"].get(name, {}).get("description")
        return f"{self.name}: {wrong}" + (f" ({meaning})" if meaning else "")


def strict_tool(fn: Callable[..., str], annotations: ToolAnnotations) -> StrictTool:
    """The tool that a function is: its docstring the description, its answer sent once, as text."""
    description = " ".join((inspect.getdoc(fn) or "").split())
    tool = StrictTool.from_function(
        fn, description=description, annotations=annotations, structured_output=False
    )
    assert isinstance(tool, StrictTool)
    tool.parameters = short(tool.parameters)
    return tool


def short(schema: Json) -> Json:
    """A schema of arguments without what tells a model nothing: titles, and null beside what may be left out."""
    properties = {name: _property(dict(given)) for name, given in schema["properties"].items()}
    needed = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _property(given: Json) -> Json:
    for name in ("title", "minLength", "examples"):
        given.pop(name, None)
    while "anyOf" in given:
        choices = [choice for choice in given.pop("anyOf") if choice != {"type": "null"}]
        if len(choices) > 1:
            return {"anyOf": choices} | _without_null(given)
        given = choices[0] | given
    return _without_null(given)


def _without_null(given: Json) -> Json:
    return {name: value for name, value in given.items() if (name, value) != ("default", None)}


def in_tools(message: str) -> str:
    """An error in the words of MCP: the tool instead of the command, and a terminal for what no tool does."""

    def reworded(found: re.Match[str]) -> str:
        command, name = found[1], found[1].removeprefix("show ")
        for known, tool in COMMANDS.items():
            if name == known or name.startswith(f"{known} "):
                return f"`{tool}`"
        return f"the command `everwhen {command}` in a terminal"

    said = _COMMAND.sub(reworded, message.replace(_NO_TOOL, ""))
    return said if len(said) <= LONGEST_ERROR else f"{said[: LONGEST_ERROR - 1]}…"
