"""Language models by name, asked for answers of a given shape. No provider is imported until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everwhen.models.llm.base import LLM, Call, Ledger, LLMError, Problem, Reply, complete_all
from everwhen.types import Usage

if TYPE_CHECKING:
    from everwhen.models.llm.pydantic_ai import Output, PydanticAI

__all__ = ["LLM", "Call", "LLMError", "Ledger", "Problem", "Reply", "Usage", "complete_all", "open_llm"]


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
    )
