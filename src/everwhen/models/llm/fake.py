"""A language model that answers from a script: for tests that are not about the network."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from everwhen.models.llm.base import (
    AssistantMessage,
    Hear,
    Line,
    LLMError,
    Reply,
    Tool,
    ToolCall,
    UserMessage,
)
from everwhen.types import Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FakeRequest:
    prompt: str
    schema: type
    instructions: str
    dialogue: tuple[Line, ...] = ()
    tools: tuple[Tool, ...] = ()
    must_call: bool = False


Answer: TypeAlias = Any
"""An instance of the schema, what can be validated as one, an `LLMError` to raise, or a function of `FakeRequest`
that gives any of these. In a dialogue: words, a `AssistantMessage`, or a pair of a tool's name and its arguments (or a
list of pairs)."""


PIECE = 7
"""Letters at a time that a streamed answer comes in."""


class FakeLLM:
    """Answers in the order of the script; the last one stays. `asked` is what it was asked.

    >>> FakeLLM(["Porto"]).complete("Where?", str).output
    'Porto'
    """

    def __init__(self, answers: list[Answer], *, name: str = "fake", usage: Usage | None = None) -> None:
        self.name = name
        self.concurrency = 2
        self.asked: list[FakeRequest] = []
        self._answers = deque(answers)
        self._usage = usage or Usage(1, 100, 20)
        self._lock = threading.Lock()

    def complete(
        self,
        prompt: str,
        schema: type[T],
        *,
        instructions: str = "",
        max_tokens: int | None = None,
        within: float | None = None,
    ) -> Reply[T]:
        """The next answer, validated; an answer that does not fit is an error of the schema."""
        given = self._next(FakeRequest(prompt, schema, instructions))
        return Reply(self._validated(given, schema), self._usage)

    def converse(
        self,
        dialogue: Sequence[Line],
        tools: Sequence[Tool] = (),
        *,
        instructions: str = "",
        must_call: bool = False,
        max_tokens: int | None = None,
        within: float | None = None,
        hear: Hear | None = None,
    ) -> AssistantMessage:
        """The next answer as what a model says; streamed, it comes in pieces of a few letters."""
        last = dialogue[-1]
        prompt = last.text if isinstance(last, UserMessage) else ""
        asked = FakeRequest(prompt, str, instructions, tuple(dialogue), tuple(tools), must_call)
        given = self._next(asked)
        number = len(self.asked)
        if isinstance(given, AssistantMessage):
            spoken = replace(given, usage=self._usage)
        elif isinstance(given, str):
            spoken = AssistantMessage(given, usage=self._usage)
        else:
            pairs = given if isinstance(given, list) else [given]
            calls = tuple(
                ToolCall(f"call_{number}_{place}", name, json.dumps(arguments))
                for place, (name, arguments) in enumerate(pairs)
            )
            spoken = AssistantMessage("", calls, self._usage)
        if hear is not None:
            for name, words in (("", spoken.text), *((call.name, call.arguments) for call in spoken.calls)):
                for end in range(PIECE, len(words) + PIECE, PIECE):
                    hear(name, words[:end])
        return spoken

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """The price of a token is that of `usage`, where it has one."""
        if self._usage.cost is None or not self._usage.tokens:
            return None
        return self._usage.cost * (input_tokens + output_tokens) / self._usage.tokens

    def _next(self, asked: FakeRequest) -> Any:
        with self._lock:
            self.asked.append(asked)
            answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        given = answer(asked) if callable(answer) else answer
        if isinstance(given, LLMError):
            raise given
        return given

    def _validated(self, given: Any, schema: type[T]) -> T:
        from pydantic import TypeAdapter, ValidationError

        adapter: TypeAdapter[T] = TypeAdapter(schema)
        try:
            if isinstance(given, str) and schema is not str:
                return adapter.validate_json(given)
            return adapter.validate_python(given)
        except ValidationError as error:
            text = given if isinstance(given, str) else ""
            raise LLMError(
                "schema", f"{self.name} does not fit: {error}", usage=self._usage, text=text
            ) from error
