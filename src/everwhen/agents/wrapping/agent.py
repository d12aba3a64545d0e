"""Agents of pydantic-ai: a memory as a capability of each run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from pydantic_ai.agent import AbstractAgent, WrapperAgent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext

from everwhen.agents.wrapping.remembering import Remembering, Said, tool_message, worth_keeping
from everwhen.types import Context

D = TypeVar("D")
O = TypeVar("O")  # noqa: E741


class RememberingAgent(WrapperAgent[D, O]):
    """An agent whose runs are remembered, and get what was said in earlier ones."""

    def __init__(self, wrapped: AbstractAgent[D, O], memory: Remembering) -> None:
        super().__init__(wrapped)
        self._memory = memory

    def iter(
        self, *args: Any, capabilities: Sequence[Any] | None = None, **options: Any
    ) -> AbstractAsyncContextManager[Any]:
        """One run, with the memory among its capabilities: all ways to run an agent come through here."""
        remembers = MemoryCapability[D](self._memory)
        return super().iter(*args, capabilities=[*(capabilities or ()), remembers], **options)


class MemoryCapability(AbstractCapability[D]):
    """One run with a memory: recalled for its first request and shown in each, remembered when it has ended."""

    def __init__(self, memory: Remembering) -> None:
        self._memory = memory
        self._began: datetime | None = None
        self._context: Context | None = None

    async def before_model_request(
        self, ctx: RunContext[D], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what is known behind the instructions, and what was recalled before the user's prompt."""
        messages = request_context.messages
        if self._began is None:
            self._began = self._memory.clock()
            asked = [one for message in messages for one in message.parts if isinstance(one, UserPromptPart)]
            first = _prompt(asked[0]) if asked else ""
            spoke = any(isinstance(one, ModelResponse) for one in messages)
            said = Said(_asked(messages), (), _texts(messages), first, spoke)
            self._context = await asyncio.to_thread(self._memory.recalled, said)
        context = self._context
        if context is None:
            return request_context
        wanted = request_context.model_request_parameters
        if context.stable:
            parts = [*(wanted.instruction_parts or ()), InstructionPart(content=context.stable)]
            wanted = replace(wanted, instruction_parts=parts)
        return replace(
            request_context, messages=_with(messages, context.fresh), model_request_parameters=wanted
        )

    async def after_run(self, ctx: RunContext[D], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Remember the prompt, what tools said, and the answer."""
        new = result.new_messages()
        prompt = _asked(new)
        # The tool by which a model gave an answer that is not plain words: its return says nothing.
        output_tool = getattr(result, "_output_tool_name", None)
        spoken: list[dict[str, Any]] = [{"role": "user", "content": prompt}] if prompt else []
        spoken += [
            tool_message(part.model_response_str(), part.tool_name)
            for message in new
            if isinstance(message, ModelRequest)
            for part in message.parts
            if isinstance(part, ToolReturnPart) and part.tool_name != output_tool
        ]
        reply = result.output if isinstance(result.output, str) else _last_words(new)
        said = Said(prompt, worth_keeping(spoken), (*_texts(result.all_messages()), reply))
        await asyncio.to_thread(self._memory.keep, said, reply, self._began or self._memory.clock())
        return result


def _asked(messages: Sequence[ModelMessage]) -> str:
    """The user's last words."""
    for message in reversed(messages):
        if isinstance(message, ModelRequest):
            for part in reversed(message.parts):
                if isinstance(part, UserPromptPart) and (words := _prompt(part)).strip():
                    return words
    return ""


def _prompt(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(one for one in part.content if isinstance(one, str))


def _texts(messages: Sequence[ModelMessage]) -> tuple[str, ...]:
    """What the model sees of the conversation."""
    found = [
        _prompt(part) if isinstance(part, UserPromptPart) else part.content
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart | TextPart)
    ]
    return tuple(one.strip() for one in found if one.strip())


def _with(messages: Sequence[ModelMessage], fresh: str) -> list[ModelMessage]:
    """Messages with memories before the user's last prompt; those of the agent's history are not changed."""
    placed = list(messages)
    for place in range(len(placed) - 1, -1, -1):
        message = placed[place]
        if not fresh or not isinstance(message, ModelRequest):
            continue
        at = next((n for n, part in enumerate(message.parts) if isinstance(part, UserPromptPart)), None)
        if at is not None:
            parts = [*message.parts[:at], SystemPromptPart(fresh), *message.parts[at:]]
            placed[place] = replace(message, parts=parts)
            break
    return placed


def _last_words(messages: Sequence[ModelMessage]) -> str:
    last = next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)
    return "\n".join(part.content for part in (last.parts if last else ()) if isinstance(part, TextPart))
