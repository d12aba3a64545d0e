"""A dialogue as pydantic-ai has it: one request at a time, with tools, streamed or not. Imports pydantic-ai."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

from everwhen.models.llm.base import LLMError
from everwhen.models.llm.dialogue import (
    AssistantMessage,
    Hear,
    Line,
    Tool,
    ToolCall,
    ToolResults,
    UserMessage,
)
from everwhen.models.llm.retrying import CutOff, RetryingModel
from everwhen.models.llm.text_tool_calls import written_calls
from everwhen.types import Usage


@dataclass(frozen=True, slots=True)
class PydanticAIDialogue:
    """How a model is talked to. `explained` words what went wrong."""

    model: RetryingModel
    temperature: float
    max_tokens: int
    explained: Callable[[Exception, Usage, str], LLMError]

    async def next(
        self,
        dialogue: Sequence[Line],
        tools: Sequence[Tool],
        *,
        instructions: str,
        must_call: bool,
        within: float | None,
        hear: Hear | None,
    ) -> AssistantMessage:
        """What the model says after all that was said so far."""
        started = time.perf_counter()
        settings = ModelSettings(temperature=self.temperature, max_tokens=self.max_tokens)
        if must_call and tools:
            settings["tool_choice"] = "required"
        wanted = ModelRequestParameters(
            function_tools=[_offered(tool) for tool in tools],
            instruction_parts=[InstructionPart(content=instructions)] if instructions else None,
        )
        messages = _messages(dialogue, instructions)
        response: ModelResponse | None = None
        try:
            async with asyncio.timeout(within):
                if hear is None:
                    response = await self.model.request(messages, settings, wanted)
                else:
                    response = await self.model.streamed(messages, settings, wanted, _heard(hear))
            _complete(response)
        except LLMError:
            raise
        except TimeoutError as error:
            late = ModelRequestTimeout(self.model.model_name, within or 0.0)
            raise self.explained(late, Usage(), "") from error
        except Exception as error:  # whatever it is, it must not stop the caller's work
            if isinstance(error, CutOff):
                response = error.response
            spent = _usage(response, started) if response is not None else Usage()
            raise self.explained(error, spent, _words(response) or _arguments(response)) from error
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


def _offered(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
    )


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
    return (
        given if isinstance(given, str) else json.dumps(given)
    )  # not `args_as_json_str`: it mends what is no JSON


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
