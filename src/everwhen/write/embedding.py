"""What of a turn is embedded: its words with their speaker, read with the end of the turn before.

The words alone say little ("Yes, on Friday!"). The packaged embedder reads the turn before and embeds the turn alone,
in one run. For any other embedder two vectors are made, one of `speaker: text` and one with the end of the turn before
in front, and their mean is kept: the cosine with the mean is the mean of the cosines. What is stored and shown is
always the text as it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embedder import (
    IN_CONTEXT,
    Embedder,
    centroid,
    gives_tokens,
    join_codes,
    normalised,
    reads_context,
)
from everwhen.models.embedding_cache import LocalTime, embed_derived, with_date
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import TurnForgotten
from everwhen.store.sql.store import Store
from everwhen.types import Finding, Turn

T = TypeVar("T")


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


def spoken(turn: Turn, context: str, settings: Settings) -> SpokenTurn:
    dated = (turn.said_at, turn.zone) if settings.date_in_embedding else None
    return SpokenTurn(turn.speaker, turn.text, context, dated)


def context_of(before: Turn | None, settings: Settings) -> str:
    """What of the turn before takes part in the search for a turn: its end, which is what it answers."""
    if before is None or settings.context_chars == 0:
        return ""
    return f"{before.speaker}: {before.text[-settings.context_chars :]}"


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
        yield TurnVectors(normalised(own), join_codes(coded) if coded else b"")
        place += len(several)


def reembed(
    store: Store,
    embedder: Embedder,
    name: str,
    settings: Settings,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Replace all vectors at once: readers see the old ones, and writers go on, until the new ones are there."""
    vectors: dict[str, NDArray[np.float32]] = {}
    codes: dict[str, bytes] = {}
    waiting: Iterable[Turn] = store.turns()
    while True:
        for batch in in_batches(waiting, settings.batch):
            contexts = store.contexts([turn.id for turn in batch])
            texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in batch]
            for turn, one in zip(batch, embed_spoken(embedder, texts), strict=True):
                vectors[turn.id], codes[turn.id] = one
            if progress:
                progress(len(vectors))
        others = chain(store.graph.derived_texts(), store.facts.texts())
        # The same id has the same words for ever: what was embedded in the round before is not embedded again.
        for derived in in_batches((one for one in others if one[0] not in vectors), settings.batch):
            vectors.update(embed_units(store, embedder, dict(derived), settings))
        for id_, text, consolidator, turns in store.tree.for_reembedding():
            # What quotes turns points where they point; a model's words have a meaning of their own.
            vectors[id_] = (
                centroid(np.stack([vectors[turn][0] for turn in turns]))
                if consolidator == "extractive" and all(turn in vectors for turn in turns)
                else embed_units(store, embedder, {id_: text}, settings)[id_]
            )
        missing = store.replace_vectors(name, embedder.dim, vectors, codes)
        if not missing:
            return
        waiting = store.turns(ids=missing)  # added meanwhile


def embed_units(
    store: Store, embedder: Embedder, texts: Mapping[str, str], settings: Settings
) -> dict[str, NDArray[np.float32]]:
    """The vectors of derived units by id, with their dates where the setting says so."""
    dates = None
    if settings.date_in_embedding:
        known = store.keep.unit_dates(list(texts))
        if len(known) < len(texts):
            raise TurnForgotten("a derived unit was forgotten while it was being embedded")
        dates = [LocalTime(*known[id_]) for id_ in texts]
    return dict(zip(texts, embed_derived(embedder, list(texts.values()), dates), strict=True))


def check_codes(store: Store, embedder: Embedder, settings: Settings, *, fix: bool) -> list[Finding]:
    """Doctor's question to the embedder: has every turn the token vectors that it would give? `fix` makes them.

    A turn without them is found as before, and takes no part in late interaction.
    """
    if not gives_tokens(embedder) or not embedder.code_format:
        return []
    missing = store.turns_without_codes(embedder.code_format)
    if not missing:
        return []
    if fix:
        for ids in in_batches(missing, settings.batch):
            turns, contexts = list(store.turns(ids=ids)), store.contexts(ids)
            texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in turns]
            made = zip(turns, embed_spoken(embedder, texts), strict=True)
            store.put_codes({turn.id: one.codes for turn, one in made}, VectorModel.of(embedder))
    problem = f"{len(missing)} turns have no token vectors, and are ranked without late interaction"
    advice = "" if fix else "; `everwhen bank doctor --fix` makes them"
    return [Finding("tokens", problem + advice, fixed=fix)]


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size`, as they come; what came before an error is given before the error."""
    batch: list[T] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
