"""An event before it is named and written, the wording of its clause, and which event caused which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.types import Turn
from everwhen.write.extract.base import CausalLink, ExtractedEvent
from everwhen.write.extract.grammar.cleaning import ProseLine
from everwhen.write.extract.grammar.parsing import Parse, Word
from everwhen.write.extract.grammar.word_lists import vocabulary
from everwhen.write.extract.rules.clause_times import DatedExpression
from everwhen.write.extract.rules.clauses import PLACES, Clause
from everwhen.write.extract.rules.coreference import Coreference

SURE, INFERRED, LOOSE = 0.85, 0.5, 0.5
"""Confidence of an event whose clause is dated, of one dated by its turn, and of one told without a verb."""
BECAUSE, SO, AFTER = 0.8, 0.7, 0.5
"""Confidence that one event caused another, by the word that says so."""
_OPENERS = vocabulary("when while after before because so then also btw anyway plus")


@dataclass(frozen=True, slots=True)
class EventDraft:
    """What a clause, a fragment or a list item tells, with the words that tell it."""

    event: ExtractedEvent
    words: tuple[Word, ...] = ()
    clause: Clause | None = None


@dataclass(frozen=True, slots=True)
class ParsedTurn:
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
        above = places.get(id(clause.parent)) if clause is not None and clause.parent is not None else None
        if clause is None or above is None:
            continue
        if clause.link in ("because", "after"):
            sure = BECAUSE if clause.link == "because" else AFTER
            found.append(CausalLink(first + place, first + above, sure))
        elif clause.link == "joined" and any(word.lower == "so" for word in draft.words[:2]):
            found.append(CausalLink(first + above, first + place, SO))
    return found


def object_of(clause: Clause, times: Sequence[DatedExpression], coref: Coreference) -> str:
    word = clause.object
    temporal = {one.i for dated in times for one in dated.words}
    if word is not None and (word.i in temporal or _leads_to(word, temporal)):
        roles = ("dobj", "attr", "acomp", "prep", "dative")
        after = (one for one in clause.verb.children if one.i > clause.verb.i and one.i not in temporal)
        others = (one for one in after if one.dep in roles or one.lower in PLACES)
        word = next((one for one in others if not _leads_to(one, temporal)), None)
    if word is None:
        # "sold her flat last week": the parser hung what was sold on the time
        near = [one for child in clause.verb.children if child.dep == "npadvmod" for one in child.subtree()]
        left = [one for one in near if one.i > clause.verb.i and one.i not in temporal]
        return coref.tell(left) if temporal and len(left) > 1 else ""
    if word.dep in ("prep", "agent"):
        target = word.child("pobj")
        return f"{word.lower} {coref.phrase(target, temporal)}" if target is not None else ""
    if word.pos in ("VERB", "AUX"):
        return coref.tell([one for one in word.subtree() if one.i not in temporal][:10])
    return coref.phrase(word, temporal)


def _leads_to(word: Word, temporal: set[int]) -> bool:
    target = word.child("pobj")
    if target is None or target.i in temporal:
        return target is not None
    return target.i + 1 in temporal and any(child.i in temporal for child in target.children)


def sentence_of(clause: Clause, words: Sequence[Word], subject: str, coref: Coreference) -> str:
    """The clause as a sentence that can be read alone."""
    words = [word for word in words if word.dep != "intj" and word.pos != "SPACE" and word.text not in "!?…"]
    while words and (
        words[0].dep in ("cc", "mark", "intj")
        or words[0].pos in ("PUNCT", "CCONJ", "INTJ")
        or words[0].lower in _OPENERS
    ):
        words = words[1:]
    while words and words[-1].pos in ("PUNCT", "CCONJ"):
        words = words[:-1]
    if len(words) > 2 and words[0].pos == "PROPN" and words[1].text == "," and words[0] is not clause.subject:
        words = words[2:]  # "Eva, you did it"
    if clause.link == "relative" and clause.object is clause.first.head and clause.verb in words:
        place = words.index(clause.verb) + 1  # "a shelf I built": "Ana built a shelf"
        parts = (coref.tell(words[:place]), coref.phrase(clause.object), coref.tell(words[place:]))
        return " ".join(part for part in parts if part)
    told = coref.tell(words)
    if (clause.subject is None or clause.inherited) and not told.casefold().startswith(subject.casefold()):
        proper = bool(words) and words[0].pos == "PROPN"
        told = f"{subject} {told if proper else told[:1].lower() + told[1:]}"
    return told


def quantity_of(words: Sequence[Word], times: Sequence[DatedExpression]) -> str:
    temporal = {one.i for dated in times for one in dated.words}
    for word in words:
        if word.pos == "NUM" and word.i not in temporal and word.dep in ("nummod", "dobj", "attr", "pobj"):
            if word.dep == "nummod":
                between = [one for one in words if word.i <= one.i <= word.head.i]
                return " ".join(one.text for one in between[:4])
            return word.text
    return ""
