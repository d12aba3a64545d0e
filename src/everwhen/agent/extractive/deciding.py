"""Yes or no: the event or the sentence that has the question's words, and whether it says that it is so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from everwhen.agent.bank import Bank
from everwhen.agent.extractive import wording
from everwhen.agent.extractive.choosing import Chosen
from everwhen.agent.extractive.drafts import Draft
from everwhen.agent.extractive.evidence import Found
from everwhen.agent.extractive.terms import function_words, stems_of
from everwhen.types import Citation, Event
from everwhen.when import Interval, constraint

SUPPORTED = 0.5
"""The share of the question's words that a sentence or its turn must have to speak of the same."""
DATED = 0.35
"""The same for an event on the very day that the question names: the day says the rest."""
_CLAUSE = re.compile(r"[,;:–—]|\bbut\b|\band\b|\bbecause\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|no longer|instead of|refus\w+|cancel\w*|"
    r"\w+n['’]t)\b",
    re.IGNORECASE,
)


def decide(bank: Bank, found: Found, chosen: Sequence[Chosen], at: datetime) -> Draft:
    """Yes or No with what says so; nothing where no words speak of it."""
    window = constraint(found.asked.words, at, bank.zone)
    turned = bool(re.match(r"^\W*\w+n['’]t\b", found.asked.words))  # "Didn't she move?" asks whether she did
    denies = bool(_DENIED.search(found.asked.words)) and not turned
    if window is not None and window.interval is not None:
        event = _on_the_day(bank, found, window.interval)
        if event is not None:
            yes = (event.status != "negated") != denies
            quote = event.text or f"{event.subject} {event.verb} {event.object}"
            citations = _of_event(bank, event)
            body = citations[0].quote if citations else quote
            text = f'{"Yes" if yes else "No"}. {citations[0].speaker}: "{body}"' if citations else quote
            kept = (event.occurred,) if event.occurred else ()
            return Draft("yes or no, by the calendar", text, citations, kept, confidence=event.confidence)
    for one in chosen:
        sentence = one.sentence
        if sentence.asks or not sentence.theirs or not sentence.has_names:
            continue
        if max(sentence.cover, sentence.turn_cover) < SUPPORTED:
            continue
        yes = denied(sentence.text, found) == denies
        cited = Citation(sentence.turn.id, one.quote, sentence.turn.said_at, sentence.turn.speaker)
        return Draft(
            "yes or no, by a sentence",
            wording.said("Yes" if yes else "No", one.quote, sentence.turn),
            (cited,),
        )
    return Draft("yes or no", reason="nothing that was said speaks of it")


def denied(text: str, found: Found) -> bool:
    """Whether the clause that has most of the question's words denies them: another one's "not" is not meant."""
    clauses = [part for part in _CLAUSE.split(text) if part.strip()]
    covers = [found.terms.cover(stems) for stems in stems_of(clauses)]
    best = max(covers, default=0.0)
    meant = [clause for clause, cover in zip(clauses, covers, strict=True) if cover == best]
    return bool(meant) and all(_DENIED.search(clause) for clause in meant)


def choose_side(found: Found, chosen: Sequence[Chosen]) -> Draft:
    """A question that offers two: the sentence that has the words of one of them."""
    for one in chosen:
        if not one.sentence.asks and one.sentence.theirs:
            cited = Citation(
                one.sentence.turn.id, one.quote, one.sentence.turn.said_at, one.sentence.turn.speaker
            )
            return Draft("best sentence", wording.said("", one.quote, one.sentence.turn), (cited,))
    return Draft("best sentence", reason="nothing that was said speaks of it")


def _on_the_day(bank: Bank, found: Found, window: Interval) -> Event | None:
    """The best event inside of the time that the question names."""
    near = bank.events(about=found.asked.words, between=window)
    dated = [one for one in near if not one.inferred and one.occurred and _inside(one.occurred, window)]
    stems = stems_of([f"{one.text} {one.verb} {one.object} {' '.join(one.aliases)}" for one in dated])
    # "Come" and "go" tell little elsewhere; of somebody, on a day, they are what happened.
    verbs = stems_of([found.asked.words])[0] - function_words()
    best: tuple[float, Event] | None = None
    for event, held in zip(dated, stems, strict=True):
        if found.names and not any(name in event.subject.lower() for name in found.names):
            continue
        cover = found.terms.cover(held) + DATED * bool(found.names and verbs & held)
        if cover >= DATED and (best is None or cover > best[0]):
            best = (cover, event)
    return best[1] if best else None


def _inside(occurred: Interval, window: Interval) -> bool:
    length = occurred.length
    return length is not None and length.days <= 31 and occurred.overlaps(window)


def _of_event(bank: Bank, event: Event) -> tuple[Citation, ...]:
    if not event.turns:
        return ()
    turn = bank.turn(event.turns[0])
    return (Citation(turn.id, turn.text, turn.said_at, turn.speaker),)
