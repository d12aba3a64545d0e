"""A language model that answers from a script: for tests that are not about the network."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from everwhen.models.llm.base import Call, Ledger, LLMError, Reply
from everwhen.types import Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it came in."""

    prompt: str
    schema: type
    instructions: str


Answer: TypeAlias = Any
"""An instance of the schema, what can be validated as one, an `LLMError` to raise, or a function of `Asked`
that gives any of these."""


class FakeLLM:
    """Answers in the order of the script; the last one stays. `asked` is what it was asked.

    >>> FakeLLM(["Porto"]).complete("Where?", str).output
    'Porto'
    """

    def __init__(self, answers: list[Answer], *, name: str = "fake", usage: Usage | None = None) -> None:
        self.name = name
        self.concurrency = 2
        self.ledger = Ledger()
        self.asked: list[Asked] = []
        self._answers = deque(answers)
        self._usage = usage or Usage(1, 100, 20)
        self._lock = threading.Lock()

    def complete(self, prompt: str, schema: type[T], *, instructions: str = "") -> Reply[T]:
        """The next answer, validated; an answer that does not fit is an error of the schema."""
        asked = Asked(prompt, schema, instructions)
        with self._lock:
            self.asked.append(asked)
            answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        given = answer(asked) if callable(answer) else answer
        if isinstance(given, LLMError):
            self.ledger.note(Call(self.name, given.usage, given.problem))
            raise given
        output = self._validated(given, schema)
        self.ledger.note(Call(self.name, self._usage))
        return Reply(output, self._usage)

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
