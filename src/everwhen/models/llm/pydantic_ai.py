"""Language models through pydantic-ai: OpenAI, Anthropic, Google, Ollama and whatever speaks OpenAI's protocol.

Nothing of pydantic-ai or of a provider is imported before the first question; what then asks is in
`pydantic_ai_requests.py`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from everwhen.errors import UsageError
from everwhen.models.llm.base import LLMError, Problem, Reply
from everwhen.models.model_server import is_address
from everwhen.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from everwhen.models.llm.base import AssistantMessage, Hear, Line, Tool
    from everwhen.models.llm.pydantic_ai_requests import RetryingModel

T = TypeVar("T")

Output: TypeAlias = Literal["auto", "native", "json", "tool", "prompted"]
"""How the answer is held to the schema: the provider's own structured output (`native`), OpenAI's JSON mode
with the schema beside it, as llama-cpp-python has it (`json`), a tool call (`tool`), or the prompt alone
(`prompted`). `auto` takes the first that the server does not refuse."""

CHOICES = "openai:<model>, anthropic:<model>, google:<model>, ollama:<model>"
EXTRA = "pip install 'everwhen[llm]'"
OLLAMA_URL = "http://localhost:11434/v1"
KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
}
SERVER_KEY = "EVERWHEN_LLM_API_KEY"
"""The key for the server of `EVERWHEN_LLM_BASE_URL`: a provider's own key is never sent to another server."""

FAILURES = 3
REST = 30.0
LASTING: frozenset[Problem] = frozenset({"key", "model", "unreachable", "timeout", "busy", "quota"})
"""Problems of the provider rather than of the question: after `FAILURES` in a row it is left alone for `REST`
seconds, so that an import does not wait for a dead server at every batch."""

_DEFAULT = Settings()
_importing = threading.Lock()
"""pydantic-ai is imported by one thread at a time: several first questions at once would find it half imported."""


