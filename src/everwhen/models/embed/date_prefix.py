"""Dates in embedded text (the setting `date_in_embedding`): `[06 November 2025] Ana moved to Porto`.

Turns have the day on which they were said. What is derived has the time that it is about, as exactly as that is known:
an event when it occurred, a fact since when it holds, a node of the tree when its window begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed.base import Embedder
from everwhen.models.embed.cache import CachedEmbedder
from everwhen_time import Grain
from everwhen_time.zones import zone_of

_YEARS = ("year", "decade", "century")
_MONTHS = ("month", "quarter", "season")


class LocalTime(NamedTuple):
    """A moment as a person there would name it."""

    instant: datetime
    zone: str
    grain: Grain = "day"

    def __str__(self) -> str:
        form = "%Y" if self.grain in _YEARS else "%B %Y" if self.grain in _MONTHS else "%d %B %Y"
        return self.instant.astimezone(zone_of(self.zone)).strftime(form)


def with_date(text: str, dated: LocalTime | None) -> str:
    """What is embedded of a text. What is stored and shown stays without the date."""
    return text if dated is None else f"[{dated}] {text}"


def embed_derived(
    embedder: Embedder, texts: Sequence[str], dates: Sequence[LocalTime] | None = None
) -> list[NDArray[np.float32]]:
    """For each derived text the vectors of its pieces; `dates` where they are part of what is embedded.

    Then nothing is kept in the embedding cache: who forgets a derived unit looks there for its words without a date.
    """
    if dates is not None:
        embedder = embedder.inner if isinstance(embedder, CachedEmbedder) else embedder
        texts = [with_date(text, dated) for text, dated in zip(texts, dates, strict=True)]
    pieces = [embedder.pieces(text) for text in texts]
    flat = embedder.embed([piece for several in pieces for piece in several])
    found, place = [], 0
    for several in pieces:
        found.append(flat[place : place + len(several)])
        place += len(several)
    return found
