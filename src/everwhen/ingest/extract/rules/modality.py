"""Did it happen? Tense, modality, negation, questions, requests and irony of a clause."""

from __future__ import annotations

import re
from typing import Literal

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.ingest.extract.rules.lexicon import (
    AHEAD,
    CONDITION,
    DENIAL,
    EYE_ROLL,
    FAILED,
    FUTURE,
    HYPOTHETICAL,
    IRONY,
    MENTAL,
    NOBODY,
    UNREAL,
    WH,
)
from everwhen.ingest.extract.rules.parsing import Word
from everwhen.ingest.extract.rules.wordlist import vocabulary

Tense = Literal["past", "present", "progressive", "perfect", "future", "bare"]

_IRONIC = re.compile(
    "|".join(one if any(letter.isupper() for letter in one) else f"(?i:{one})" for one in IRONY)
)
_QUESTION_WORDS = WH - {"that", "which"} | {"which", "whose"}
_INVERTING = vocabulary(
    """
    do does did is are was were am have has had can could will would shall should may might must 's 're
    'd 'll dont don't wo ca
    """
)
_ONLY_WANTED = vocabulary("want plan hope intend mean need wish expect think consider look dream")
_CUTS = vocabulary(
    """
    , ; : - – — ... … (
    """
)


def is_ironic(sentence: str) -> bool:
    """Whether a sentence says that it is not meant."""
    return EYE_ROLL in sentence or bool(_IRONIC.search(sentence))


def denied(clause: Clause) -> bool:
    """Whether the clause says that it is not so."""
    for link in clause.chain:
        for child in link.children:
            if _apart(child, clause.subject):
                continue
            if child.dep == "neg" or (child.lower in DENIAL and child.dep in ("advmod", "neg", "preconj")):
                return True
            # "didnt" in three letters is sometimes cut into an adverb
            if child.lower in ("n't", "nt", "not"):
                return True
    if clause.subject is not None and (clause.subject.lower in NOBODY or _no(clause.subject)):
        return True
    if clause.object is not None and (_no(clause.object) or clause.object.lower in NOBODY):
        return True
    return any(link.lemma in FAILED for link in clause.chain[:-1])


def _apart(word: Word, subject: Word | None) -> bool:
    """ "Can't, I sprained my ankle": the denial before the comma is an answer of its own."""
    return (
        subject is not None
        and word.i < subject.i
        and any(one.text in (",", ";", ".") and word.i < one.i < subject.i for one in word.head.children)
    )


def tense(clause: Clause) -> Tense:
    """The tense of the clause's first verb with its auxiliaries."""
    helpers = {word.lower for word in clause.auxiliaries} - {"to", "ta", "na"}
    tag = clause.first.tag
    if helpers & FUTURE:
        return "future"
    if helpers & {"have", "has", "'ve", "ve", "'d", "having"} and tag in ("VBN", "VBD", "VBG"):
        return "progressive" if tag == "VBG" and not helpers & {"'d"} else "perfect"
    if helpers & {"had"}:
        return "past"
    if helpers & {"did", "was", "were", "got"}:
        return "past"
    if tag == "VBG":
        return "progressive"
    if helpers & {"do", "does", "is", "are", "am", "'s", "'re", "'m", "m", "re", "get", "gets"}:
        # "is booked" tells a state of the present; a past participle without any helper is a past
        return "present"
    if tag in ("VBD", "VBN"):
        return "past"
    return "present" if tag in ("VBZ", "VBP") else "bare"


def status(clause: Clause) -> Status:
    """Happened, ongoing, planned, hypothetical or negated, by grammar alone; the time may still correct it."""
    if _is_unreal(clause):
        return "hypothetical"
    helpers = {word.lower for word in clause.auxiliaries} - {"to"}
    kind = tense(clause)
    introduced = [link.lemma for link in clause.chain[:-1]]
    was = bool(helpers & {"was", "were"}) or clause.first.tag == "VBD"
    if any(word in ("go", "gon", "suppose") for word in introduced) and was:
        return "hypothetical"  # "was gonna take the train"
    if denied(clause):
        return "negated"
    if helpers & HYPOTHETICAL and not _is_had(clause):
        return "hypothetical"
    if any(word in AHEAD or word in ("go", "gon", "need") for word in introduced):
        return (
            "happened"
            if was and "decide" not in introduced and kind == "past" and _past_is_done(introduced)
            else "planned"
        )
    if introduced and introduced[0] in ("have", "get", "got") and clause.chain[1].child("aux") is not None:
        return "happened" if clause.first.tag == "VBD" and clause.first.lemma == "have" else "planned"
    if introduced and introduced[0] == "use":
        return "happened"
    if kind == "future":
        return "planned"
    if kind in ("progressive", "present"):
        return "ongoing" if not ("were" in helpers or "was" in helpers) else "happened"
    return "happened" if kind in ("past", "perfect") else "planned"


