"""One clause, several times: "in 2016, 2018 and 2023", "to Lisbon in March and to Porto in April"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.rules.clause_times import DatedExpression, SpeechTime, on_the_side, side_of
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.ingest.extract.rules.event_draft import EventDraft

MOST = 5
"""Times of one clause that are told as events of their own."""
_JOINTS = frozenset({"and", "or", ",", "&", "then", ";"})


def further(
    draft: EventDraft, times: Sequence[DatedExpression], parse: Parse, coref: Coreference, moment: SpeechTime
) -> list[EventDraft]:
    """The other times of a draft's clause, each as an event: its own place where one stands before it."""
    points = [one for one in times if one.interval is not None and one.ref.kind == "point"]
    points.sort(key=lambda one: one.words[0].i)
    if not 2 <= len(points) <= MOST or draft.inferred or points[0].ref.text != draft.expression:
        return []
    found: list[EventDraft] = []
    for last, dated in pairwise(points):
        between = parse.words[last.words[-1].i + 1 : dated.words[0].i]
        if not between or between[0].lower not in _JOINTS or any(w.pos in ("VERB", "AUX") for w in between):
            return []
        placed = on_the_side(dated, side_of(draft.status, False), parse.text, moment)
        if placed.interval is None or any(placed.interval.overlaps(one.occurred) for one in (draft, *found)):
            return []
        place = _place(between)
        where = coref.tell(place) if any(word.pos in ("NOUN", "PROPN") for word in place) else draft.object
        found.append(
            replace(draft, object=where, occurred=placed.interval, expression=placed.ref.text, quantity="")
        )
    return found


def _place(between: Sequence[Word]) -> list[Word]:
    """The words between two times without what joins them and the second one's preposition."""
    words = [word for word in between if word.lower not in _JOINTS and word.pos not in ("PUNCT", "SPACE")]
    return words[:-1] if words and words[-1].pos == "ADP" else words
