"""A dialogue as pydantic-ai has it: one request at a time, with tools, streamed or not. Imports pydantic-ai.

Small models, and servers that do not know a model's own marks, write calls out as words: these are read too.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from pydantic_ai.exceptions import ContentFilterError, ModelRequestTimeout
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from everwhen.models.llm.base import (
    AssistantMessage,
    Hear,
    Line,
    LLMError,
    Tool,
    ToolCall,
    ToolResults,
    UserMessage,
)
from everwhen.models.llm.retrying import CutOff, RetryingModel
from everwhen.types import Usage


async def next_message(
    model: RetryingModel,
    dialogue: Sequence[Line],
    tools: Sequence[Tool],
    *,
    instructions: str,
    must_call: bool,
    settings: ModelSettings,
    within: float | None,
    hear: Hear | None,
    explained: Callable[[Exception, Usage, str], LLMError],
) -> AssistantMessage:
    """What a model says after all that was said so far. `explained` words what went wrong."""
    started = time.perf_counter()
    if must_call and tools:
        settings["tool_choice"] = "required"
    wanted = ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=one.name, description=one.description, parameters_json_schema=dict(one.parameters)
            )
            for one in tools
        ],
        instruction_parts=[InstructionPart(content=instructions)] if instructions else None,
    )
    messages = _messages(dialogue, instructions)
    response: ModelResponse | None = None
    try:
        async with asyncio.timeout(within):
            if hear is None:
                response = await model.request(messages, settings, wanted)
            else:
                response = await model.streamed(messages, settings, wanted, _heard(hear))
        _complete(response)
    except LLMError:
        raise
    except TimeoutError as error:
        late = ModelRequestTimeout(model.model_name, within or 0.0)
        raise explained(late, Usage(), "") from error
    except Exception as error:  # whatever it is, it must not stop the caller's work
        if isinstance(error, CutOff):
            response = error.response
        spent = _usage(response, started) if response is not None else Usage()
        raise explained(error, spent, _words(response) or _arguments(response)) from error
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    usage = _usage(response, started)
    if not calls and (written := written_calls(_words(response), tools)):
        return AssistantMessage("", written, usage)  # told to the server again as the calls that they are
    return AssistantMessage(_words(response), calls, usage, response)


def price(model: Model, input_tokens: int, output_tokens: int) -> float | None:
    """Dollars that so many tokens cost; None where nobody has a price."""
    usage = RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens)
    supposed = ModelResponse(
        parts=[],
        usage=usage,
        model_name=model.model_name,
        provider_name=model.system,
        provider_url=model.base_url,
    )
    return _cost(supposed)


def _messages(dialogue: Sequence[Line], instructions: str) -> list[ModelMessage]:
    out: list[ModelMessage] = []
    for line in dialogue:
        match line:
            case UserMessage():
                out.append(
                    ModelRequest(parts=[UserPromptPart(content=line.text)], instructions=instructions or None)
                )
            case ToolResults():
                parts = [
                    ToolReturnPart(tool_name=one.call.name, content=one.content, tool_call_id=one.call.id)
                    for one in line.results
                ]
                out.append(ModelRequest(parts=parts, instructions=instructions or None))
            case AssistantMessage():
                out.append(line.raw if isinstance(line.raw, ModelResponse) else _spoken(line))
    return out


def _spoken(line: AssistantMessage) -> ModelResponse:
    parts: list[ModelResponsePart] = [TextPart(content=line.text)] if line.text else []
    parts += [ToolCallPart(call.name, call.arguments, call.id) for call in line.calls]
    return ModelResponse(parts=parts)


def _heard(hear: Hear) -> Callable[[Sequence[ModelResponsePart]], None]:
    def parts_so_far(parts: Sequence[ModelResponsePart]) -> None:
        for part in parts:
            if isinstance(part, ToolCallPart):
                hear(part.tool_name, part.args if isinstance(part.args, str) else part.args_as_json_str())
        if words := "".join(part.content for part in parts if isinstance(part, TextPart)):
            hear("", words)

    return parts_so_far


def _complete(response: ModelResponse) -> None:
    """Raises where an answer is none: refused, or longer than the limit."""
    if response.finish_reason == "content_filter":
        said = (response.provider_details or {}).get("refusal", "")
        raise ContentFilterError(f"Content filter triggered. Refusal: {str(said)!r}")
    if response.finish_reason == "length":
        raise CutOff(response)
    if response.state in ("incomplete", "interrupted"):
        raise LLMError("unreachable", "the connection broke off in the middle of an answer; ask again")


def _words(response: ModelResponse | None) -> str:
    parts = response.parts if response is not None else []
    return "".join(part.content for part in parts if isinstance(part, TextPart))


def _arguments(response: ModelResponse | None) -> str:
    """Those of the last call, as far as they came."""
    calls = [part for part in (response.parts if response else ()) if isinstance(part, ToolCallPart)]
    given = calls[-1].args if calls else ""
    # Not `args_as_json_str`: it mends what is no JSON.
    return given if isinstance(given, str) else json.dumps(given)


def _usage(response: ModelResponse, started: float) -> Usage:
    used = response.usage
    return Usage(1, used.input_tokens, used.output_tokens, _cost(response), time.perf_counter() - started)


def _cost(response: ModelResponse) -> float | None:
    if response.usage.cost is not None:
        return float(response.usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


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
