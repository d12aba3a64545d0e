"""The rule extractor: batches of turns to events, narratives, entities and facts, with no model but a parser."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.ingest.extract.base import OVERLAP_TURNS, Batch, ExtractedEntity, ExtractedEvent, Extraction
from everwhen.ingest.extract.rules.cleaning import Passage, passages
from everwhen.ingest.extract.rules.events import Draft, Header, events, header_of
from everwhen.ingest.extract.rules.names import entities
from everwhen.ingest.extract.rules.parsing import Parse, parser
from everwhen.ingest.extract.rules.times import Moment
from everwhen.ingest.extract.rules.voices import Referents, Voices, people_in
from everwhen.types import Turn

VERSION = "1"


class RuleExtractor:
    """Keeps the `Extractor` protocol with grammar and the time grammar alone."""

    name = "rules"
    version = VERSION

    def extract(self, batch: Batch) -> Extraction:
        turns = (*batch.before, *batch.turns)
        texts = [passages(turn.text) if turn.role != "tool" else [] for turn in turns]
        parses = iter(parser().parse([passage.text for found in texts for passage in found]))
        referents = Referents()
        found: list[ExtractedEvent] = []
        named: list[ExtractedEntity] = []
        for number, (turn, mine) in enumerate(zip(turns, texts, strict=True)):
            voices = Voices(
                turn.speaker, _listener(turn, turns[max(0, number - OVERLAP_TURNS) : number]), number
            )
            voices.referents = referents
            read = [(passage, next(parses)) for passage in mine]
            drafts = _turn_events(turn, read, voices)
            if number >= len(batch.before):
                names = entities(turn, [parse for _, parse in read])
                named += names
                found += [_event(draft, turn, names) for draft in drafts]
        return Extraction(self.name, self.version, events=tuple(found), entities=tuple(named))


def _listener(turn: Turn, before: Sequence[Turn]) -> str | None:
    """Whom "you" means: the one other person who spoke in the turns before. Only those count, so that a turn
    is read the same whether it came alone or in a batch."""
    others = {one.speaker for one in before if one.speaker != turn.speaker and one.role != "tool"}
    return next(iter(others)) if len(others) == 1 else None


def _turn_events(turn: Turn, read: list[tuple[Passage, Parse]], voices: Voices) -> list[Draft]:
    moment = Moment(turn.said_at, turn.zone)
    drafts: list[Draft] = []
    headers: dict[str, Header] = {}
    for passage, parse in read:
        voices.offset = passage.start
        for head, name, gender in people_in(parse, voices):
            if name not in (voices.speaker, voices.listener):
                voices.referents.note(voices.turn, passage.start + head.start, name, gender)
        if not passage.item:
            headers[passage.text.strip()] = header_of(parse, moment)
        header = headers.get(passage.header, Header()) if passage.item else Header()
        if not passage.heads:
            drafts += events(passage, parse, voices, moment, header, drafts[-1:])
    return drafts


def _event(draft: Draft, turn: Turn, names: list[ExtractedEntity]) -> ExtractedEvent:
    told = f"{draft.subject} {draft.text}".casefold()
    return ExtractedEvent(
        subject=draft.subject,
        verb=draft.verb,
        object=draft.object,
        text=draft.text,
        turns=(turn.id,),
        occurred=draft.occurred,
        expression=draft.expression,
        inferred=draft.inferred,
        status=draft.status,
        polarity=-1 if draft.polarity < 0 else 1,
        quantity=draft.quantity,
        confidence=draft.confidence,
        entities=tuple(one.name for one in names if one.name.casefold() in told),
        network="experience" if turn.role == "assistant" and draft.subject == turn.speaker else "world",
    )
