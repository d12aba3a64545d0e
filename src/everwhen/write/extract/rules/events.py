"""Events of a turn: each clause that tells an occurrence, with who, what, when and whether it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from everwhen.types import Turn
from everwhen.write.extract.base import ExtractedEvent, Status
from everwhen.write.extract.grammar.cleaning import ProseLine
from everwhen.write.extract.grammar.parsing import Parse, Word
from everwhen.write.extract.grammar.word_lists import ARRANGING, MANNERS, SECOND, VAGUE, WH
from everwhen.write.extract.rules import clause_times
from everwhen.write.extract.rules.clause_times import DatedExpression, chosen, side_of
from everwhen.write.extract.rules.clauses import Clause, clauses
from everwhen.write.extract.rules.coreference import Coreference
from everwhen.write.extract.rules.event_draft import (
    INFERRED,
    SURE,
    EventDraft,
    object_of,
    quantity_of,
    sentence_of,
)
from everwhen.write.extract.rules.modality import denied, is_event, status, tense, unmeant
from everwhen.write.extract.rules.verbless import ListHeader, fragment
from everwhen_time import Interval

MOST_TIMES = 5
"""Times of one clause that are told as events of their own."""
_JOINTS = frozenset({"and", "or", ",", "&", "then", ";"})


@dataclass(frozen=True, slots=True)
class ClauseContext:
    """What stands around a clause: the turn and who is meant in it, and what dates it: its own expressions, the
    sentence's frame, the event told just before, the header."""

    turn: Turn
    parse: Parse
    coref: Coreference
    times: Sequence[DatedExpression]
    frame: DatedExpression | None
    before: EventDraft | None
    header: ListHeader


def events(
    turn: Turn,
    passage: ProseLine,
    parse: Parse,
    coref: Coreference,
    header: ListHeader,
    before: EventDraft | None,
) -> list[EventDraft]:
    """The events that a passage tells, in its order; `before` is the last one told in the same turn."""
    found = clauses(parse)
    owned, loose = clause_times.attach(found, clause_times.expressions(parse, turn))
    frames = _frames(found, owned)
    others = unmeant(parse, passage)
    drafts: list[EventDraft] = []
    for place, clause in enumerate(found):
        if clause.first.i in others:
            continue
        times = owned.get(place, [])
        if times and drafts and _only_dates(clause):
            drafts[-1] = _date_again(drafts[-1], times)
            continue
        last, frame = drafts[-1] if drafts else before, frames.get(clause.first.sentence)
        near = ClauseContext(turn, parse, coref, times, frame, last, header)
        draft = _draft(clause, near)
        if draft is not None:
            drafts += [draft, *_further(draft, near)]
    told = {clause.first.sentence for clause in found}
    if passage.item and not drafts and header.dated is not None:
        loose = [*loose, header.dated]
    for dated in loose:
        sentence = parse.sentences[dated.words[0].sentence if dated is not header.dated else 0]
        if sentence[0].sentence not in told and others.isdisjoint(word.i for word in sentence):
            draft = fragment(sentence, dated, coref, header)
            if draft is not None:
                drafts.append(draft)
                told.add(sentence[0].sentence)
    return drafts


def _draft(clause: Clause, near: ClauseContext) -> EventDraft | None:
    state = _status(clause, near.header)
    side = side_of(state, tense(clause) in ("present", "progressive"))
    if clause.verb.lemma in ARRANGING and any(_is_of_a_thing(dated, clause) for dated in near.times):
        side = "future"
    dated = chosen(near.times, side)
    subject = _subject(clause, near, dated)
    if (
        not subject
        or not clause.lemma[:1].isalpha()
        or not is_event(clause, near.times, state, listed=near.header.ahead)
    ):
        return None
    interval, expression, own = _when(clause, dated, near)
    if not own and (state == "hypothetical" or _is_vague(clause.subject)):
        return None  # "it went well": nobody can tell what
    words = tuple(clause.words())
    sure = (SURE if own else INFERRED) * (1.0 if dated is None else max(dated.ref.confidence, 0.7))
    event = ExtractedEvent(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, near.times, near.coref),
        text=sentence_of(clause, words, subject, near.coref),
        turns=(near.turn.id,),
        occurred=interval,
        expression=expression,
        inferred=not own,
        status=_corrected(state, clause, interval, near.turn) if own else state,
        polarity=-1 if denied(clause) else 1,
        quantity=quantity_of(words, near.times),
        confidence=round(sure, 2),
    )
    return EventDraft(event, words, clause)


