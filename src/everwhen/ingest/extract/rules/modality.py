"""Did it happen? Tense, modality, negation, questions and irony of a clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Literal

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.grammar.cleaning import ProseLine
from everwhen.ingest.extract.grammar.parsing import Word
from everwhen.ingest.extract.grammar.word_lists import (
    AHEAD,
    DENIAL,
    FAILED,
    FUTURE,
    HYPOTHETICAL,
    INVERTING,
    MANNERS,
    NOBODY,
    UNREAL,
    vocabulary,
)
from everwhen.ingest.extract.rules.clauses import Clause

Tense = Literal["past", "present", "progressive", "perfect", "future", "bare"]

_IRONIC = re.compile(
    r"""(?ix) \b (?: yeah,?\ right | as\ if | oh,?\ (?:great|joy|wonderful|fantastic|sure) | in\ your\ dreams |
        said\ no\ ?one\ ever | what\ could\ (?:possibly\ )?go\ wrong |
        sure,.* \b (?:totally|obviously|clearly|definitely|absolutely) |
        (?-i: just\ LOVE | because \b .* \b SO) ) \b
    | (?:^|\W)/s\b"""
)
_IF = frozenset({"if", "unless", "whether", "lest"})
_HAVE = frozenset({"have", "has", "'ve", "ve", "'d", "having"})
_PAST = frozenset({"had", "did", "was", "were", "got"})
_PRESENT = vocabulary("do does is are am 's 're 'm m re get gets")
_CUTS = vocabulary(", ; : - – — ... … (")
_POINTING = frozenset({"here", "there", "this", "that", "it", "these", "those"})


def is_ironic(sentence: str) -> bool:
    """Whether a sentence says that it is not meant."""
    return _IRONIC.search(sentence) is not None


def is_statement(
    sentence: Sequence[Word], text: str, passage: ProseLine, shortest: int, longest: float = inf
) -> bool:
    """Whether a sentence of so many words says something itself: no manners, quotation, question or irony."""
    words = [word for word in sentence if word.pos not in ("PUNCT", "SPACE")]
    return (
        shortest <= len(words) <= longest
        and words[0].lower not in MANNERS
        and not passage.quoted(sentence[0].start)
        and not asked(tuple(sentence))
        and not is_ironic(text)
    )


def tense(clause: Clause) -> Tense:
    """The tense of the clause's first verb with its auxiliaries."""
    helpers = {word.lower for word in clause.auxiliaries}
    tag = clause.first.tag
    if helpers & FUTURE:
        return "future"
    if helpers & _HAVE and tag in ("VBN", "VBD", "VBG"):
        return "progressive" if tag == "VBG" and "'d" not in helpers else "perfect"
    if helpers & _PAST:
        return "past"
    if tag == "VBG":
        return "progressive"
    if helpers & _PRESENT:
        return "present"  # "is booked" tells a state; a past participle without any helper is a past
    if tag in ("VBD", "VBN"):
        return "past"
    return "present" if tag in ("VBZ", "VBP") else "bare"


def status(clause: Clause) -> Status:
    """Happened, ongoing, planned, hypothetical or negated, by grammar alone; the time may still correct it."""
    helpers = {word.lower for word in clause.auxiliaries}
    introduced = [link.lemma for link in clause.chain[:-1]]
    was = bool(helpers & {"was", "were"}) or clause.first.tag == "VBD"
    if _is_unreal(clause) or (was and not {"go", "gon", "suppose"}.isdisjoint(introduced)):
        return "hypothetical"  # "was gonna take the train"
    if denied(clause):
        return "negated"
    if helpers & HYPOTHETICAL and not _is_had(clause):
        return "hypothetical"
    if any(word in AHEAD or word in ("go", "gon") for word in introduced):
        return "planned"
    if introduced and introduced[0] in ("have", "get", "got") and clause.chain[1].child("aux") is not None:
        return "happened" if clause.first.tag == "VBD" and clause.first.lemma == "have" else "planned"
    kind = tense(clause)
    if kind in ("progressive", "present"):
        return "ongoing"
    return "happened" if kind in ("past", "perfect") else "planned"


def denied(clause: Clause) -> bool:
    """Whether the clause says that it is not so."""
    children = [child for link in clause.chain for child in link.children]
    if any(_denies(child) and not _is_apart(child, clause.subject) for child in children):
        return True
    if any(word is not None and _is_none(word) for word in (clause.subject, clause.object)):
        return True
    return any(link.lemma in FAILED for link in clause.chain[:-1])


def _denies(word: Word) -> bool:
    return word.dep == "neg" or word.lower in DENIAL


def _is_apart(word: Word, subject: Word | None) -> bool:
    """ "Can't, I sprained my ankle": the denial before the comma is an answer of its own."""
    return (
        subject is not None
        and word.i < subject.i
        and any(one.text in (",", ";", ".") and word.i < one.i < subject.i for one in word.head.children)
    )


def _is_none(word: Word) -> bool:
    """ "nobody", "no train"."""
    return word.lower in NOBODY or any(child.lower in ("no", "zero", "neither") for child in word.children)


def _is_had(clause: Clause) -> bool:
    """ "I'd seen it": the 'd is a had, because a participle follows it."""
    return {word.lower for word in clause.auxiliaries} & HYPOTHETICAL == {"'d"} and clause.verb.tag == "VBN"


def _is_unreal(clause: Clause) -> bool:
    """A condition, what would follow from it, and what is only wished or supposed."""
    below = [child for link in clause.chain for child in link.children if child.dep == "advcl"]
    if any(_is_condition(word) for word in (clause.first, *below)):
        return True
    if clause.parent is None or not (clause.link == "said" or (clause.link == "joined" and clause.inherited)):
        return False
    wished = clause.link == "said" and clause.parent.verb.lemma in UNREAL
    return wished or _is_unreal(clause.parent)


def _is_condition(word: Word) -> bool:
    marker = word.child("mark", "advmod")
    return marker is not None and marker.lower in _IF


def asked(sentence: Sequence[Word]) -> set[int]:
    """The places of the words that are a question: all of the sentence, or its last part."""
    words = [word for word in sentence if word.pos != "SPACE"]
    marked = next((at for at in range(len(words) - 1, -1, -1) if words[at].text.startswith("?")), None)
    if marked is None:
        start = _inverted(words)
        return set() if start is None else {word.i for word in words[start:]}
    starts = [at + 1 for at in range(marked) if words[at].text in _CUTS]
    for start in reversed(starts):
        # A tag ("right?", "doesn't she?", "anyone in?") asks nothing about what stands before it.
        if marked - start <= 4 or _inverted(words[start:marked]) is not None:
            return {word.i for word in words[start : marked + 1]}
    return {word.i for word in words[: marked + 1]}


def _inverted(words: Sequence[Word]) -> int | None:
    """Where a question begins by its order of words: "did you …", "is the …"; None where there is none."""
    if not words or words[0].lower in _POINTING:
        return None
    for at, (helper, after) in enumerate(pairwise(words)):
        if helper.lower in INVERTING and after.pos != "VERB" and _is_subject(after, helper):
            return at
    return None


def _is_subject(word: Word, helper: Word) -> bool:
    """Whether a word is, or begins, the subject of the helper's verb."""
    head = word.head if word.dep in ("det", "poss", "compound", "amod") else word
    return head.dep in ("nsubj", "nsubjpass", "expl") and helper in (head.head, *head.head.children)
