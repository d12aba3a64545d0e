"""Embedders by name: the packaged one, a fake for tests, and models that others run."""

from __future__ import annotations

from functools import lru_cache

from everwhen.errors import UsageError
from everwhen.models.embed.base import Embedder, TokenEmbedder, Vectors, gives_tokens

__all__ = ["Embedder", "TokenEmbedder", "Vectors", "gives_tokens", "open_embedder", "shared_embedder"]

CHOICES = "conversation-1, fake, fastembed:<model>, openai:<model>, sentence-transformers:<model>"


def open_embedder(spec: str) -> Embedder:
    """The embedder that a setting names. Nothing is loaded before its first use."""
    kind, _, model = spec.partition(":")
    match kind, bool(model):
        case "conversation-1", False:
            from everwhen.models.embed.conversation import ConversationEmbedder

            return ConversationEmbedder()
        case "fake", False:
            from everwhen.models.embed.fake import FakeEmbedder

            return FakeEmbedder()
        case "fastembed", True:
            from everwhen.models.embed.downloaded import FastEmbed

            return FastEmbed(model)
        case "openai", True:
            from everwhen.models.embed.openai import OpenAIEmbedder

            return OpenAIEmbedder(model)
        case "sentence-transformers", True:
            from everwhen.models.embed.downloaded import SentenceTransformers

            return SentenceTransformers(model)
        case _:
            raise UsageError(f"unknown embedder {spec!r}; choose one of {CHOICES}")


@lru_cache(maxsize=4)
def shared_embedder(spec: str) -> Embedder:
    return open_embedder(spec)