def _past_is_done(introduced: list[str]) -> bool:
    """ "I managed to" is done; "I wanted to" was only wanted."""
    return _ONLY_WANTED.isdisjoint(introduced)


def _is_had(clause: Clause) -> bool:
    """ "I'd seen it": the 'd is a had, because a participle follows it."""
    return {word.lower for word in clause.auxiliaries} & HYPOTHETICAL == {"'d"} and clause.verb.tag == "VBN"


def _is_unreal(clause: Clause) -> bool:
    at: Clause | None = clause
    while at is not None:
        marker = at.first.child("mark", "advmod")
        if at.link == "condition" or (marker is not None and marker.lower in ("if", "unless", "whether")):
            return True
        if at.link == "said" and at.parent is not None and at.parent.verb.lemma in UNREAL | {"hope", "want"}:
            return True
        if any(below.dep == "advcl" and _conditional(below) for link in at.chain for below in link.children):
            return True
        at = at.parent if at.link in ("joined", "said") and at.parent is not None and _shares(at) else None
    return False


def _shares(clause: Clause) -> bool:
    """A clause joined without a subject of its own shares the mood of the one before."""
    return clause.inherited or clause.link == "said"


def _conditional(word: Word) -> bool:
    mark = word.child("mark")
    return mark is not None and mark.lower in CONDITION and mark.lower not in ("though",)


def _no(word: Word) -> bool:
    return any(
        child.lower in ("no", "zero", "neither") and child.dep in ("det", "neg") for child in word.children
    )


# Questions and requests


def asked(sentence: tuple[Word, ...]) -> set[int]:
    """The places of the words that are a question: all of the sentence, or its last part."""
    words = [word for word in sentence if word.pos != "SPACE"]
    if not words:
        return set()
    marked = next((at for at in range(len(words) - 1, -1, -1) if words[at].text.startswith("?")), None)
    if marked is None:
        start = _inverted(words)
        return set() if start is None else {word.i for word in words[start:]}
    starts = [0, *[at + 1 for at in range(marked) if words[at].text in _CUTS]]
    for start in reversed(starts):
        part = words[start:marked]
        # A tag ("right?", "doesn't she?", "anyone in?") asks nothing about what stands before it.
        if start and (len(part) <= 4 or _inverted(part) is not None):
            return {word.i for word in words[start : marked + 1]}
    return {word.i for word in words[: marked + 1]}


def _inverted(words: list[Word]) -> int | None:
    """Where a question begins by its order of words: "did you …", "when's …"; None where there is none."""
    if words[0].lower in ("here", "there", "this", "that", "it", "these", "those", "what"):
        words = words[:2] if words[0].lower == "what" else []
    for at, word in enumerate(words):
        opens = (
            at == 0
            or words[at - 1].text in _CUTS
            or words[at - 1].pos in ("INTJ", "CCONJ", "PUNCT")
            or at <= 2
        )
        if not opens:
            continue
        after = words[at + 1] if at + 1 < len(words) else None
        if (
            word.lower in _INVERTING
            and after is not None
            and _is_subject(after, word)
            and after.pos != "VERB"
        ):
            return at
        if word.lower in _QUESTION_WORDS and after is not None and at == 0 and after.lower in _INVERTING:
            return at
        if (
            at == 0
            and word.lower == "how"
            and after is not None
            and after.pos in ("ADJ", "ADV")
            and len(words) < 12
        ):
            return at
    return None


def _is_subject(word: Word, helper: Word) -> bool:
    if word.dep in ("nsubj", "nsubjpass", "expl"):
        return helper.i < word.i and helper in (word.head, *word.head.children)
    return (
        word.dep in ("det", "poss", "compound", "amod")
        and word.head.dep in ("nsubj", "nsubjpass")
        and (helper in (word.head.head, *word.head.head.children))
    )


def is_request(clause: Clause) -> bool:
    """An imperative: a bare verb with no subject, or one that is told to "you"; "let's" as well."""
    if clause.first.lower in ("let", "lets"):
        return True
    if clause.subject is not None or clause.first.tag not in ("VB", "VBP"):
        return False
    helpers = {word.lower for word in clause.auxiliaries}
    return not helpers or helpers <= {"do", "don't", "dont", "please", "n't"}


def is_thought(clause: Clause) -> bool:
    """What somebody only thinks: "I thought he was joking"."""
    return (
        clause.link == "said"
        and clause.parent is not None
        and clause.parent.verb.lemma in MENTAL - {"know", "mean"}
    )
