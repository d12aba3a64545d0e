"""Language models by name, asked for answers of a given shape. No provider is imported until it is used."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from everwhen.models.llm.base import LLM, CallRecord, LLMError, Problem, Reply, UsageLedger, complete_all
from everwhen.settings import Settings
from everwhen.types import Usage

if TYPE_CHECKING:
    from everwhen.models.llm.pydantic_ai import Output, PydanticAI

__all__ = [
    "LLM",
    "CallRecord",
    "LLMError",
    "Problem",
    "Reply",
    "Usage",
    "UsageLedger",
    "complete_all",
    "llm_of",
    "open_llm",
]


def open_llm(
    spec: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    output: Output = "auto",
    timeout: float = 120.0,
    concurrency: int = 4,
    attempts: int = 4,
    max_tokens: int = 8192,
    temperature: float = 0.0,
) -> PydanticAI:
    """The model that a setting names: `openai:<model>`, `anthropic:<model>`, `google:<model>`, `ollama:<model>`.

    `base_url` is any other server that speaks the provider's protocol, such as a llama.cpp server with
    `openai:<model>`. Keys come from the provider's usual variable, for a `base_url` from EVERWHEN_LLM_API_KEY.
    """
    from everwhen.models.llm.pydantic_ai import PydanticAI

    return PydanticAI(
        spec,
        base_url=base_url,
        api_key=api_key,
        output=output,
        timeout=timeout,
        concurrency=concurrency,
        attempts=attempts,
        max_tokens=max_tokens,
        temperature=temperature,
    )


@lru_cache(maxsize=8)
def shared_llm(
    spec: str,
    base_url: str | None,
    output: Output,
    timeout: float,
    concurrency: int,
    attempts: int,
    max_tokens: int,
    temperature: float,
) -> PydanticAI:
    return open_llm(
        spec,
        base_url=base_url,
        output=output,
        timeout=timeout,
        concurrency=concurrency,
        attempts=attempts,
        max_tokens=max_tokens,
        temperature=temperature,
    )


def llm_of(settings: Settings, spec: str, *, temperature: float | None = None) -> PydanticAI:
    """A model as the settings have it, one for all the banks of a process that ask it the same way."""
    return shared_llm(
        spec,
        settings.llm_base_url,
        settings.llm_output,
        settings.llm_timeout,
        settings.llm_concurrency,
        settings.llm_attempts,
        settings.llm_max_tokens,
        settings.llm_temperature if temperature is None else temperature,
    )
