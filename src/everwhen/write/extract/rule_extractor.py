"""The rule extractor: batches of turns to events, narratives, entities and facts, with no model but a parser."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from everwhen.models.comparison import Passage as ReaderPassage
from everwhen.models.comparison import Reader
from everwhen.models.embedder import shared_embedder
from everwhen.types import Turn
from everwhen.write.extract import fact_chance
from everwhen.write.extract.base import (
    LOOK_BACK_TURNS,
    OVERLAP_TURNS,
    Batch,
    CausalLink,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedFact,
    Extraction,
)
from everwhen.write.extract.clauses import timed
from everwhen.write.extract.events import (
    EventDraft,
    ListHeader,
    ParsedTurn,
    causes,
    event_from_time_reply,
    events_of_passage,
    header_of,
)
from everwhen.write.extract.grammar import FIRST, Parse, ProseLine, caching_parser, prose_lines
from everwhen.write.extract.names import Coreference, Referents, entities, people_in
from everwhen.write.extract.narratives import NarrativeTurn, narrative_turn, narratives
from everwhen.write.extract.stated_facts import BEFORE, FactCandidate, ReadStatement, candidates, statements

VERSION = "9"
MOST_NARRATED = 512
"""Turns whose narrative is remembered, the newest ones: a talk that goes on needs those of its last two dozen."""


class RuleExtractor:
    """Keeps the `Extractor` protocol with grammar and the time grammar alone."""

    name = "rules"
    version = VERSION

    def __init__(self, reader: Reader | None = None) -> None:
        """`reader` reads facts; without one there are none."""
        self._reader = reader
        self._embedder = shared_embedder(fact_chance.EMBEDDER)
        self._narrated: OrderedDict[tuple[str, ...], NarrativeTurn] = OrderedDict()
        self._lock = threading.Lock()

    def extract(self, batch: Batch) -> Extraction:
        turns = (*batch.earlier, *batch.before, *batch.turns)
        fresh = len(batch.earlier) + len(batch.before)
        whole = fresh < LOOK_BACK_TURNS  # the session begins here
        told_from = 0 if whole else OVERLAP_TURNS  # the turns before that are here to understand the others
        # What is known of earlier turns need not be read again; what is not is read with its own turns before it.
        with self._lock:
            kept = [self._narrated.get(_reading(turns, number)) for number in range(len(turns))]
        narrated = {turn.id: one for turn, one in zip(turns, kept, strict=True) if one}
        known = all(turn.id in narrated for turn in batch.earlier[told_from:])
        first = len(batch.earlier) if known else 0
        texts = [prose_lines(turn.text) if turn.role != "tool" else [] for turn in turns[first:]]
        parses = iter(caching_parser().parse([passage.text for found in texts for passage in found]))
        stated_by = self._statements(turns, fresh)
        referents = Referents()
        events: list[ExtractedEvent] = []
        named: list[ExtractedEntity] = []
        stated: list[FactCandidate] = []
        links: list[CausalLink] = []
        heard: list[ParsedTurn] = []
        for number, (turn, mine) in enumerate(zip(turns[first:], texts, strict=True), first):
            # Whom "you" means: the one other person who spoke in the turns before. Only those count, so that a turn
            # is read the same whether it came alone or in a batch.
            near = turns[max(0, number - OVERLAP_TURNS) : number]
            others = {one.speaker for one in near if one.speaker != turn.speaker and one.role != "tool"}
            listener = next(iter(others)) if len(others) == 1 else None
            coref = Coreference(turn.speaker, listener, number, referents=referents)
            read = [(passage, next(parses)) for passage in mine]
            drafts = _turn_events(turn, read, coref)
            parses_of_turn = [parse for _, parse in read]
            dated = event_from_time_reply(turn, parses_of_turn, heard)
            drafts += [dated] if dated is not None else []
            names = entities(turn, parses_of_turn, [timed(parse, turn) for parse in parses_of_turn])
            one = ParsedTurn(turn, read, drafts, coref, tuple(name.name for name in names))
            heard = [*heard[-1:], one]
            if number >= told_from and turn.id not in narrated:
                narrated[turn.id] = narrative_turn(one)
                with self._lock:
                    self._narrated[_reading(turns, number)] = narrated[turn.id]
                    if len(self._narrated) > MOST_NARRATED:
                        self._narrated.popitem(last=False)
            if number >= fresh:
                links += causes(drafts, len(events))
                events += [_extracted_event(draft, turn, names) for draft in drafts]
                stated += candidates(turn, stated_by.get(turn.id, []), coref, read)
                named += names
        retold = narratives(turns[told_from:], narrated, batch.ids, batch.vectors, whole=whole)
        facts = tuple(self._likely(stated))
        return Extraction(
            self.name, self.version, tuple(events), tuple(retold), tuple(named), facts, tuple(links)
        )

    def _statements(self, turns: Sequence[Turn], fresh: int) -> dict[str, list[ReadStatement]]:
        """What the new turns state, each read with the end of the turn before it."""
        if self._reader is None:
            return {}
        ends = [f"{turn.speaker}: {turn.text}"[-BEFORE:] for turn in turns]
        end_of_last = ["", *ends]
        said = [
            (turn, ReaderPassage(turn.speaker, turn.text, end_of_last[number]))
            for number, turn in enumerate(turns)
            if number >= fresh and turn.role != "tool" and is_told(turn)
        ]
        read = statements(self._reader, [passage for _, passage in said])
        return {turn.id: one for (turn, _), one in zip(said, read, strict=True)}

    def _likely(self, found: Sequence[FactCandidate]) -> list[ExtractedFact]:
        return fact_chance.likely(self._reader, self._embedder, found) if self._reader is not None else []


def is_told(turn: Turn) -> bool:
    """Whether a turn can tell facts: an assistant's essay is advice."""
    return _answer(turn) != "essay"


