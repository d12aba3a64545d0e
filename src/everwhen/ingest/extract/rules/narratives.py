"""What an exchange was about, told by itself: its telling sentences with the first person turned into names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.base import ExtractedNarrative, Network
from everwhen.ingest.extract.rules.cleaning import Passage
from everwhen.ingest.extract.rules.draft import Draft
from everwhen.ingest.extract.rules.lexicon import MANNERS
from everwhen.ingest.extract.rules.modality import asked, is_ironic
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.voices import Voices
from everwhen.types import Turn
from everwhen.when import Interval

SHORTEST = 5
"""Words of a sentence that is worth telling."""
SENTENCES, ANSWER_SENTENCES = 4, 2
"""Sentences that are told of a turn, and of an assistant's."""
CONFIDENCE = 0.6


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as the narrative reads it."""

    turn: Turn
    read: Sequence[tuple[Passage, Parse]]
    drafts: Sequence[Draft]
    voices: Voices
    entities: tuple[str, ...]


def narratives(told: Sequence[Told], fresh: frozenset[str]) -> list[ExtractedNarrative]:
    """One narrative for each exchange that tells something and has a new turn in it."""
    exchanges: dict[str, list[Told]] = {}
    for one in told:
        exchanges.setdefault(one.turn.segment or one.turn.id, []).append(one)
    found = []
    for several in exchanges.values():
        if fresh.isdisjoint(one.turn.id for one in several) or not any(one.drafts for one in several):
            continue
        lines = [(one, line) for one in several if (line := _line(one))]
        if lines:
            found.append(_narrative([one for one, _ in lines], [line for _, line in lines]))
    return found


def _narrative(told: Sequence[Told], lines: Sequence[str]) -> ExtractedNarrative:
    names = tuple(dict.fromkeys(name for one in told for name in one.entities))
    return ExtractedNarrative(
        text=" ".join(lines),
        turns=tuple(one.turn.id for one in told),
        network=_network(told),
        confidence=CONFIDENCE,
        occurred=_hull([draft.occurred for one in told for draft in one.drafts if not draft.inferred]),
        entities=names,
    )


def _network(told: Sequence[Told]) -> Network:
    return "experience" if all(one.turn.role == "assistant" for one in told) else "world"


def _hull(intervals: Sequence[Interval]) -> Interval | None:
    """What covers the dated events; None where there is none."""
    if not intervals:
        return None
    whole = intervals[0]
    for interval in intervals[1:]:
        whole = whole.hull(interval)
    return whole


def _line(one: Told) -> str:
    """The sentences of a turn that tell something, as somebody else would tell them."""
    sentences = []
    for passage, parse in one.read:
        one.voices.offset = passage.start
        for sentence in parse.sentences:
            if _tells(sentence, passage, parse):
                sentences.append(_stopped(one.voices.tell(sentence)))
    if not sentences:
        return ""
    most = ANSWER_SENTENCES if one.turn.role == "assistant" else SENTENCES
    told = " ".join(sentences[:most])
    named = one.turn.speaker.lower() in told.lower()
    return told if named else f"{one.turn.speaker} said: {told}"


def _tells(sentence: Sequence[Word], passage: Passage, parse: Parse) -> bool:
    words = [word for word in sentence if word.pos not in ("PUNCT", "SPACE")]
    if len(words) < SHORTEST or words[0].lower in MANNERS or passage.quoted(sentence[0].start):
        return False
    return not asked(tuple(sentence)) and not is_ironic(parse.text[sentence[0].start : sentence[-1].end])


def _stopped(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
