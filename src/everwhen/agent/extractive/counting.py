"""How many: a number that was said of the thing, else the distinct events of the calendar that are of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from everwhen.agent.bank import Bank
from everwhen.agent.extractive import typed, wording
from everwhen.agent.extractive.choosing import Chosen
from everwhen.agent.extractive.drafts import Draft
from everwhen.agent.extractive.evidence import Found
from everwhen.agent.extractive.terms import stems_of
from everwhen.types import Citation, Event
from everwhen.when import constraint

HAPPENED = ("happened", "ongoing")
COVERED = 0.6
"""The share of the question's words that an event must have to be one of those counted."""
SPOKEN_OF = 0.2
"""The share of them that a turn, with the one before it, must have before a number in it can be the answer."""
NAMED = 4
"""Things that a count names."""


def count(bank: Bank, found: Found, chosen: Sequence[Chosen], at: datetime) -> Draft:
    """A number, and what it rests on."""
    said = _said(found, chosen)
    if said is not None:
        return said
    events = _counted(bank, found, at)
    if len(events) > 1 or (events and "time" in found.asked.noun.lower()):
        return _listed(events)
    numbered = next((one for one in chosen if _numbers_it(found, one)), None)
    if numbered is not None:
        return _quoted(numbered, numbered.spans[0])
    if events:
        return _listed(events)
    return Draft("count", reason="no number of it was told, and no such events are in the calendar")


def _said(found: Found, chosen: Sequence[Chosen]) -> Draft | None:
    """A number that stands before the noun itself; the newest where the present one is asked for."""
    told = []
    for one in chosen:
        number = typed.number_before(found.asked.noun, one.sentence.turn.text)
        if number and one.sentence.theirs and one.sentence.has_names and not one.sentence.asks:
            told.append((one, number))
    if not told:
        return None
    if found.asked.now:
        told.sort(key=lambda pair: pair[0].sentence.turn.said_at, reverse=True)
    return _quoted(*told[0])


def _numbers_it(found: Found, one: Chosen) -> bool:
    """Whether a sentence has a number that may be of the thing under another name: one that has the thing's own name
    beside another number counts something else."""
    sentence = one.sentence
    itself = found.terms.weights.keys() & stems_of([found.asked.noun])[0] & stems_of([sentence.text])[0]
    return (
        bool(one.spans)
        and not itself
        and sentence.theirs
        and sentence.has_names
        and not sentence.asks
        and sentence.around >= SPOKEN_OF
    )


def _counted(bank: Bank, found: Found, at: datetime) -> list[Event]:
    """The events that the question is about, those that are told twice once."""
    window = constraint(found.asked.words, at, bank.zone)
    near = bank.events(about=found.asked.words, between=window.interval if window else None)
    stems = stems_of([f"{one.verb} {one.object} {' '.join(one.aliases)}" for one in near])
    kept: dict[tuple[str, str], Event] = {}
    for event, held in zip(near, stems, strict=True):
        if event.status not in HAPPENED or found.terms.cover(held) < COVERED:
            continue
        if found.names and not any(name in event.subject.lower() for name in found.names):
            continue
        day = event.occurred.start.date().isoformat() if event.occurred and event.occurred.start else ""
        kept.setdefault((event.object.lower(), "" if event.object else day), event)
    return list(kept.values())


def _listed(events: Sequence[Event]) -> Draft:
    named = "; ".join(event.text or f"{event.verb} {event.object}".strip() for event in events[:NAMED])
    more = "; …" if len(events) > NAMED else ""
    citations = [
        Citation(event.turns[0], event.text or event.object, event.said_at, event.subject)
        for event in events
        if event.turns and event.said_at
    ]
    return Draft(
        "events counted",
        f"{len(events)}, counted in the calendar: {named}{more}.",
        wording.unique(citations),
        tuple(event.occurred for event in events if event.occurred),
    )


def _quoted(one: Chosen, number: str) -> Draft:
    sentence = one.sentence
    short = number[:1].upper() + number[1:]
    return Draft("number said", wording.said(short, one.quote, sentence.turn), (_cited(one),))


def _cited(one: Chosen) -> Citation:
    return Citation(one.sentence.turn.id, one.quote, one.sentence.turn.said_at, one.sentence.turn.speaker)