def _reading(turns: Sequence[Turn], number: int) -> tuple[str, ...]:
    """What the narrative of a turn depends on: itself and the turns that are read before it."""
    turn = turns[number]
    before = turns[max(0, number - OVERLAP_TURNS) : number]
    said = hashlib.blake2b(turn.text.encode("utf-8", "replace"), digest_size=12).hexdigest()
    return (turn.session, turn.id, said, turn.said_at.isoformat(), turn.zone, *(one.id for one in before))


def _turn_events(turn: Turn, read: list[tuple[ProseLine, Parse]], coref: Coreference) -> list[EventDraft]:
    drafts: list[EventDraft] = []
    answer = _answer(turn)
    headers: dict[str, ListHeader] = {}
    for passage, parse in read:
        coref.offset = passage.start
        for head, name, gender in people_in(parse, coref):
            if name not in (coref.speaker, coref.listener):
                coref.referents.note(coref.turn, passage.start + head.start, name, gender)
        if not passage.item:
            headers[passage.text.strip()] = header_of(parse, turn)
        header = headers.get(passage.header, ListHeader()) if passage.item else ListHeader()
        if not passage.heads:
            last = drafts[-1] if drafts else None
            found = events_of_passage(turn, passage, parse, coref, header, last)
            drafts += [draft for draft in found if not answer or _of_its_own(draft, passage, answer)]
    return drafts


ESSAY = 80
"""Words from which an assistant's turn is an essay: what it says of the world there is advice, not news."""


def _answer(turn: Turn) -> Literal["", "short", "essay"]:
    if turn.role != "assistant":
        return ""
    return "essay" if len(turn.text.split()) > ESSAY else "short"


def _of_its_own(draft: EventDraft, passage: ProseLine, answer: str) -> bool:
    """Whether an assistant reports something that happened: its own deeds, and in a short answer news of others.

    Lists, headings and sentences without a subject are recipes, plans for somebody and examples.
    """
    subject = draft.clause.subject if draft.clause is not None else None
    if subject is None:
        return False
    if subject.lower in FIRST:
        return True
    return answer == "short" and not passage.item and draft.event.status in ("happened", "negated")


def _extracted_event(draft: EventDraft, turn: Turn, names: list[ExtractedEntity]) -> ExtractedEvent:
    words = f"{draft.event.subject} {draft.event.text}".casefold()
    own = turn.role == "assistant" and draft.event.subject == turn.speaker
    return replace(
        draft.event,
        entities=tuple(one.name for one in names if one.name.casefold() in words),
        network="experience" if own else "world",
    )
