"""What of a turn is embedded: its words with their speaker, read with the end of the turn before.

The words alone say little ("Yes, on Friday!"). The packaged embedder reads the turn before and embeds the turn alone,
in one run. For any other embedder two vectors are made, one of `speaker: text` and one with the end of the turn before
in front, and their mean is kept: the cosine with the mean is the mean of the cosines. What is stored and shown is
always the text as it was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder, gives_tokens
from everwhen.models.embed.base import IN_CONTEXT, normalised, reads_context
from everwhen.models.embed.date_prefix import LocalTime, with_date
from everwhen.models.rerank.token_codes import join


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn's words with what stands around them."""

    speaker: str
    text: str
    before: str = ""
    """The end of the turn before, with its speaker."""
    dated: tuple[datetime, str] | None = None
    """Instant and zone, where the date is to be part of what is embedded."""


class TurnVectors(NamedTuple):
    vectors: NDArray[np.float32]
    """One for each of its pieces."""
    codes: bytes = b""
    """Its coded token vectors; empty where the embedder gives none."""


def embed_spoken(embedder: Embedder, spoken: Sequence[SpokenTurn]) -> list[TurnVectors]:
    """Each turn's vectors and codes; every text is embedded in one batch.

    The codes are those of `speaker: text`, from the same run of the model: what of the turn before is said
    with it must not be matched as if it were its own words.
    """
    pieces = [_pieces(embedder, one) for one in spoken]
    alone = [piece for several in pieces for piece in several]
    windows = [_window(embedder, one, several[0]) for one, several in zip(spoken, pieces, strict=True)]
    plain = [window for window in windows if window]
    if gives_tokens(embedder):
        vectors, codes = embedder.embed_with_codes(alone, plain)
    else:
        vectors, codes = embedder.embed([*alone, *plain]), [b""] * len(alone)
    return list(_gathered(pieces, windows, vectors, codes))


def line_of(one: SpokenTurn) -> str:
    """What is embedded of a turn by itself."""
    dated = None if one.dated is None else LocalTime(*one.dated)
    return with_date(f"{one.speaker}: {one.text}", dated).replace(IN_CONTEXT, " ")


def _pieces(embedder: Embedder, one: SpokenTurn) -> list[str]:
    """What is embedded: the line in as many pieces as the model needs, the first with what is read before it."""
    pieces = embedder.pieces(line_of(one))
    if one.before and reads_context(embedder):
        return [one.before.replace(IN_CONTEXT, " ") + IN_CONTEXT + pieces[0], *pieces[1:]]
    return pieces


def embedded_texts(embedder: Embedder, one: SpokenTurn) -> list[str]:
    """Every text that was given to the model for a turn: what a cache knows of it."""
    pieces = _pieces(embedder, one)
    window = _window(embedder, one, pieces[0])
    return [*pieces, window] if window else pieces


def _window(embedder: Embedder, one: SpokenTurn, piece: str) -> str:
    """The piece with the turn before in front; empty where there is none, or the model has read it already.

    Where the two do not fit together the model would cut one off: the piece then speaks alone.
    """
    window = f"{one.before}\n{piece}" if one.before and not reads_context(embedder) else ""
    return window if window and len(embedder.pieces(window)) == 1 else ""


def _gathered(
    pieces: Sequence[Sequence[str]], windows: Sequence[str], vectors: NDArray[np.float32], codes: list[bytes]
) -> Iterator[TurnVectors]:
    """The vectors of all pieces, then of all windows, back to their turns."""
    place, window_place = 0, len(codes)
    for several, window in zip(pieces, windows, strict=True):
        own = vectors[place : place + len(several)].copy()
        coded = [code for code in codes[place : place + len(several)] if code]
        if window:
            own[0] = normalised((own[:1] + vectors[window_place]) / 2)[0]
            window_place += 1
        yield TurnVectors(normalised(own), join(coded) if coded else b"")
        place += len(several)
