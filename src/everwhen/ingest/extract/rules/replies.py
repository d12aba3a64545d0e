"""A reply that only says a time dates what was asked: "When did you adopt Max?" - "like 2 weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from everwhen.ingest.extract.grammar.parsing import Parse, Word, past_form
from everwhen.ingest.extract.grammar.word_lists import vocabulary
from everwhen.ingest.extract.rules.clause_times import (
    DatedExpression,
    Side,
    SpeechTime,
    expressions,
    on_the_side,
)
from everwhen.ingest.extract.rules.clause_wording import object_of
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.ingest.extract.rules.event_draft import SURE, EventDraft, ParsedTurn
from everwhen.ingest.extract.rules.modality import denied, tense
from everwhen.types import Turn

_ASKS_WHEN = re.compile(
    r"\b(?:when|how long ago|(?:what|which) (?:year|month|week|day|date|time))\b[^.!?]*(?:\?|$)", re.I
)
_AROUND_A_TIME = vocabulary(
    "like about around roughly maybe probably perhaps i think guess believe say it that this was is were in on at of "
    "so just back already actually happened again the must have been sometime yeah yep yes well"
)
_ASKING = vocabulary("when how long ago what which year month week day date time did do does again exactly")
_SAME = vocabulary("it that this they those")
_UNSAID = ("PUNCT", "SPACE", "INTJ", "SYM")
_AGREES = {"are": "is", "were": "was", "have": "has"}
_SURE = SURE - 0.1


def answer(
    turn: Turn, parses: Sequence[Parse], before: Sequence[ParsedTurn], moment: SpeechTime
) -> EventDraft | None:
    """What a turn that only says a time tells of: the event asked for, or the last one that its speaker told."""
    if not before or before[-1].turn.speaker == turn.speaker or turn.role == "assistant" or len(parses) != 1:
        return None
    asked, (reply,) = before[-1], parses
    if not asked.read or not _ASKS_WHEN.search((question := asked.read[-1][1]).text):
        return None
    dated = _time_alone(reply, moment)
    if dated is None:
        return None
    clause = next((one for one in reversed(clauses(question)) if one.subject is not None), None)
    if clause is None or clause.subject is None or clause.subject.lower in _SAME:
        return _told_before(turn, before[:-1], dated, reply, moment)
    heard = replace(asked.coref, listener=turn.speaker)  # "you" is who answers
    return _of_the_question(clause, heard.phrase(clause.subject), dated, reply, heard, moment)


def _time_alone(parse: Parse, moment: SpeechTime) -> DatedExpression | None:
    """The one time of a text that says nothing else."""
    found = [one for one in expressions(parse, moment) if one.interval is not None]
    inside = {word.i for one in found for word in one.words}
    rest = [word for word in parse.words if word.i not in inside and word.pos not in _UNSAID]
    return found[0] if len(found) == 1 and all(word.lower in _AROUND_A_TIME for word in rest) else None


def _told_before(
    turn: Turn, before: Sequence[ParsedTurn], dated: DatedExpression, reply: Parse, moment: SpeechTime
) -> EventDraft | None:
    """ "I quit my job." - "Oh, when?" - "Last Friday"."""
    told = before[-1].drafts[-1:] if before and before[-1].turn.speaker == turn.speaker else ()
    if not told or not told[0].inferred:
        return None
    last = replace(told[0], words=(), clause=None)
    return _dated(last, dated, "future" if last.status == "planned" else "past", reply, moment)


def _of_the_question(
    clause: Clause,
    subject: str,
    dated: DatedExpression,
    reply: Parse,
    coref: Coreference,
    moment: SpeechTime,
) -> EventDraft | None:
    """ "When did you adopt Max?" - "like 2 weeks ago"."""
    past = tense(clause) in ("past", "perfect")
    draft = EventDraft(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, (), coref),
        text=f"{subject} {_declared(clause, coref)}",
        occurred=moment.day(),
        expression="",
        inferred=False,
        status="happened",
        polarity=-1 if denied(clause) else 1,
        quantity="",
        confidence=_SURE,
        words=(),
    )
    told = _dated(draft, dated, "past" if past else "future", reply, moment)
    if told is not None and not past and told.occurred.start is not None and told.occurred.start > moment.at:
        told.status = "planned"
    return told


def _dated(
    draft: EventDraft, dated: DatedExpression, side: Side, reply: Parse, moment: SpeechTime
) -> EventDraft | None:
    """The event at the time that was replied."""
    placed = on_the_side(dated, side, reply.text, moment)
    if placed.interval is None:
        return None
    return replace(
        draft,
        text=f"{draft.text} {_worded(placed, reply)}",
        occurred=placed.interval,
        expression=placed.ref.text,
        inferred=False,
        confidence=_SURE,
    )


def _declared(clause: Clause, coref: Coreference) -> str:
    """What was asked, as a statement without its subject: "did you adopt Max" is "adopted Max"."""
    assert clause.subject is not None  # `answer` has looked
    who = {word.i for word in clause.subject.subtree()}
    someone = coref.person(clause.subject) is not None
    helped = any(word.lower == "did" for word in clause.auxiliaries)
    out = []
    for word in clause.words():
        if word.i in who or word.lower in _ASKING or word.pos in _UNSAID:
            continue
        if helped and word is clause.first:
            out.append(past_form(word.lower))
        else:
            out.append(_AGREES[word.lower] if someone and word.lower in _AGREES else coref.tell([word]))
    return " ".join(out)


def _worded(dated: DatedExpression, parse: Parse) -> str:
    """The time in the reply's words, with its preposition."""
    first = dated.words[0]
    before: Word | None = parse.words[first.i - 1] if first.i else None
    if before is not None and before.pos == "ADP" and before.lower in ("in", "on", "at", "around", "about"):
        return f"{before.lower} {dated.ref.text}"
    return dated.ref.text if first.pos == "PROPN" else dated.ref.text[:1].lower() + dated.ref.text[1:]
