"""Whether a clause tells an occurrence: a thing done, or a state that is dated."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.ingest.extract.rules.lexicon import (
    FIRST,
    LIGHT,
    MENTAL,
    OCCASIONS,
    PERSON_WORDS,
    SECOND,
    SPEECH,
    STATIVE,
    STOCK_PHRASES,
    THIRD,
    VAGUE,
)
from everwhen.ingest.extract.rules.modality import is_thought, tense
from everwhen.ingest.extract.rules.parsing import Word
from everwhen.ingest.extract.rules.times import Dated

_NOTICED = ("see", "hear", "learn", "realize", "realise", "find", "notice", "discover", "read")
_NOUNS = ("NOUN", "PROPN", "NUM")


def tells(clause: Clause, times: Sequence[Dated], state: Status, *, listed: bool) -> bool:
    """Whether a clause tells an occurrence: a thing done, or a state that is dated."""
    when = [dated for dated in times if dated.interval is not None or dated.ref.kind == "recurrence"]
    lasts = any(dated.ref.kind == "duration" for dated in times) and tense(clause) in (
        "perfect",
        "progressive",
    )
    lemma = clause.verb.lemma
    if is_thought(clause) and not when:
        return False
    if lemma in MENTAL - {"feel", "know", "dream", "fear"} and len(clause.chain) == 1:
        return False
    if clause.object is not None and clause.object.lower in ("what", "whatever"):
        return False
    if lemma in ("do", "can", "should", "promise", "use") and clause.object is None:
        return False  # "he did", "I promise": an answer, or a manner of speaking
    if lemma == "look" and (clause.verb.child("acomp") or tense(clause) != "progressive") and not when:
        return False
    if when or lasts:
        vague = (
            clause.subject is not None and clause.subject.lower in ("it", "that", "this") and lemma == "be"
        )
        return not (vague and clause.object is not None and clause.object.pos == "ADJ" and not when)
    if clause.lemma in ("got it", "get it") or lemma in ("lol", "haha"):
        return False
    if not _worth_telling(clause, state):
        return False
    if lemma == "have" and clause.object is not None and clause.object.lemma in OCCASIONS:
        return tense(clause) in ("past", "perfect", "future") or state in ("planned", "negated")
    if lemma == "have" and state == "negated" and tense(clause) == "perfect":
        return clause.object is not None and clause.object.pos in _NOUNS
    if lemma in STATIVE or lemma in MENTAL:
        return False
    if lemma in ("make", "get", "find", "keep", "leave", "feel") and clause.verb.child("acomp", "oprd"):
        return False  # "makes me happy" is no deed
    if lemma == "get" and clause.object is None:
        return False
    if lemma in SPEECH and (clause.object is None or clause.object.lower in FIRST | SECOND):
        return (
            lemma in ("tell", "ask", "announce")
            and clause.subject is not None
            and clause.subject.lower not in FIRST
        )
    kind = tense(clause)
    if kind == "present" and not listed:
        return False  # habits and general truths; the stable ones become facts
    if (
        kind == "progressive"
        and clause.subject is not None
        and clause.subject.lower in ("it", "this", "that", "things")
    ):
        return False
    if kind == "bare" and clause.subject is not None and not clause.auxiliaries and not listed:
        return False  # "Box size: select a box": a heading, or a word that was taken for a verb
    return kind != "bare" or state in ("planned", "hypothetical", "negated")


def _worth_telling(clause: Clause, state: Status) -> bool:
    """Whether an undated clause is more than encouragement, a feeling or a manner of speaking."""
    subject, object_ = clause.subject, clause.object
    if subject is not None and subject.lower in SECOND:
        return False  # "you got this", "you'll make it"
    if object_ is not None and object_.lemma in VAGUE and clause.verb.lemma in LIGHT:
        return False
    if object_ is not None and (clause.verb.lemma, object_.lemma) in STOCK_PHRASES:
        return False
    if subject is not None and (clause.verb.lemma, subject.lemma) in STOCK_PHRASES:
        return False
    if clause.verb.lemma in ("stay", "keep", "get", "feel", "become", "remain") and clause.verb.child(
        "acomp"
    ):
        return False
    if state == "ongoing" and object_ is not None and object_.lemma in VAGUE - {"it", "this", "that"}:
        return False
    if clause.verb.lemma in ("keep", "continue") and state in ("planned", "ongoing"):
        return False
    if clause.verb.lemma in ("talk", "chat", "speak") and clause.link == "when":
        return False  # "since we last talked"
    if any(word.lower in ("ca", "can", "cannot") for word in clause.auxiliaries):
        return False  # "I can't wait"
    if state == "planned" and clause.first.lemma in ("think", "consider", "look", "dream", "like", "love"):
        return False  # no more than a thought, while it has no date
    if state == "planned" and subject is not None and not _acts(subject):
        return False  # a prediction: "your studio will change things"
    if state == "negated" and tense(clause) == "future" and object_ is None:
        return False  # "I won't give up"
    marker = clause.first.child("advmod", "mark")
    if marker is not None and marker.lower in ("why", "how") and marker.i < clause.first.i:
        return False
    told = clause.verb.child("ccomp")
    return not (told is not None and object_ is None and clause.verb.lemma in _NOTICED)


def _acts(word: Word) -> bool:
    """Whether a subject is somebody: a pronoun of a person, a name, or a word for people."""
    return (
        word.lower in FIRST | (THIRD - {"it", "itself"})
        or word.pos == "PROPN"
        or word.lemma in PERSON_WORDS
        or any(child.dep == "poss" and child.lower in ("my", "our") for child in word.children)
    )
