"""What the talk was about, told by itself: its telling sentences with the first person turned into names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from everwhen.ingest.extract.base import ExtractedNarrative, Network
from everwhen.ingest.extract.rules.event_draft import ParsedTurn
from everwhen.ingest.extract.rules.modality import is_statement
from everwhen.ingest.extract.rules.opinions import Opinion, opinions
from everwhen.ingest.extract.topics import steps, topics
from everwhen.types import Turn
from everwhen.when import Interval

SHORTEST = 5
"""Words of a sentence that is worth telling."""
SENTENCES, ANSWER_SENTENCES = 4, 2
"""Sentences that are told of a turn, and of an assistant's."""
CONFIDENCE = 0.6
_DECIDING = frozenset({"decide", "choose", "agree", "let"})


@dataclass(frozen=True, slots=True)
class NarrativeTurn:
    """A turn as a narrative tells it: the little of it that is kept when the talk goes on."""

    turn: str
    assistant: bool
    line: str
    eventful: bool
    occurred: Interval | None
    entities: tuple[str, ...]
    opinions: tuple[Opinion, ...] = ()


def narrative_turn(one: ParsedTurn) -> NarrativeTurn:
    """A turn, told by somebody else."""
    return NarrativeTurn(
        one.turn.id,
        one.turn.role == "assistant",
        _line(one),
        bool(one.drafts),
        _hull([draft.occurred for draft in one.drafts if not draft.inferred]),
        one.entities,
        opinions(one.read, one.drafts, one.coref, answer=one.turn.role == "assistant"),
    )


def narratives(
    turns: Sequence[Turn],
    tellings: Mapping[str, NarrativeTurn],
    fresh: frozenset[str],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    whole: bool,
) -> list[ExtractedNarrative]:
    """One narrative for each topic that tells something, as far as new turns may have changed it, and the opinions
    in it, each by itself.

    `whole` says that the turns begin where the session does. Of an exchange in which nothing is told to have happened
    no word is kept.
    """
    taken = steps(turns)
    found = []
    for places in topics(taken, vectors, fresh, whole=whole):
        several: list[NarrativeTurn] = []
        for place in places:
            step = [tellings[turn.id] for turn in taken[place] if turn.id in tellings]
            several += [one for one in step if one.line] if any(one.eventful for one in step) else []
        if several:
            found.append(_narrative(several))
        found += [
            _opinion(tellings[turn.id], one)
            for place in places
            for turn in taken[place]
            if turn.id in tellings
            for one in tellings[turn.id].opinions
        ]
    return found


def _opinion(told: NarrativeTurn, held: Opinion) -> ExtractedNarrative:
    names = tuple(name for name in told.entities if name.casefold() in held.text.casefold())
    return ExtractedNarrative(held.text, (told.turn,), "opinion", held.confidence, None, names)


def _narrative(several: Sequence[NarrativeTurn]) -> ExtractedNarrative:
    return ExtractedNarrative(
        text=" ".join(one.line for one in several),
        turns=tuple(one.turn for one in several),
        network=_network(several),
        confidence=CONFIDENCE,
        occurred=_hull([one.occurred for one in several if one.occurred is not None]),
        entities=tuple(dict.fromkeys(name for one in several for name in one.entities)),
    )


def _network(several: Sequence[NarrativeTurn]) -> Network:
    return "experience" if all(one.assistant for one in several) else "world"


def _hull(intervals: Sequence[Interval]) -> Interval | None:
    """What covers the dated events; None where there is none."""
    return reduce(Interval.hull, intervals) if intervals else None


def _line(one: ParsedTurn) -> str:
    """The sentences of a turn that tell something, as somebody else would tell them: what was decided before what
    happened, and that before the rest, where there is no room for all."""
    worth = {id(word): 1 + (draft.status == "planned") for draft in one.drafts for word in draft.words}
    sentences = []
    for passage, parse in one.read:
        one.coref.offset = passage.start
        for sentence in parse.sentences:
            text = parse.text[sentence[0].start : sentence[-1].end]
            if is_statement(sentence, text, passage, SHORTEST):
                decided = any(word.lemma in _DECIDING for word in sentence)
                rank = max(worth.get(id(word), 0) for word in sentence)
                sentences.append((2 if decided else rank, _stopped(one.coref.tell(sentence))))
    if not sentences:
        return ""
    most = ANSWER_SENTENCES if one.turn.role == "assistant" else SENTENCES
    places = sorted(range(len(sentences)), key=lambda place: -sentences[place][0])[:most]
    told = " ".join(sentences[place][1] for place in sorted(places))
    named = one.turn.speaker.lower() in told.lower()
    return told if named else f"{one.turn.speaker} said: {told}"


def _stopped(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
