"""Events without a verb: dated fragments ("Dentist on Thursday") and the items of a list under a header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.ingest.extract.rules.draft import LOOSE, Draft
from everwhen.ingest.extract.rules.lexicon import MANNERS
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.times import Dated, Moment, expressions
from everwhen.ingest.extract.rules.voices import Voices

_TODO = re.compile(
    r"\b(?:to-?do|to do|plans?|planned|agenda|goals?|next steps|upcoming|need to|must|shopping list)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Header:
    """What the line above a list says for each item: a time, and whether it lies ahead."""

    dated: Dated | None = None
    ahead: bool = False


def header_of(parse: Parse, moment: Moment, *, plans: bool) -> Header:
    """What a line says about the list under it; only a person's list can be of what that person plans."""
    dated = next((one for one in expressions(parse, moment) if one.interval is not None), None)
    return Header(dated, plans and bool(_TODO.search(parse.text)))


def fragment(
    sentence: Sequence[Word],
    dated: Dated,
    found: Sequence[Clause],
    voices: Voices,
    moment: Moment,
    header: Header,
) -> Draft | None:
    """A dated sentence without a verb: "Dentist on Thursday at 3"."""
    if dated.interval is None or any(clause.first.sentence == sentence[0].sentence for clause in found):
        return None
    inside = {word.i for word in dated.words}
    rest = [
        word
        for word in sentence
        if word.i not in inside and word.pos not in ("PUNCT", "SPACE", "INTJ", "SYM")
    ]
    nouns = [word for word in rest if word.pos in ("NOUN", "PROPN")]
    if not nouns or rest[0].lower in MANNERS or any(word.text.startswith("?") for word in sentence):
        return None
    if nouns[0].lower in ("time", "lol", "haha") or (len(nouns) == 1 and nouns[0].dep == "npadvmod"):
        return None
    head = next((word for word in nouns if word.dep in ("ROOT", "nsubj", "dobj")), nouns[0])
    ahead = dated.interval.start is not None and dated.interval.start > moment.at
    return Draft(
        subject=voices.speaker,
        verb="have",
        object=voices.phrase(head, inside),
        text=f"{voices.speaker}: {voices.tell([word for word in sentence if word.pos != 'SPACE'])}",
        occurred=dated.interval,
        expression=dated.ref.text,
        inferred=False,
        status="planned" if ahead or header.ahead else "happened",
        polarity=1,
        quantity="",
        confidence=LOOSE,
        words=tuple(sentence),
    )


def listed(parse: Parse, voices: Voices, moment: Moment, header: Header) -> list[Draft]:
    """A list item under a dated header: its first word is the verb, whatever the parser took it for."""
    words = [word for word in parse.words if word.pos not in ("PUNCT", "SPACE")]
    dated = header.dated
    if len(words) < 2 or not (header.ahead or (dated is not None and dated.interval is not None)):
        return []
    verb, rest = words[0], words[1:]
    interval = dated.interval if dated is not None and dated.interval is not None else moment.day()
    lemma = verb.lemma if verb.pos in ("VERB", "AUX") else verb.lower
    return [
        Draft(
            subject=voices.speaker,
            verb=lemma,
            object=voices.tell(rest[:8]),
            text=f"{voices.speaker}: {voices.tell(words)}",
            occurred=interval,
            expression=dated.ref.text if dated is not None else "",
            inferred=dated is None,
            status="planned" if header.ahead else "happened",
            polarity=1,
            quantity="",
            confidence=LOOSE,
            words=tuple(words),
        )
    ]
