"""Language models by name, asked for answers of a given shape. No provider is imported until it is used."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from everwhen.models.llm.base import LLM, LLMError, Problem, Reply, complete_all
from everwhen.settings import Settings
from everwhen.types import Usage

if TYPE_CHECKING:
    from everwhen.models.llm.pydantic_ai import Output, PydanticAI

__all__ = [
    "LLM", "LLMError", "Problem", "Reply", "Usage", "complete_all", "llm_of", "open_llm",
]  # fmt: skip


class ModelOptions(TypedDict, total=False):
    """How a model is reached and asked; `PydanticAI` has the defaults."""

    base_url: str | None
    api_key: str | None
    output: Output
    timeout: float
    concurrency: int
    attempts: int
    max_tokens: int
    temperature: float
    prompts: Path | None


def open_llm(spec: str, **options: Unpack[ModelOptions]) -> PydanticAI:
    """The model that a setting names: `openai:<model>`, `anthropic:<model>`, `google:<model>`, `ollama:<model>`.

    `base_url` is any other server that speaks the provider's protocol, such as a llama.cpp server with
    `openai:<model>`. Keys come from the provider's usual variable, for a `base_url` from EVERWHEN_LLM_API_KEY.
    """
    from everwhen.models.llm.pydantic_ai import PydanticAI

    return PydanticAI(spec, **options)


_shared = lru_cache(maxsize=8)(open_llm)


def llm_of(settings: Settings, spec: str, *, temperature: float | None = None) -> PydanticAI:
    """A model as the settings have it, one for all the banks of a process that ask it the same way."""
    return _shared(
        spec,
        base_url=settings.llm_base_url,
        output=settings.llm_output,
        timeout=settings.llm_timeout,
        concurrency=settings.llm_concurrency,
        attempts=settings.llm_attempts,
        max_tokens=settings.llm_max_tokens,
        temperature=settings.llm_temperature if temperature is None else temperature,
        prompts=settings.prompts,
    )
