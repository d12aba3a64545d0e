"""How a bank words its facts for the search: vectors and token counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.date_prefix import LocalTime, embed_derived
from everwhen.store.vector_model import VectorModel
from everwhen.when import Grain


class Words:
    """How a bank words its facts: its embedder, and cl100k tokens. With a zone, dates are part of what is embedded."""

    def __init__(self, embedder: Embedder, zone: str | None = None) -> None:
        self._embedder = embedder
        self._zone = zone

    def vectors(
        self, texts: Sequence[str], since: Sequence[tuple[datetime, Grain]]
    ) -> list[NDArray[np.float32]]:
        zone = self._zone
        dates = None if zone is None else [LocalTime(instant, zone, grain) for instant, grain in since]
        return embed_derived(self._embedder, texts, dates)

    @property
    def model(self) -> VectorModel:
        return VectorModel.of(self._embedder)

    def tokens(self, text: str) -> int:
        from everwhen.models.tokens import count_tokens

        return count_tokens(text)
