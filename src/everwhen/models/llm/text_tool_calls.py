"""Calls that a model wrote out as words: small models, and servers that do not know a model's own marks, do so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from everwhen.models.llm.dialogue import Tool, ToolCall

_AROUND = re.compile(
    r"```(?:json|tool_call|xml)?|</?(?:tool_calls?|function_calls?|tools)>|[\s,\[\]]+", re.IGNORECASE
)
"""What may stand before, between and behind the calls: fences, tags, the marks of a list."""


def written_calls(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """The calls of a text that is nothing but calls of these tools; none for any other text, which is then what the
    model said. A call is an object with the tool's name and its arguments, or arguments that fit one tool alone."""
    calls = []
    for value in _objects(text):
        call = _call(value, tools)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _objects(text: str) -> Iterator[Any]:
    """The JSON values of a text; None for what is none, and then no more."""
    decoder = json.JSONDecoder()
    place = _behind(text, 0)
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            yield None
            return
        yield value
        place = _behind(text, place)


def _behind(text: str, place: int) -> int:
    while found := _AROUND.match(text, place):
        place = found.end()
    return place


def _call(value: Any, tools: Sequence[Tool]) -> ToolCall | None:
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):  # as OpenAI has it in a message
        value = inner
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    named = [tool for tool in tools if tool.name == value.get("name")]
    if named and isinstance(arguments, Mapping):
        return _made(named[0], arguments)
    fitting = [tool for tool in tools if _fits(value, tool)]
    return _made(fitting[0], value) if len(fitting) == 1 else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _fits(value: Mapping[str, Any], tool: Tool) -> bool:
    known = set(tool.parameters.get("properties", ()))
    needed = set(tool.parameters.get("required", ()))
    return bool(needed) and needed <= set(value) <= known


def _made(tool: Tool, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall(f"written_{uuid4().hex[:16]}", tool.name, json.dumps(arguments))
