"""Language models through pydantic-ai: OpenAI, Anthropic, Google, Ollama and whatever speaks OpenAI's protocol."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from everwhen.models.llm.base import LLMError, Problem, Reply
from everwhen.models.llm.providers import EXTRA, address, build, key_hint, parse
from everwhen.types import Usage

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from everwhen.models.llm.base import AssistantMessage, Hear, Line, Tool
    from everwhen.models.llm.retrying import RetryingModel

T = TypeVar("T")

Output: TypeAlias = Literal["auto", "native", "json", "tool", "prompted"]
"""How the answer is held to the schema: the provider's own structured output (`native`), OpenAI's JSON mode
with the schema beside it, as llama-cpp-python has it (`json`), a tool call (`tool`), or the prompt alone
(`prompted`). `auto` takes the first that the server does not refuse."""

FAILURES = 3
REST = 30.0
LASTING: frozenset[Problem] = frozenset({"key", "model", "unreachable", "timeout", "busy", "quota"})
"""Problems of the provider rather than of the question: after `FAILURES` in a row it is left alone for `REST`
seconds, so that an import does not wait for a dead server at every batch."""

_importing = threading.Lock()
"""pydantic-ai is imported by one thread at a time: several first questions at once would find it half imported."""


@dataclass(eq=False, repr=False)
class PydanticAI:
    """One model of one provider. Nothing is imported or opened before the first question."""

    name: str
    _: KW_ONLY
    base_url: str | None = None
    api_key: str | None = None
    output: Output = "auto"
    timeout: float = 120.0
    concurrency: int = 4
    attempts: int = 4
    max_tokens: int = 8192
    temperature: float = 0.0
    prompts: Path | None = None
    first_pause: float = 0.5
    rest: float = REST

    def __post_init__(self) -> None:
        provider, _ = parse(self.name)
        self._where = address(provider, self.base_url) or provider
        self._opening = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        self._model: RetryingModel | None = None
        self._modes: list[Output] = []
        self._agents: dict[tuple[type, Output], Agent[object, Any]] = {}
        self._proven = False  # whether the way of asking has brought an answer
        self._streak = 0
        self._resting: tuple[float, LLMError] | None = None

    @property
    def model(self) -> Model:
        """pydantic-ai's model with our retries and limits, for agents of one's own; use it on `loop` only."""
        self._open()
        assert self._model is not None
        return self._model

    def complete(
        self,
        prompt: str,
        schema: type[T],
        *,
        instructions: str = "",
        max_tokens: int | None = None,
        within: float | None = None,
    ) -> Reply[T]:
        """The answer as an instance of `schema`; see `LLM`."""
        with self._trying():
            while True:
                mode = self._modes[0] if schema is not str else "prompted"
                try:
                    reply = self.run(self._ask(prompt, schema, instructions, mode, max_tokens, within))
                    break
                except LLMError as error:
                    # A server may also take the schema of the JSON mode and pay no heed to it.
                    ignored = error.problem == "schema" and mode == "json" and not self._proven
                    unsuited = error.problem == "rejected" or ignored
                    if not unsuited or schema is str or not self._step_down(mode):
                        raise
        self._proven = self._proven or schema is not str
        return reply

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
        """What the model says next; see `LLM`."""
        with self._trying():
            from pydantic_ai.settings import ModelSettings

            from everwhen.models.llm.pydantic_ai_dialogue import next_message

            assert self._model is not None
            longest = min(self.max_tokens, max_tokens or self.max_tokens)
            said = next_message(
                self._model,
                dialogue,
                tools,
                instructions=instructions,
                must_call=must_call,
                settings=ModelSettings(temperature=self.temperature, max_tokens=longest),
                within=within,
                hear=hear,
                explained=self._explained,
            )
            return self.run(said)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars that so many tokens cost, as genai-prices has them; None for a model that it does not know."""
        from everwhen.models.llm.pydantic_ai_dialogue import price

        return price(self.model, input_tokens, output_tokens)

    @contextmanager
    def _trying(self) -> Iterator[None]:
        """One question: not asked while the provider is left alone, and its failures counted."""
        if self._resting and time.monotonic() < self._resting[0]:
            tired = self._resting[1]
            raise LLMError(tired.problem, str(tired))
        try:
            self._open()
            yield
        except LLMError as error:
            self._failed(error)
            raise
        self._streak, self._resting = 0, None

    def _explained(self, error: Exception, usage: Usage, text: str = "") -> LLMError:
        from everwhen.models.llm.retrying import explain

        key = key_hint(self.name, self.base_url)
        return explain(error, name=self.name, where=self._where, key=key, usage=usage, text=text)

    def run(self, question: Coroutine[Any, Any, T]) -> T:
        """A coroutine's result, on the one loop that the model's connections belong to."""
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(question, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise LLMError("unreachable", f"{self.name} was closed while it was asked") from None
        except BaseException:
            future.cancel()  # an interrupted caller leaves no request behind
            raise

    def close(self) -> None:
        """Gives up what is still being asked; a later question opens the model again."""
        with self._opening:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = self._model = None
            self._agents.clear()

    async def _ask(
        self,
        prompt: str,
        schema: type[T],
        instructions: str,
        mode: Output,
        max_tokens: int | None,
        within: float | None,
    ) -> Reply[T]:
        from pydantic_ai import capture_run_messages
        from pydantic_ai.exceptions import ModelRequestTimeout
        from pydantic_ai.settings import ModelSettings
        from pydantic_ai.usage import RunUsage

        from everwhen.models.llm.retrying import CutOff

        spent, started = RunUsage(), time.perf_counter()
        agent = self._agent(schema, mode)
        if mode == "json":  # some servers insist on the word
            instructions = f"{instructions}\n\nAnswer with one JSON object.".lstrip()
        with capture_run_messages() as messages:
            try:
                async with asyncio.timeout(within):
                    result = await agent.run(
                        prompt,
                        instructions=instructions or None,
                        usage=spent,
                        infer_name=False,
                        model_settings=ModelSettings(
                            max_tokens=min(self.max_tokens, max_tokens or self.max_tokens)
                        ),
                    )
            except TimeoutError as error:
                late = ModelRequestTimeout(self.name, within or 0.0)
                raise self._explained(late, _usage(spent, started)) from error
            except Exception as error:  # whatever it is, it must not stop the caller's work
                cut = error.response if isinstance(error, CutOff) else None
                if cut is not None:
                    spent.requests += 1
                    spent.incr(cut.usage)
                said = _last_answer([*messages, cut] if cut else messages)
                raise self._explained(error, _usage(spent, started), said) from error
        usage = _usage(spent, started)
        return Reply(cast(T, result.output), usage, repaired=usage.requests > 1)

    def _agent(self, schema: type, mode: Output) -> Agent[object, Any]:
        from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
        from pydantic_ai.settings import ModelSettings

        if (agent := self._agents.get((schema, mode))) is not None:
            return agent
        # Models without a temperature ignore it.
        settings = ModelSettings(temperature=self.temperature, max_tokens=self.max_tokens)
        wanted: Any = schema
        if schema is not str:
            match mode:
                case "native":
                    wanted = NativeOutput(schema)
                case "tool":
                    wanted = ToolOutput(schema)
                case "json":  # the server has the schema: a small model reads better without it
                    wanted = PromptedOutput(schema, template=False)
                    _add_schema(settings, schema)
                case _:
                    wanted = PromptedOutput(schema)
        agent = Agent(self.model, output_type=wanted, model_settings=settings, retries={"output": 1})
        self._agents[schema, mode] = agent
        return agent

    def _step_down(self, refused: Output) -> bool:
        """Whether there is another way to ask, after the server refused this one."""
        with self._opening:
            if self._modes[0] == refused and len(self._modes) > 1:
                self._modes.pop(0)
            return self._modes[0] != refused

    def _failed(self, error: LLMError) -> None:
        self._streak = self._streak + 1 if error.problem in LASTING else 0
        if self._streak >= FAILURES:
            self._resting = (time.monotonic() + self.rest, error)

    def _open(self) -> None:
        with self._opening:
            if self._loop is not None and self._process == os.getpid():  # a fork has no thread
                return
            with _importing:
                try:
                    import everwhen.models.llm.pydantic_ai_dialogue  # noqa: F401
                    from everwhen.models.llm.retrying import RetryingModel
                except ImportError as error:
                    raise LLMError("extra", f"{self.name} needs pydantic-ai: {EXTRA}") from error
                model = build(self.name, self.base_url, self.api_key)
            self._modes = self._modes or self._ladder(model)
            self._model = RetryingModel(
                model,
                attempts=self.attempts,
                timeout=self.timeout,
                first_pause=self.first_pause,
                concurrency=self.concurrency,
            )
            self._agents.clear()
            self._process = os.getpid()
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_turn, args=(self._loop,), name="everwhen-llm", daemon=True).start()

    def _ladder(self, model: Model) -> list[Output]:
        """The ways to ask, the strictest first."""
        if self.output != "auto":
            return [self.output]
        if not model.profile.get("supports_json_schema_output"):
            return ["tool", "prompted"]
        if "://" in self._where and self.name.startswith("openai:"):
            return ["native", "json", "tool", "prompted"]
        return ["native", "tool", "prompted"]


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


def _add_schema(settings: ModelSettings, schema: type) -> None:
    from pydantic import TypeAdapter

    shape = {"type": "json_object", "schema": TypeAdapter(schema).json_schema()}
    settings["extra_body"] = {"response_format": shape}


def _usage(spent: Any, started: float) -> Usage:
    cost = spent.cost
    return Usage(
        spent.requests,
        spent.input_tokens,
        spent.output_tokens,
        None if cost is None else float(cost),
        time.perf_counter() - started,
    )


def _last_answer(messages: list[ModelMessage]) -> str:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return "".join(
                part.content if isinstance(part, TextPart) else part.args_as_json_str()
                for part in message.parts
                if isinstance(part, TextPart | ToolCallPart)
            )
    return ""
