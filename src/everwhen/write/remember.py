"""Messages become durable turns: placed in time, cut into exchanges, embedded, written in one transaction.

messages -> placed (session, instant, zone, id) -> without those already known -> embedded -> appended
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from everwhen.models.embedder import Embedder, count_tokens
from everwhen.models.embedding_cache import CachedEmbedder
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import NewTurn
from everwhen.store.sql.store import Store
from everwhen.types import Added, Message, Metadata, Turn
from everwhen.types.turns import line
from everwhen.write.embedding import context_of, embed_spoken, embedded_texts, spoken
from everwhen_time.zones import zone_name, zone_of

FOREVER = datetime.max.replace(tzinfo=UTC)
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
    forgotten = store.keep.forgotten([turn for turn in turns if not known.get(turn.id)])
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
