"""Embedders by name: the packaged one, a fake for tests, models that others run, and those that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NoReturn

from everwhen.errors import ModelError, Refused, UsageError
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
        case "minilm", False:
            return RetiredEmbedder(kind)
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


RETIRED = {"minilm": "conversation-1"}
"""By name, what came in its place."""


class RetiredEmbedder:
    """Makes no vectors, and says what to do instead."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dim(self) -> int:
        self._refuse()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._refuse()

    def pieces(self, text: str) -> list[str]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ModelError(
            f"everwhen has no embedder {self.name} any more: open new banks with {RETIRED[self.name]}, and run "
            f"`everwhen bank reembed BANK --model {RETIRED[self.name]}` for those that were made with it"
        )


def refuse_retired(bank: str, model: str) -> None:
    """Say what to do with a bank whose embedder is no longer there."""
    if model in RETIRED:
        raise Refused(
            f"bank '{bank}' was embedded with {model}, which everwhen has no longer; "
            f"run `everwhen bank reembed {bank} --model {RETIRED[model]}`"
        )
