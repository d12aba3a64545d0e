"""What of a turn is embedded: its words with their speaker, and once more with the turn before it.

The words alone say little ("Yes, on Friday!"). Two vectors are made, one of `speaker: text` and one with the
end of the turn before in front, and their mean is kept: the cosine with the mean is the mean of the cosines.
What is stored and shown is always the text as it was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.base import normalised


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn's words with what stands around them."""

    speaker: str
    text: str
    before: str = ""
    """The end of the turn before, with its speaker."""
    dated: tuple[datetime, str] | None = None
    """Instant and zone, where the date is to be part of what is embedded."""


def embed_spoken(embedder: Embedder, spoken: Sequence[Spoken]) -> list[NDArray[np.float32]]:
    """For each turn a matrix with a vector for each of its pieces; every text is embedded in one batch."""
    texts: list[str] = []
    plans: list[list[tuple[int, ...]]] = []
    for one in spoken:
        plan = []
        for number, piece in enumerate(embedder.pieces(_line(one, one.text))):
            places: tuple[int, ...] = (len(texts),)
            texts.append(piece)
            window = f"{one.before}\n{piece}"
            # Where the two do not fit together the model would cut one off: the piece then speaks alone.
            if number == 0 and one.before and len(embedder.pieces(window)) == 1:
                places = (len(texts) - 1, len(texts))
                texts.append(window)
            plan.append(places)
        plans.append(plan)
    vectors = embedder.embed(texts)
    return [np.stack([_mean(vectors, places) for places in plan]) for plan in plans]


def _line(one: Spoken, text: str) -> str:
    dated = ""
    if one.dated is not None:
        instant, zone = one.dated
        dated = f"[{instant.astimezone(ZoneInfo(zone)):%d %B %Y}] "
    return f"{dated}{one.speaker}: {text}"


def _mean(vectors: NDArray[np.float32], places: tuple[int, ...]) -> NDArray[np.float32]:
    mean = normalised(vectors[list(places)].mean(axis=0, keepdims=True))
    return np.asarray(mean[0])
