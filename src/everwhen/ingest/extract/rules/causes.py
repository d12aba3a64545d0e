"""Cause and effect between the events of a sentence, where the text says because, so or after."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.ingest.extract.base import CausalLink
from everwhen.ingest.extract.rules.event_draft import EventDraft

BECAUSE, SO, AFTER = 0.8, 0.7, 0.5


def causes(drafts: Sequence[EventDraft], first: int) -> list[CausalLink]:
    """Links between the drafts of a turn; `first` is the place of the first among all events."""
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