@dataclass(eq=False, repr=False)
class PydanticAI:
    """One model of one provider, by name: `openai:<model>`, `anthropic:<model>`, `google:<model>`, `ollama:<model>`.

    `base_url` is any other server that speaks the provider's protocol, such as a llama.cpp server with
    `openai:<model>`. Keys come from the provider's usual variable, for a `base_url` from EVERWHEN_LLM_API_KEY.
    """

    name: str
    _: KW_ONLY
    base_url: str | None = None
    api_key: str | None = None
    output: Output = _DEFAULT.llm_output
    timeout: float = _DEFAULT.llm_timeout
    concurrency: int = _DEFAULT.llm_concurrency
    attempts: int = _DEFAULT.llm_attempts
    max_tokens: int = _DEFAULT.llm_max_tokens
    temperature: float = _DEFAULT.llm_temperature
    prompts: Path | None = None
    first_pause: float = 0.5
    rest: float = REST

    def __post_init__(self) -> None:
        self._provider, _, self._model_name = self.name.partition(":")
        if self._provider not in KEYS or not self._model_name:
            raise UsageError(f"unknown LLM {self.name!r}; choose one of {CHOICES}")
        self._url = _address(self._provider, self.base_url)
        self._opening = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        self._model: RetryingModel | None = None
        self._outputs: list[Output] = []
        self._proven = False  # whether the way of asking has brought an answer
        self._failures = 0
        self._resting: tuple[float, LLMError] | None = None

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
        with self._asking() as model:
            from everwhen.models.llm.pydantic_ai_requests import structured_answer

            while True:
                output = self._outputs[0] if schema is not str else "prompted"
                settings = model.settings_for(self.temperature, self.max_tokens, max_tokens, within)
                try:
                    reply = self._run(
                        structured_answer(model, prompt, schema, instructions, output, settings)
                    )
                    break
                except LLMError as error:
                    # A server may also take the schema of the JSON mode and ignore it.
                    ignored = error.problem == "schema" and output == "json" and not self._proven
                    unsuited = error.problem == "rejected" or ignored
                    if not unsuited or schema is str or not self._has_next_output(output):
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
        with self._asking() as model:
            from everwhen.models.llm.pydantic_ai_requests import next_message

            settings = model.settings_for(self.temperature, self.max_tokens, max_tokens, within)
            if must_call and tools:
                settings["tool_choice"] = "required"
            return self._run(next_message(model, dialogue, tools, instructions, settings, hear))

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars that so many tokens cost, as genai-prices has them; None for a model that it does not know."""
        from everwhen.models.llm.pydantic_ai_requests import price

        return price(self._open(), input_tokens, output_tokens)

    def close(self) -> None:
        """Gives up what is still being asked; a later question opens the model again."""
        with self._opening:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = self._model = None

    @contextmanager
    def _asking(self) -> Iterator[RetryingModel]:
        """One question: not asked while the provider is left alone, and its failures counted."""
        if self._resting and time.monotonic() < self._resting[0]:
            failure = self._resting[1]
            raise LLMError(failure.problem, str(failure))
        try:
            yield self._open()
        except LLMError as error:
            self._failures = self._failures + 1 if error.problem in LASTING else 0
            if self._failures >= FAILURES:
                self._resting = (time.monotonic() + self.rest, error)
            raise
        self._failures, self._resting = 0, None

    def _run(self, question: Coroutine[Any, Any, T]) -> T:
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

    def _has_next_output(self, refused: Output) -> bool:
        """Whether there is another way to ask, after the server refused this one."""
        with self._opening:
            if self._outputs[0] == refused and len(self._outputs) > 1:
                self._outputs.pop(0)
            return self._outputs[0] != refused

    def _open(self) -> RetryingModel:
        with self._opening:
            if self._model is not None and self._process == os.getpid():  # a fork has no thread
                return self._model
            variables = KEYS[self._provider] if self.base_url is None else (SERVER_KEY,)
            key = self.api_key or next(filter(None, map(os.environ.get, variables)), None)
            if not key and self._url is None:
                raise LLMError("key", f"{self.name} needs a key: set {' or '.join(variables)}")
            with _importing:
                try:
                    from everwhen.models.llm.pydantic_ai_requests import RetryingModel, provider_model

                    model = provider_model(self._provider, self._model_name, self._url, key)
                except ImportError as error:
                    raise LLMError("extra", f"{self.name} needs another package: {EXTRA}") from error
            self._model = RetryingModel(
                model,
                name=self.name,
                where=self._url or self._provider,
                key_variables=" or ".join(variables),
                attempts=self.attempts,
                timeout=self.timeout,
                first_pause=self.first_pause,
                concurrency=self.concurrency,
            )
            if not self._outputs:
                ways: list[Output] = ["native", "json", "tool", "prompted"]  # the strictest first
                if self.output != "auto":
                    ways = [self.output]
                elif not model.profile.get("supports_json_schema_output"):
                    ways = ["tool", "prompted"]
                elif self._url is None or self._provider != "openai":
                    ways.remove("json")
                self._outputs = ways
            self._process = os.getpid()
            self._loop = asyncio.new_event_loop()
            threading.Thread(
                target=_run_until_stopped, args=(self._loop,), name="everwhen-llm", daemon=True
            ).start()
            return self._model


@lru_cache(maxsize=8)
def _shared(name: str, **options: Any) -> PydanticAI:
    return PydanticAI(name, **options)


def llm_of(settings: Settings, name: str, *, temperature: float | None = None) -> PydanticAI:
    """A model as the settings have it, one for all the banks of a process that ask it the same way."""
    return _shared(
        name,
        base_url=settings.llm_base_url,
        output=settings.llm_output,
        timeout=settings.llm_timeout,
        concurrency=settings.llm_concurrency,
        attempts=settings.llm_attempts,
        max_tokens=settings.llm_max_tokens,
        temperature=settings.llm_temperature if temperature is None else temperature,
        prompts=settings.prompts,
    )


def _address(provider: str, base_url: str | None) -> str | None:
    """Where the model is served; None is the provider's own address."""
    if base_url is None and provider == "openai":
        base_url = os.environ.get("OPENAI_BASE_URL")
    if base_url is None and provider == "ollama":
        base_url = os.environ.get("OLLAMA_BASE_URL") or OLLAMA_URL
    if base_url is not None and not is_address(base_url):
        raise UsageError(f"the LLM's base URL {base_url!r} should look like http://localhost:8080/v1")
    return base_url.rstrip("/") if base_url is not None else None


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    unfinished = asyncio.all_tasks(loop)
    for task in unfinished:
        task.cancel()
    if unfinished:
        loop.run_until_complete(asyncio.wait(unfinished))
    loop.close()
