"""Embedders that the package had once: a bank of one is opened to be given another's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from everwhen.errors import ModelError, Refused
from everwhen.models.embed.base import Vectors

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
