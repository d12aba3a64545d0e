"""The seam between everything that asks a language model and whatever answers: a question, or a dialogue with tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from everwhen.errors import ModelError
from everwhen.types import Usage


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is offered it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants to have called; `arguments` is JSON as it came, which may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    call: ToolCall
    content: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said: words, calls of tools, or both. `raw` is the provider's own form, for the next request."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    raw: object | None = None


@dataclass(frozen=True, slots=True)
class ToolResults:
    results: tuple[ToolResult, ...]


Line: TypeAlias = UserMessage | AssistantMessage | ToolResults

Hear: TypeAlias = Callable[[str, str], None]
"""Called while an answer comes: the name of the tool that is being called ("" for plain words), and all that has come
of its arguments, or of the words, so far."""


T = TypeVar("T")

Problem: TypeAlias = Literal[
    "extra",  # a package is not installed
    "key",  # no key, or one that the provider refuses
    "model",  # the provider has no such model
    "unreachable",  # nobody answers at the address
    "timeout",  # no answer in time, however often asked
    "busy",  # 429 or 5xx, however often asked
    "quota",  # the account is empty
    "refusal",  # the model will not
    "too long",  # the question does not fit into the model
    "cut off",  # the answer does not fit into `max_tokens`
    "budget",  # it would cost more than it may
    "schema",  # the answer is not what was asked for, even after a repair
    "rejected",  # the provider will not take the request as it is
]

SMALLER: frozenset[Problem] = frozenset({"too long", "cut off"})
"""Problems that a smaller question solves."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """An answer that fits the schema, and what it took. `repaired`: only the second try did fit."""

    output: T
    usage: Usage = field(default_factory=Usage)
    repaired: bool = False


class LLMError(ModelError):
    """The model gave no usable answer; the message is one sentence with what to do about it.

    `usage` is what was spent all the same. `text` is the last answer as it came, where there was one: parts of
    it may be good.
    """

    def __init__(self, problem: Problem, message: str, *, usage: Usage | None = None, text: str = "") -> None:
        super().__init__(message)
        self.problem = problem
        self.usage = usage or Usage()
        self.text = text


class LLM(Protocol):
    """A question to an answer of a given shape, or a dialogue with tools.

    Used by: extraction, the agent, consolidation. Uses: one model of one provider.

    Implementations may be called from several threads at once, bound what they send at a time, and send again
    after a pause what fails for the moment.
    """

    @property
    def name(self) -> str:
        """What is written beside everything the model made, such as "openai:gpt-5-mini"."""
        ...

    @property
    def concurrency(self) -> int:
        """How many questions are answered at a time; more are kept waiting."""
        ...

    def complete(
        self,
        prompt: str,
        schema: type[T],
        *,
        instructions: str = "",
        max_tokens: int | None = None,
        within: float | None = None,
    ) -> Reply[T]:
        """The answer as an instance of `schema`, a pydantic model, or `str` for plain words.

        An answer that does not fit is sent back once with what is wrong. `max_tokens` bounds each answer, `within` the
        seconds that all attempts together may take. Raises `LLMError`.
        """
        ...

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
        """What the model says next: words, or calls of tools (`must_call`: no words alone). Raises `LLMError`.

        `max_tokens` bounds the answer and `within` the seconds that all attempts together may take.

        With `hear` it is streamed: once something was heard, a broken connection is an error and not tried again.
        """
        ...

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars that so many tokens cost; None where nobody has a price for the model."""
        ...


def complete_all(
    llm: LLM, prompts: Sequence[str], schema: type[T], *, instructions: str = ""
) -> list[Reply[T] | LLMError]:
    """The answers in the order of the prompts, as many at a time as the model allows; an error is a value, so
    that one bad answer costs no good one."""

    def ask(prompt: str) -> Reply[T] | LLMError:
        try:
            return llm.complete(prompt, schema, instructions=instructions)
        except LLMError as error:
            return error

    if len(prompts) < 2:
        return [ask(prompt) for prompt in prompts]
    with ThreadPoolExecutor(min(llm.concurrency, len(prompts)), "everwhen-llm") as pool:
        return list(pool.map(ask, prompts))
