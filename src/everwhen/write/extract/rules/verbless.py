"""Events that no clause tells: dated fragments, items of a list under a dated header, and replies that only say a time.

"Dentist on Thursday"; "When did you adopt Max?" - "like 2 weeks ago".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from everwhen.types import Turn
from everwhen.write.extract.base import ExtractedEvent
from everwhen.write.extract.grammar.parsing import Parse, Word, past_form
from everwhen.write.extract.grammar.word_lists import MANNERS, vocabulary
from everwhen.write.extract.rules.clause_times import DatedExpression, Side, expressions
from everwhen.write.extract.rules.clauses import Clause, clauses
from everwhen.write.extract.rules.coreference import Coreference
from everwhen.write.extract.rules.event_draft import LOOSE, SURE, EventDraft, ParsedTurn, object_of
from everwhen.write.extract.rules.modality import denied, tense

_TODO = re.compile(
    r"\b(?:to-?do|to do|plans?|planned|agenda|goals?|next steps|upcoming|need to|must|shopping list)\b", re.I
)
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


@dataclass(frozen=True, slots=True)
class ListHeader:
    """What the line above a list says for each item: a time, and whether it lies ahead."""

    dated: DatedExpression | None = None
    ahead: bool = False


def header_of(parse: Parse, turn: Turn) -> ListHeader:
    """What a line says about the list under it; only a person's list can be of what that person plans."""
    dated = next((one for one in expressions(parse, turn) if one.interval is not None), None)
    return ListHeader(dated, turn.role == "user" and bool(_TODO.search(parse.text)))


def fragment(
    sentence: Sequence[Word], dated: DatedExpression, coref: Coreference, header: ListHeader
) -> EventDraft | None:
    """A dated sentence without a verb: "Dentist on Thursday at 3". The time may be the header's."""
    if dated is not header.dated:
        dated = dated.placed("future" if header.ahead else "nearest")
    inside = {word.i for word in dated.words if word in sentence}
    rest = [word for word in sentence if word.i not in inside and word.pos not in _UNSAID]
    nouns = [word for word in rest if word.pos in ("NOUN", "PROPN")]
    if dated.interval is None or not nouns or rest[0].lower in MANNERS:
        return None
    head = next((word for word in nouns if word.dep in ("ROOT", "nsubj", "dobj")), nouns[0])
    ahead = dated.interval.start is not None and dated.interval.start > dated.turn.said_at
    event = ExtractedEvent(
        subject=coref.speaker,
        verb="have",
        object=coref.phrase(head, inside),
        text=f"{coref.speaker}: {coref.tell([word for word in sentence if word.pos != 'SPACE'])}",
        turns=(dated.turn.id,),
        occurred=dated.interval,
        expression=dated.ref.text,
        status="planned" if ahead or header.ahead else "happened",
        confidence=LOOSE,
    )
    return EventDraft(event, tuple(sentence))


def answer(turn: Turn, parses: Sequence[Parse], before: Sequence[ParsedTurn]) -> EventDraft | None:
    """What a turn that only says a time tells of: the event asked for, or the last one that its speaker told."""
    if not before or before[-1].turn.speaker == turn.speaker or turn.role == "assistant" or len(parses) != 1:
        return None
    asked, (reply,) = before[-1], parses
    if not asked.read or not _ASKS_WHEN.search((question := asked.read[-1][1]).text):
        return None
    dated = _time_alone(reply, turn)
    if dated is None:
        return None
    clause = next((one for one in reversed(clauses(question)) if one.subject is not None), None)
    if clause is None or clause.subject is None or clause.subject.lower in _SAME:
        return _told_before(turn, before[:-1], dated, reply)
    heard = replace(asked.coref, listener=turn.speaker)  # "you" is who answers
    return _of_the_question(clause, heard.phrase(clause.subject), dated, reply, heard)


def _time_alone(parse: Parse, turn: Turn) -> DatedExpression | None:
    """The one time of a text that says nothing else."""
    found = [one for one in expressions(parse, turn) if one.interval is not None]
    inside = {word.i for one in found for word in one.words}
    rest = [word for word in parse.words if word.i not in inside and word.pos not in _UNSAID]
    return found[0] if len(found) == 1 and all(word.lower in _AROUND_A_TIME for word in rest) else None


def _told_before(
    turn: Turn, before: Sequence[ParsedTurn], dated: DatedExpression, reply: Parse
) -> EventDraft | None:
    """ "I quit my job." - "Oh, when?" - "Last Friday"."""
    told = before[-1].drafts[-1:] if before and before[-1].turn.speaker == turn.speaker else ()
    if not told or not told[0].event.inferred:
        return None
    event = told[0].event
    return _dated(event, dated, "future" if event.status == "planned" else "past", reply)


def _of_the_question(
    clause: Clause, subject: str, dated: DatedExpression, reply: Parse, coref: Coreference
) -> EventDraft | None:
    """ "When did you adopt Max?" - "like 2 weeks ago"."""
    past, turn = tense(clause) in ("past", "perfect"), dated.turn
    asked = ExtractedEvent(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, (), coref),
        text=f"{subject} {_declared(clause, coref)}",
        turns=(turn.id,),
        polarity=-1 if denied(clause) else 1,
    )
    told = _dated(asked, dated, "past" if past else "future", reply)
    start = told.event.occurred.start if told is not None and told.event.occurred is not None else None
    if told is not None and not past and start is not None and start > turn.said_at:
        return replace(told, event=replace(told.event, status="planned"))
    return told


def _dated(event: ExtractedEvent, dated: DatedExpression, side: Side, reply: Parse) -> EventDraft | None:
    """The event at the time that was replied."""
    placed = dated.placed(side)
    if placed.interval is None:
        return None
    text, when, words = f"{event.text} {_worded(placed, reply)}", placed.interval, placed.ref.text
    event = replace(event, text=text, turns=(dated.turn.id,), occurred=when, expression=words)
    return EventDraft(replace(event, inferred=False, confidence=_SURE))


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
    before = parse.words[first.i - 1] if first.i else None
    if before is not None and before.pos == "ADP" and before.lower in ("in", "on", "at", "around", "about"):
        return f"{before.lower} {dated.ref.text}"
    return dated.ref.text if first.pos == "PROPN" else dated.ref.text[:1].lower() + dated.ref.text[1:]
