"""A reply that only says a time dates what was asked: "When did you adopt Max?" - "like 2 weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.draft import SURE, Draft
from everwhen.ingest.extract.rules.lexicon import vocabulary
from everwhen.ingest.extract.rules.modality import denied, tense
from everwhen.ingest.extract.rules.parsing import Parse, Word, past_form
from everwhen.ingest.extract.rules.times import Dated, Moment, Side, expressions, on_the_side
from everwhen.ingest.extract.rules.voices import Voices
from everwhen.ingest.extract.rules.wording import object_of
from everwhen.types import Turn

_ASKS_WHEN = re.compile(
    r"\b(?:when|how long ago|(?:what|which) (?:year|month|week|day|date|time))\b[^.!?]*(?:\?|$)", re.I
)
_AROUND_A_TIME = vocabulary(
    """
    like about around roughly maybe probably perhaps i think guess believe say it that this was is were in on at of
    yeah yep yes oh um uh hmm well so just back already actually happened again the must have been sometime
    """
)
_ASKING = vocabulary("when how long ago what which year month week day date time did do does again exactly")
_SAME = vocabulary("it that this they those")
_AGREES = {"are": "is", "were": "was", "have": "has"}
_SURE = SURE - 0.1


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn as it was read."""

    turn: Turn
    parses: Sequence[Parse]
    drafts: Sequence[Draft]
    voices: Voices


def answer(turn: Turn, parses: Sequence[Parse], before: Sequence[Heard], moment: Moment) -> Draft | None:
    """What a turn that only says a time tells of: the event asked for, or the last one that its speaker told."""
    if not before or not parses or before[-1].turn.speaker == turn.speaker or turn.role == "assistant":
        return None
    asked = before[-1]
    question = asked.parses[-1] if asked.parses else None
    if question is None or not _ASKS_WHEN.search(question.text):
        return None
    dated = _time_alone(parses, moment)
    if dated is None:
        return None
    clause = next((one for one in reversed(clauses(question)) if one.subject is not None), None)
    if clause is None or clause.subject is None or clause.subject.lower in _SAME:
        return _told_before(turn, before[:-1], dated, parses[0], moment)
    return _of_the_question(clause, dated, parses[0], asked.voices, turn.speaker, moment)


def _time_alone(parses: Sequence[Parse], moment: Moment) -> Dated | None:
    """The one time of a text that says nothing else."""
    if len(parses) != 1:
        return None
    (parse,) = parses
    found = [one for one in expressions(parse, moment) if one.interval is not None]
    if len(found) != 1:
        return None
    inside = {word.i for word in found[0].words}
    rest = [w for w in parse.words if w.i not in inside and w.pos not in ("PUNCT", "SPACE", "INTJ", "SYM")]
    return found[0] if all(word.lower in _AROUND_A_TIME for word in rest) else None


def _told_before(
    turn: Turn, before: Sequence[Heard], dated: Dated, parse: Parse, moment: Moment
) -> Draft | None:
    """ "I quit my job." - "Oh, when?" - "Last Friday"."""
    told = before[-1] if before else None
    if told is None or told.turn.speaker != turn.speaker or not told.drafts or not told.drafts[-1].inferred:
        return None
    last = told.drafts[-1]
    side: Side = "future" if last.status == "planned" else "past"
    placed = on_the_side(dated, side, parse.text, moment)
    if placed.interval is None:
        return None
    text = f"{last.text} {_worded(placed, parse)}"
    return replace(
        last,
        text=text,
        occurred=placed.interval,
        expression=placed.ref.text,
        inferred=False,
        confidence=_SURE,
        words=(),
        clause=None,
    )


def _of_the_question(
    clause: Clause, dated: Dated, parse: Parse, voices: Voices, speaker: str, moment: Moment
) -> Draft | None:
    heard = replace(voices, listener=speaker)  # "you" is who answers
    past = tense(clause) in ("past", "perfect")
    placed = on_the_side(dated, "past" if past else "future", parse.text, moment)
    if placed.interval is None or clause.subject is None:
        return None
    ahead = placed.interval.start is not None and placed.interval.start > moment.at
    state: Status = "planned" if ahead and not past else "happened"
    subject = heard.phrase(clause.subject)
    return Draft(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, (), heard),
        text=f"{subject} {_declared(clause, heard)} {_worded(placed, parse)}",
        occurred=placed.interval,
        expression=placed.ref.text,
        inferred=False,
        status=state,
        polarity=-1 if denied(clause) else 1,
        quantity="",
        confidence=_SURE,
        words=(),
    )


def _declared(clause: Clause, voices: Voices) -> str:
    """What was asked, as a statement without its subject: "did you adopt Max" is "adopted Max"."""
    assert clause.subject is not None
    who = {word.i for word in clause.subject.subtree()}
    words = [word for word in clause.words() if word.i not in who and word.lower not in _ASKING]
    words = [word for word in words if word.pos not in ("PUNCT", "SPACE", "INTJ")]
    helped = any(word.lower == "did" for word in clause.auxiliaries)
    out = []
    for word in words:
        if helped and word.tag in ("VB", "VBP"):
            out.append(past_form(word.lower))
            helped = False
        elif voices.person(clause.subject) is not None and word.lower in _AGREES:
            out.append(_AGREES[word.lower])
        else:
            out.append(voices.tell([word]))
    return " ".join(out)


def _worded(dated: Dated, parse: Parse) -> str:
    """The time in the reply's words, with its preposition."""
    first = dated.words[0]
    before: Word | None = parse.words[first.i - 1] if first.i else None
    if before is not None and before.pos == "ADP" and before.lower in ("in", "on", "at", "around", "about"):
        return f"{before.lower} {dated.ref.text}"
    return dated.ref.text if first.pos == "PROPN" else dated.ref.text[:1].lower() + dated.ref.text[1:]
