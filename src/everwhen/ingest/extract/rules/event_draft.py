"""Events before they are named and written: grammar and time together, and which caused which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.base import CausalLink, Status
from everwhen.ingest.extract.grammar.cleaning import ProseLine
from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.types import Turn
from everwhen.when import Interval

SURE, INFERRED, LOOSE = 0.85, 0.5, 0.5
"""Confidence of an event whose clause is dated, of one dated by its turn, and of one told without a verb."""
BECAUSE, SO, AFTER = 0.8, 0.7, 0.5
"""Confidence that one event caused another, by the word that says so."""


@dataclass(slots=True)
class EventDraft:
    """What a clause, a fragment or a list item tells."""

    subject: str
    verb: str
    object: str
    text: str
    occurred: Interval
    expression: str
    inferred: bool
    status: Status
    polarity: int
    quantity: str
    confidence: float
    words: tuple[Word, ...]
    clause: Clause | None = None


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """A turn as it was parsed, with what it tells."""

    turn: Turn
    read: Sequence[tuple[ProseLine, Parse]]
    drafts: Sequence[EventDraft]
    coref: Coreference
    entities: tuple[str, ...]


def causes(drafts: Sequence[EventDraft], first: int) -> list[CausalLink]:
    """Links between the drafts of a turn, where it says because, so or after; `first` is the place of the first among
    all events."""
    found = []
    places = {id(draft.clause): place for place, draft in enumerate(drafts) if draft.clause is not None}
    for place, draft in enumerate(drafts):
        clause = draft.clause
        if clause is None or clause.parent is None:
            continue
        above = places.get(id(clause.parent))
        if above is None:
            continue
        if clause.link in ("because", "after"):
            sure = BECAUSE if clause.link == "because" else AFTER
            found.append(CausalLink(first + place, first + above, sure))
        elif clause.link == "joined" and any(word.lower == "so" for word in draft.words[:2]):
            found.append(CausalLink(first + above, first + place, SO))
    return found
