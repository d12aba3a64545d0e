"""Messages become durable turns: placed in time, cut into exchanges, embedded, written in one transaction.

messages -> placed (session, instant, zone, id) -> without those already known -> embedded -> appended

A turn is embedded with its speaker, and read with the end of the turn before: the words alone say little ("Yes, on
Friday!"). The packaged embedder reads the turn before and embeds the turn alone, in one run. For any other embedder two
vectors are made, one of `speaker: text` and one with the end of the turn before in front, and their mean is kept: the
cosine with the mean is the mean of the cosines. What is stored and shown is always the text as it was said.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embedder import (
    IN_CONTEXT,
    CachedEmbedder,
    Embedder,
    LocalTime,
    centroid,
    count_tokens,
    embed_derived,
    gives_tokens,
    join_codes,
    normalised,
    reads_context,
    with_date,
)
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import FOREVER, NewTurn, TurnForgotten
from everwhen.store.sql.store import Store
from everwhen.types import Added, Finding, Message, Metadata, Turn
from everwhen.types.turns import line
from everwhen_time.zones import zone_name, zone_of

LONGEST_EXCHANGE = 50
"""Turns of an exchange at the most, so that adding to a long monologue stays fast."""


@dataclass(frozen=True, slots=True)
class MessageDefaults:
    """Where messages belong that do not say so themselves."""

    session: str | None = None
    at: datetime | None = None
    zone: str | None = None
    """Where they were said, whatever their times say."""
    bank_zone: str = "UTC"
    """Where they were said when nothing else says so."""
    metadata: Metadata | None = None


def remember(store: Store, embedder: Embedder, settings: Settings, turns: Sequence[Turn]) -> Added:
    """Write turns; durable when it returns. One whose id is known already is left as it is."""
    known = store.known([turn.id for turn in turns])
    new: dict[str, Turn] = {}
    conflicts: list[str] = []
    # Before anything is made of them: a forgotten turn is no turn before another, and has no vector in a cache.
    forgotten = store.forgotten([turn for turn in turns if not known.get(turn.id)])
    for turn in turns:
        if turn.id in forgotten:
            continue
        # The words of an expired turn are deleted: it is known all the same, and what comes under its id is not it.
        there = new[turn.id].text if turn.id in new else known.get(turn.id)
        if there is None:
            new[turn.id] = turn
        elif there != turn.text:
            conflicts.append(turn.id)
    written = 0
    if new:
        # In the order of time, so that each finds the turn before it; equal times stay as they came.
        in_order = sorted(new.values(), key=lambda turn: turn.said_at)
        prepared = _prepared(store, embedder, settings, in_order)
        written = sum(store.append(prepared))
        if written < len(prepared) and isinstance(embedder, CachedEmbedder):
            # Somebody else added or forgot some since they were looked for: no word of them stays in the cache.
            refused = [spoken(one.turn, one.context, settings) for one in prepared]
            embedder.forget([text for one in refused for text in embedded_texts(embedder, one)])
    session = turns[-1].session if turns else ""
    return Added(tuple(turn.id for turn in turns), session, written, tuple(conflicts))


def placed(messages: Sequence[Message], placement: MessageDefaults) -> list[Turn]:
    """Messages as turns, each with a session, an instant, a zone and an id; nothing is written."""
    now = datetime.now(UTC)
    found = []
    for message in messages:
        said_at = message.said_at or placement.at or now
        zone = (
            message.zone or placement.zone or zone_name(said_at, placement.bank_zone) or placement.bank_zone
        )
        # Without a session, the conversation of that day, as the speaker counts days: the same whatever
        # the order of arrival.
        day = said_at.astimezone(zone_of(zone)).date().isoformat()
        turn = Turn(
            id=message.id or new_id(),
            session=message.session or placement.session or day,
            seq=0,
            role=message.role,
            speaker=message.speaker,
            text=message.text,
            said_at=said_at.astimezone(UTC),
            zone=zone,
            recorded_at=now,
            metadata={**(placement.metadata or {}), **message.metadata},
        )
        found.append(turn)
    return found


def _prepared(store: Store, embedder: Embedder, settings: Settings, turns: list[Turn]) -> list[NewTurn]:
    """Turns in the order of time, with their exchange, their context and their vectors."""
    newest: dict[str, Turn | None] = {}  # of each session, in the store
    last: dict[str, Turn] = {}  # of each session, among these
    speakers: dict[str, list[str]] = {}  # of each exchange
    texts, placed, befores = [], [], []
    for turn in turns:
        if turn.session not in newest:
            newest[turn.session] = store.last_turn(turn.session, FOREVER)
        stored = newest[turn.session]
        if stored is not None and stored.said_at > turn.said_at:  # it came late: it belongs between others
            stored = store.last_turn(turn.session, turn.said_at)
        new = last.get(turn.session)  # of the two that may stand before it, the one said last
        before = stored if new is None or (stored is not None and stored.said_at > new.said_at) else new
        segment = before.segment if before else None
        if segment and segment not in speakers:
            speakers[segment] = store.segment_speakers(segment, LONGEST_EXCHANGE)
        if segment is None or begins_exchange(speakers[segment], turn.speaker):
            segment = f"x-{turn.id}"
            speakers[segment] = []
        speakers[segment].append(turn.speaker)
        whole = replace(turn, segment=segment, tokens=count_tokens(line(turn.speaker, turn.text)))
        last[turn.session] = whole
        texts.append(spoken(whole, context_of(before, settings), settings))
        placed.append(whole)
        befores.append(before.id if before else None)
    embedded = embed_spoken(embedder, texts)
    made_with = VectorModel.of(embedder)
    return [
        NewTurn(
            turn,
            one.vectors,
            made_with,
            codes=one.codes,
            context=text.before,
            before=before_id,
            network="experience" if turn.role == "assistant" else "world",
        )
        for turn, one, text, before_id in zip(placed, embedded, texts, befores, strict=True)
    ]


def begins_exchange(speakers: Sequence[str], speaker: str) -> bool:
    """Whether a turn opens a new exchange, given who spoke in the one before it, turn by turn.

    An exchange is what one person says (in one or more turns) and the answer to it (in one or more turns);
    whoever takes the floor after the answer opens the next, and so does whoever goes on after `LONGEST_EXCHANGE` turns.
    The rule looks only backwards, so turns that come one by one are cut as in bulk.
    """
    if not speakers or len(speakers) >= LONGEST_EXCHANGE:
        return True
    answered = any(one != speakers[0] for one in speakers)
    return answered and speaker != speakers[-1]


_last_id = 0
_id_lock = threading.Lock()


def new_id() -> str:
    """A turn's id: milliseconds, then chance, so that ids sort as they were made."""
    global _last_id  # noqa: PLW0603
    with _id_lock:
        _last_id = max(_last_id + 1, time.time_ns() // 1_000_000)
        stamp = _last_id
    return f"t{stamp:012x}{os.urandom(5).hex()}"


T = TypeVar("T")


# What of a turn is embedded


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
