"""Events without a verb: dated fragments ("Dentist on Thursday"), and the items of a list under a dated header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.grammar.word_lists import MANNERS
from everwhen.ingest.extract.rules.clause_times import DatedExpression, SpeechTime, expressions, on_the_side
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.ingest.extract.rules.event_draft import LOOSE, EventDraft

_TODO = re.compile(
    r"\b(?:to-?do|to do|plans?|planned|agenda|goals?|next steps|upcoming|need to|must|shopping list)\b", re.I
)


@dataclass(frozen=True, slots=True)
class ListHeader:
    """What the line above a list says for each item: a time, and whether it lies ahead."""

    dated: DatedExpression | None = None
    ahead: bool = False


def header_of(parse: Parse, moment: SpeechTime, *, plans: bool) -> ListHeader:
    """What a line says about the list under it; only a person's list can be of what that person plans."""
    dated = next((one for one in expressions(parse, moment) if one.interval is not None), None)
    return ListHeader(dated, plans and bool(_TODO.search(parse.text)))


def fragment(
    sentence: Sequence[Word],
    dated: DatedExpression,
    parse: Parse,
    coref: Coreference,
    moment: SpeechTime,
    header: ListHeader,
) -> EventDraft | None:
    """A dated sentence without a verb: "Dentist on Thursday at 3". The time may be the header's."""
    if dated is not header.dated:
        dated = on_the_side(dated, "future" if header.ahead else "nearest", parse.text, moment)
    inside = {word.i for word in dated.words if word in sentence}
    rest = [
        word
        for word in sentence
        if word.i not in inside and word.pos not in ("PUNCT", "SPACE", "INTJ", "SYM")
    ]
    nouns = [word for word in rest if word.pos in ("NOUN", "PROPN")]
    if dated.interval is None or not nouns or rest[0].lower in MANNERS:
        return None
    head = next((word for word in nouns if word.dep in ("ROOT", "nsubj", "dobj")), nouns[0])
    ahead = dated.interval.start is not None and dated.interval.start > moment.at
    return EventDraft(
        subject=coref.speaker,
        verb="have",
        object=coref.phrase(head, inside),
        text=f"{coref.speaker}: {coref.tell([word for word in sentence if word.pos != 'SPACE'])}",
        occurred=dated.interval,
        expression=dated.ref.text,
        inferred=False,
        status="planned" if ahead or header.ahead else "happened",
        polarity=1,
        quantity="",
        confidence=LOOSE,
        words=tuple(sentence),
    )