def _status(clause: Clause, header: ListHeader) -> Status:
    state = status(clause)
    return "planned" if header.ahead and state == "ongoing" and clause.subject is None else state


def _is_of_a_thing(dated: DatedExpression, clause: Clause) -> bool:
    """ "signed up for a race on Saturday": the time is the race's."""
    return any(up is clause.object or up.pos in ("NOUN", "PROPN", "NUM") for up in dated.head.ancestors())


def _is_vague(subject: Word | None) -> bool:
    return subject is not None and subject.lemma in VAGUE and subject.child("prep") is None


def _subject(clause: Clause, near: ClauseContext, dated: DatedExpression | None) -> str | None:
    """Who: named, or left out ("Passed it on Thursday"), where it is the speaker."""
    word, tag, coref = clause.subject, clause.first.tag, near.coref
    says_what = clause.object is not None and clause.object.pos in ("NOUN", "PROPN")
    if word is not None:
        if word.lower in WH and clause.link != "relative":
            return None
        points = {one.i for time in near.times if time.interval is not None for one in time.words}
        who = coref.phrase(word, points)  # "On Friday Olga moved"
        # "Last night was the fair", but not "Last night was hard"
        return who or (coref.phrase(word) if says_what else None)
    if clause.verb.lemma == "be" and dated is not None and dated.words[0].i < clause.verb.i:
        return dated.ref.text if says_what else None
    named = clause.verb.child("compound")
    if named is not None and named.pos == "PROPN":
        return coref.phrase(named)  # "Dr. Sampaio rang": the parser took the verb for a surname
    if tag in ("VB", "VBP"):  # a request, unless a list of plans has it: "Remind you on Friday"
        about_you = clause.object is not None and clause.object.lower in SECOND and dated is not None
        return coref.speaker if near.header.ahead or about_you else None
    if dated is None and (
        clause.link != "root"
        or clause.words()[0].lower in MANNERS
        or (clause.object is None and tag != "VBG")
        or (tag == "VBN" and clause.verb.child("dobj") is None)
    ):
        return None  # "Nice meeting you", "Well done!", "so moved by it"
    return coref.speaker if tag in ("VBD", "VBN", "VBG") or near.header.ahead else None


def _when(clause: Clause, dated: DatedExpression | None, near: ClauseContext) -> tuple[Interval, str, bool]:
    """The interval, the words for it, and whether the text itself dates the clause."""
    kind, last = tense(clause), near.before
    lasted = clause_times.lasting(near.times) if kind in ("perfect", "progressive") else None
    frame = near.frame if kind in ("past", "perfect", "future") else None
    own = next((one for one in (dated, lasted, frame) if one is not None and one.interval is not None), None)
    if own is None and last is not None and not last.event.inferred and _follows(clause, last):
        assert last.event.occurred is not None
        return last.event.occurred, last.event.expression, True
    own = own or near.header.dated
    if own is not None and own.interval is not None:
        return own.interval, own.ref.text, True
    again = next((one.ref.text for one in near.times if one.ref.kind == "recurrence"), "")
    return clause_times.day_of(near.turn), again, False


def _follows(clause: Clause, last: EventDraft) -> bool:
    """Whether a clause goes on with what the last one told: in the same sentence, or after "and", "but", "then"."""
    past = ("past", "perfect")
    if last.clause is None or clause.link in ("said", "condition", "when", "after"):
        return False
    if (tense(clause) in past) != (tense(last.clause) in past):
        return False
    apart = clause.first.sentence - last.clause.first.sentence
    return apart == 0 or (apart == 1 and clause.words()[0].lower in ("and", "but", "then"))


