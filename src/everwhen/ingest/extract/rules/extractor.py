"""The rule extractor: batches of turns to events, narratives, entities and facts, with no model but a parser."""

from __future__ import annotations

from everwhen.ingest.extract.base import Batch, ExtractedEvent, Extraction
from everwhen.ingest.extract.rules.cleaning import Passage, passages
from everwhen.ingest.extract.rules.events import Draft, Header, events, header_of
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
        speakers = list(dict.fromkeys(turn.speaker for turn in turns if turn.role != "tool"))
        referents = Referents()
        found: list[ExtractedEvent] = []
        for number, (turn, mine) in enumerate(zip(turns, texts, strict=True)):
            others = [name for name in speakers if name != turn.speaker]
            voices = Voices(turn.speaker, others[0] if len(others) == 1 else None, number, referents)
            read = [(passage, next(parses)) for passage in mine]
            drafts = _turn_events(turn, read, voices)
            if number >= len(batch.before):
                found += [_event(draft, turn) for draft in drafts]
        return Extraction(self.name, self.version, events=tuple(found))


def _turn_events(turn: Turn, read: list[tuple[Passage, Parse]], voices: Voices) -> list[Draft]:
    moment = Moment(turn.said_at, turn.zone)
    drafts: list[Draft] = []
    headers: dict[str, Header] = {}
    for passage, parse in read:
        for _, name, gender in people_in(parse, voices):
            if name not in (voices.speaker, voices.listener):
                voices.referents.note(voices.turn, name, gender)
        if not passage.item:
            headers[passage.text.strip()] = header_of(parse, moment)
        header = headers.get(passage.header, Header()) if passage.item else Header()
        drafts += events(passage, parse, voices, moment, header)
    return drafts


def _event(draft: Draft, turn: Turn) -> ExtractedEvent:
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
        network="experience" if turn.role == "assistant" and draft.subject == turn.speaker else "world",
    )
