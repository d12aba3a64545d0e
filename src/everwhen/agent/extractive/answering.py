"""One question, from its words to an answer with citations or a refusal that says what was searched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from everwhen.agent.bank import Bank
from everwhen.agent.extractive import counting, deciding, timing, wording
from everwhen.agent.extractive.abstaining import probability, signs, threshold
from everwhen.agent.extractive.choosing import Chosen, choose
from everwhen.agent.extractive.drafts import Draft
from everwhen.agent.extractive.evidence import Found, look
from everwhen.agent.extractive.kinds import read_kind
from everwhen.types import Answer, Citation

NAMED = 3
"""Persons or places that a short answer names."""


OF_THE_CALENDAR = ("yes or no, by the calendar", "compare")
"""Ways of answering that need no further sign: the calendar has the very event, of the very person, on that day; or
both of the events that are compared, and no single turn tells of two."""
SPOKEN_OF = 0.2
"""The share of the question's words that a turn, with the one that it replies to, must have: only then can a name or a
number in it be the answer."""


def ask(bank: Bank, question: str, *, at: datetime, as_of: datetime | None = None) -> Answer:
    """Answer from what was said, without a model; `trace["how"]` tells which way."""
    found = look(bank, read_kind(question), at=at, as_of=as_of)
    chance = probability(found)
    draft = _draft(bank, found, at)
    trace = {
        "method": "extractive",
        "kind": found.asked.kind,
        "how": draft.how,
        "answerable": round(chance, 3),
        "signs": {name: round(value, 3) for name, value in signs(found).items()},
        "searched": {"turns": [turn.id for turn in found.turns], "terms": sorted(found.terms.weights)},
    }
    refused = draft.reason if not draft.text else ""
    if not refused and chance < threshold(found.asked.kind) and draft.how not in OF_THE_CALENDAR:
        refused = wording.why_not(found)
    if refused:
        near = tuple(one.citation() for one in found.sentences[:1])
        return Answer(
            wording.refusal(found, refused),
            near,
            abstained=True,
            confidence=round(1 - chance, 3),
            trace=trace,
        )
    sure = 1.0 if draft.how == "compare" else chance
    confidence = chance if draft.confidence is None else min(sure, draft.confidence)
    return Answer(draft.text, draft.citations, draft.intervals, confidence=round(confidence, 3), trace=trace)


def _draft(bank: Bank, found: Found, at: datetime) -> Draft:
    asked = found.asked
    match asked.kind:
        case "when":
            return timing.date(bank, asked, at)
        case "between":
            return timing.between(bank, asked, at)
        case "first":
            return timing.first(bank, asked, at)
    chosen = choose(found)
    match asked.kind:
        case "since" | "lasting":
            told = next((one for one in chosen if one.spans and _good(one)), None)
            if told is not None and (asked.kind == "lasting" or told.sentence.cover >= 0.5):
                return _sentence(told, told.spans[0])
            if asked.kind == "since":
                return timing.since(bank, asked, at)
            return Draft("best sentence", reason="how long was never told")
        case "count":
            return counting.count(bank, found, chosen, at)
        case "yes or no":
            return deciding.decide(bank, found, chosen, at)
        case "choice":
            return deciding.choose_side(found, chosen)
    return _best(found, chosen)


def _best(found: Found, chosen: Sequence[Chosen]) -> Draft:
    """The best sentence; where the kind has a form, one that has it."""
    good = [one for one in chosen if _good(one)]
    if found.asked.kind in ("who", "where", "amount", "name"):
        fitting = [one for one in good if one.spans and one.sentence.around >= SPOKEN_OF]
        if not fitting:
            return Draft("best sentence", reason=_lacking(found.asked.kind))
        return _sentence(fitting[0], ", ".join(fitting[0].spans[:NAMED]))
    if not good:
        return Draft("best sentence", reason="nothing that was said answers it")
    return _sentence(good[0], "")


def _sentence(one: Chosen, short: str) -> Draft:
    turn, quote = one.sentence.turn, one.quote
    cited = Citation(turn.id, quote, turn.said_at, turn.speaker)
    named = short[:1].upper() + short[1:]
    return Draft("best sentence", wording.said(named, quote, turn), (cited,))


def _good(one: Chosen) -> bool:
    return one.sentence.theirs and not one.sentence.asks


def _lacking(kind: str) -> str:
    return {
        "who": "nobody is named for it",
        "where": "no place is told for it",
        "amount": "no number is told for it",
        "name": "what it is called was never told",
    }[kind]