def _frames(found: Sequence[Clause], owned: dict[int, list[DatedExpression]]) -> dict[int, DatedExpression]:
    """ "Yesterday was mad - we moved house": the time that is a sentence's own subject holds for all of it."""
    frames: dict[int, DatedExpression] = {}
    for place, clause in enumerate(found):
        for dated in owned.get(place, []):
            named = clause.subject is None or clause.subject in dated.words
            if named and clause.verb.lemma == "be" and dated.words[0].i < clause.verb.i:
                frames.setdefault(clause.first.sentence, dated)
    return frames


def _corrected(state: Status, clause: Clause, interval: Interval, turn: Turn) -> Status:
    """What the calendar says against the grammar: "we fly on Thursday" lies ahead."""
    kind = tense(clause)
    if interval.end is None and state == "happened" and kind == "perfect":
        return "ongoing"  # "I have been there since March"
    if state in ("ongoing", "happened") and interval.start is not None and interval.start > turn.said_at:
        return "planned"  # "booked the ferry for 3 June": the booking is over, the ferry is to come
    behind = interval.end is not None and interval.end <= turn.said_at
    if behind and state in ("ongoing", "planned") and kind in ("present", "progressive"):
        return "happened"
    return state


def _only_dates(clause: Clause) -> bool:
    """ "It was last Friday": a sentence that only dates the one before."""
    subject = clause.subject
    if clause.verb.lemma != "be" or subject is None or subject.lower not in ("it", "that", "this"):
        return False
    rest = [
        word.dep
        for word in clause.words()
        if word.pos in ("NOUN", "PROPN", "NUM", "ADJ", "VERB") and word is not clause.verb
    ]
    return len(rest) <= 3 and {"pobj", "attr", "nummod", "amod", "compound", "npadvmod"}.issuperset(rest)


def _date_again(draft: EventDraft, times: Sequence[DatedExpression]) -> EventDraft:
    event = draft.event
    dated = chosen(times, side_of(event.status, False))
    if dated is None or dated.interval is None or not event.inferred:
        return draft
    when, words = dated.interval, dated.ref.text
    event = replace(event, occurred=when, expression=words, inferred=False, confidence=SURE - 0.1)
    return replace(draft, event=event)


def _further(draft: EventDraft, near: ClauseContext) -> list[EventDraft]:
    """The other times of a draft's clause, each as an event: "in 2016, 2018 and 2023".

    It has its own place where one stands before it: "to Lisbon in March and to Porto in April".
    """
    event = draft.event
    points = [one for one in near.times if one.interval is not None and one.ref.kind == "point"]
    points.sort(key=lambda one: one.words[0].i)
    if not 2 <= len(points) <= MOST_TIMES or event.inferred or points[0].ref.text != event.expression:
        return []
    told = [event.occurred]
    found: list[EventDraft] = []
    for last, dated in pairwise(points):
        between = near.parse.words[last.words[-1].i + 1 : dated.words[0].i]
        if not between or between[0].lower not in _JOINTS or any(w.pos in ("VERB", "AUX") for w in between):
            return []
        placed = dated.placed(side_of(event.status, False))
        when = placed.interval
        if when is None or any(one is not None and when.overlaps(one) for one in told):
            return []
        place = _place(between)
        named = any(word.pos in ("NOUN", "PROPN") for word in place)
        where = near.coref.tell(place) if named else event.object
        other = replace(event, object=where, occurred=when, expression=placed.ref.text, quantity="")
        found.append(replace(draft, event=other))
        told.append(when)
    return found


def _place(between: Sequence[Word]) -> list[Word]:
    """The words between two times without what joins them and the second one's preposition."""
    words = [word for word in between if word.lower not in _JOINTS and word.pos not in ("PUNCT", "SPACE")]
    return words[:-1] if words and words[-1].pos == "ADP" else words
