"""Forgetting in the embedding cache: what was embedded of forgotten texts goes from there too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everwhen.models.embed import Embedder
from everwhen.models.embed.cache import CachedEmbedder
from everwhen.settings import Settings
from everwhen.store.base import Store
from everwhen.types import Turn
from everwhen.write.embedding import embedded_texts, in_batches, spoken


class CacheCleaner:
    """Removes entries from the embedding cache of the home folder: it holds no text, but vectors reveal much of the
    text."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._dropped = 0
        self.problems: list[str] = []

    def drop_turns(self, turns: Sequence[Turn], followers: Sequence[Turn]) -> None:
        """What was embedded of turns, and of those that were embedded with their end."""
        for batch in in_batches([*turns, *followers], self._settings.batch):
            contexts = self._store.contexts([turn.id for turn in batch])
            texts = []
            for turn in batch:
                said = spoken(turn, contexts.get(turn.id, ""), self._settings)
                for dated in (None, (turn.said_at, turn.zone)):  # whatever the setting was then
                    texts += embedded_texts(self._embedder, replace(said, dated=dated))
            self._forget(texts)

    def drop(self, texts: Sequence[str]) -> int:
        """What was embedded of derived things. How many texts were dropped in all."""
        for batch in in_batches(texts, self._settings.batch):
            self._forget([piece for text in batch for piece in self._embedder.pieces(text)])
        return self._dropped

    def _forget(self, texts: Sequence[str]) -> None:
        if not isinstance(self._embedder, CachedEmbedder) or not texts:
            return
        if self._embedder.forget(texts):
            self._dropped += len(set(texts))
        else:
            self._tell()

    def scrub(self) -> None:
        """The last bytes of what was dropped."""
        if self._dropped and isinstance(self._embedder, CachedEmbedder) and not self._embedder.scrub():
            self._tell()

    def _tell(self) -> None:
        if isinstance(self._embedder, CachedEmbedder) and not self.problems:
            self.problems.append(
                f"the embedding cache {self._embedder.path} could not be cleaned "
                f"({self._embedder.problem or 'another process uses it'}); it may be deleted as a whole"
            )
