"""Language models by name, asked for answers of a given shape. No provider is imported until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everwhen.models.llm.base import LLM, Call, Ledger, LLMError, Problem, Reply, Usage, complete_all

if TYPE_CHECKING:
    from everwhen.models.llm.pydantic_ai import Output, PydanticAI

__all__ = ["LLM", "Call", "LLMError", "Ledger", "Problem", "Reply", "Usage", "complete_all", "open_llm"]


def open_llm(
    spec: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    output: Output = "auto",
    timeout: float | None = None,
    concurrency: int | None = None,
    attempts: int | None = None,
    max_tokens: int | None = None,
) -> PydanticAI:
    """The model that a setting names: `openai:<model>`, `anthropic:<model>`, `google:<model>`, `ollama:<model>`.

    `base_url` is any other server that speaks the provider's protocol, such as a llama.cpp server with
    `openai:<model>`. Keys come from the provider's usual variable, for a `base_url` from EVERWHEN_LLM_API_KEY.
    """
    from everwhen.models.llm import pydantic_ai

    return pydantic_ai.PydanticAI(
        spec,
        base_url=base_url,
        api_key=api_key,
        output=output,
        timeout=timeout or pydantic_ai.TIMEOUT,
        concurrency=concurrency or pydantic_ai.CONCURRENCY,
        attempts=attempts or pydantic_ai.ATTEMPTS,
        max_tokens=max_tokens or pydantic_ai.MAX_TOKENS,
    )
