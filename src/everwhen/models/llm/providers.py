"""From a name such as `openai:gpt-5-mini` to pydantic-ai's model of it; imports the provider it needs, no other."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from everwhen.errors import UsageError
from everwhen.models.llm.base import LLMError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

CHOICES = "openai:<model>, anthropic:<model>, google:<model>, ollama:<model>"
OLLAMA_URL = "http://localhost:11434/v1"
KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
}
OWN_KEY = "EVERWHEN_LLM_API_KEY"
"""The key for the server of `EVERWHEN_LLM_BASE_URL`: a provider's own key is never sent to another server."""
OPENAI_MODEL = re.compile(r"(?:openai/)?(?:gpt-|o\d)")
EXTRA = "pip install 'everwhen[llm]'"


def parse(spec: str) -> tuple[str, str]:
    provider, _, model = spec.partition(":")
    if provider not in KEYS or not model:
        raise UsageError(f"unknown LLM {spec!r}; choose one of {CHOICES}")
    return provider, model


def address(provider: str, base_url: str | None) -> str | None:
    """Where the model is served; None is the provider's own address."""
    if base_url is None and provider == "openai":
        base_url = os.environ.get("OPENAI_BASE_URL")
    if base_url is None and provider == "ollama":
        base_url = os.environ.get("OLLAMA_BASE_URL") or OLLAMA_URL
    if base_url is None:
        return None
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"the LLM's base URL {base_url!r} should look like http://localhost:8080/v1")
    return base_url.rstrip("/")


def build(spec: str, base_url: str | None = None, api_key: str | None = None) -> Model:
    provider, model = parse(spec)
    url = address(provider, base_url)
    elsewhere = base_url is not None
    variables = (OWN_KEY,) if elsewhere else KEYS[provider]
    key = api_key or next((value for name in variables if (value := os.environ.get(name))), None)
    if not key and url is None:
        raise LLMError("key", f"{spec} needs a key: set {' or '.join(KEYS[provider])}")
    try:
        return _model(provider, model, url, key)
    except ImportError as error:
        raise LLMError("extra", f"{spec} needs another package: {EXTRA}") from error


def key_hint(spec: str, base_url: str | None) -> str:
    """The variables to look at when a key is refused."""
    return OWN_KEY if base_url is not None else " or ".join(KEYS[parse(spec)[0]])


def _model(provider: str, model: str, url: str | None, key: str | None) -> Model:
    match provider:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(model, provider=AnthropicProvider(api_key=key or "none", base_url=url))
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(model, provider=GoogleProvider(api_key=key or "none", base_url=url))
        case "ollama":
            from pydantic_ai.models.ollama import OllamaModel
            from pydantic_ai.providers.ollama import OllamaProvider

            return OllamaModel(model, provider=OllamaProvider(base_url=url, api_key=key))
        case _:
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.profiles.openai import OpenAIModelProfile
            from pydantic_ai.providers.openai import OpenAIProvider
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            if url is None:
                return OpenAIChatModel(model, provider=OpenAIProvider(api_key=key))
            compatible = OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=key)
            if OPENAI_MODEL.match(model):
                return OpenAIChatModel(model, provider=compatible)
            # The older name of the limit is the one that every other server knows.
            older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
            return OpenAIChatModel(model, provider=compatible, profile=older)
