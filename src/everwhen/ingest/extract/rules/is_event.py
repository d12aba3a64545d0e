"""Whether a clause tells an occurrence: a thing done, or a state that is dated."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.grammar.word_lists import (
    LIGHT,
    MENTAL,
    OCCASIONS,
    PERSON_WORDS,
    SECOND,
    STATIVE,
    VAGUE,
    vocabulary,
)
from everwhen.ingest.extract.rules.clause_times import DatedExpression
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.ingest.extract.rules.modality import tense

_BECOMING = vocabulary("make get find keep leave feel stay become remain")


def is_event(clause: Clause, times: Sequence[DatedExpression], state: Status, *, listed: bool) -> bool:
    """Whether a clause tells an occurrence; `listed` says that it is an item of a list of plans."""
    lemma = clause.verb.lemma
    if lemma in MENTAL and len(clause.chain) == 1:
        return False
    if clause.object is not None and clause.object.tag == "WP":
        return False  # "what she said today"
    if lemma in ("do", "can", "should", "promise", "use") and clause.object is None:
        return False  # "he did", "I promise": an answer, or a manner of speaking
    if any(dated.interval is not None or dated.ref.kind == "recurrence" for dated in times):
        return True
    lasts = any(dated.ref.kind == "duration" for dated in times)
    if lasts and tense(clause) in ("perfect", "progressive"):
        return True
    return _is_news(clause, state) and _is_deed(clause, state, listed)


def _is_news(clause: Clause, state: Status) -> bool:
    """Whether an undated clause is more than encouragement, a feeling or a prediction."""
    subject, object_ = clause.subject, clause.object
    if subject is not None and subject.lower in SECOND:
        return False  # "you got this", "you'll make it"
    if object_ is not None and object_.lemma in VAGUE and clause.verb.lemma in LIGHT:
        return False
    if clause.verb.lemma in _BECOMING and clause.verb.child("acomp", "oprd") is not None:
        return False  # "makes me happy", "got tired"
    told = clause.verb.child("ccomp")
    if object_ is None and told is not None and told.i > clause.verb.i:
        return False  # "I heard that …": the other clause tells it
    if any(word.lower in ("ca", "can", "cannot") for word in clause.auxiliaries):
        return False  # "I can't wait"
    if state == "planned" and subject is not None and subject.pos == "NOUN":
        return subject.lemma in PERSON_WORDS  # "the studio will change things" is a prediction
    return not (state == "negated" and tense(clause) == "future" and object_ is None)  # "I won't give up"


def _is_deed(clause: Clause, state: Status, listed: bool) -> bool:
    """Whether an undated clause tells something done: no state, no habit, no general truth."""
    lemma, kind, object_ = clause.verb.lemma, tense(clause), clause.object
    if lemma == "have" and object_ is not None and kind in ("past", "perfect", "future"):
        return object_.lemma in OCCASIONS or (state == "negated" and kind == "perfect")
    told = listed or kind != "present"
    if kind == "bare" and not listed:
        told = state == "negated"  # "I couldn't come", but not "select a box"
    return told and lemma not in STATIVE
