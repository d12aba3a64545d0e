"""Events of a turn: who did what, when, and whether it happened.

Most are clauses. Some no clause says: dated fragments ("Dentist on Thursday"), items of a list under a dated header,
and replies that only say a time ("When did you adopt Max?" - "like 2 weeks ago").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from everwhen.types import Turn
from everwhen.write.extract.base import CausalLink, ExtractedEvent, Status
from everwhen.write.extract.clauses import (
    PLACES,
    Clause,
    DatedExpression,
    Side,
    attach,
    chosen,
    clauses,
    day_of,
    expressions,
    lasting,
    side_of,
)
from everwhen.write.extract.grammar import (
    ARRANGING,
    LIGHT,
    MANNERS,
    MENTAL,
    OCCASIONS,
    PERSON_WORDS,
    SECOND,
    STATIVE,
    VAGUE,
    WH,
    Parse,
    ProseLine,
    Word,
    past_form,
    vocabulary,
)
from everwhen.write.extract.names import Coreference
from everwhen.write.modality import denied, status, tense, unmeant
from everwhen_time import Interval

SURE, DATED_LATER, INFERRED, LOOSE = 0.85, 0.75, 0.5, 0.5
"""Confidence of an event whose clause is dated, of one dated by a reply or by the next sentence, of one dated by its
turn, and of one said without a verb."""
BECAUSE, SO, AFTER = 0.8, 0.7, 0.5
"""Confidence that one event caused another, by the word that says so."""
_OPENERS = vocabulary("when while after before because so then also btw anyway plus")


@dataclass(frozen=True, slots=True)
class EventDraft:
    """What a clause, a fragment or a list item says, with the words that say it."""

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
        parent = places.get(id(clause.parent)) if clause is not None and clause.parent is not None else None
        if clause is None or parent is None:
            continue
        if clause.link in ("because", "after"):
            confidence = BECAUSE if clause.link == "because" else AFTER
            found.append(CausalLink(first + place, first + parent, confidence))
        elif clause.link == "joined" and any(word.lower == "so" for word in draft.words[:2]):
            found.append(CausalLink(first + parent, first + place, SO))
    return found


def _object_of(clause: Clause, times: Sequence[DatedExpression], coref: Coreference) -> str:
    """The words for what the clause's verb is done to, without its times: "her flat" of "sold her flat last week"."""
    word = clause.object
    temporal = {one.i for dated in times for one in dated.words}
    if word is not None and (word.i in temporal or _is_before_a_time(word, temporal)):
        roles = ("dobj", "attr", "acomp", "prep", "dative")
        after = (one for one in clause.verb.children if one.i > clause.verb.i and one.i not in temporal)
        others = (one for one in after if one.dep in roles or one.lower in PLACES)
        word = next((one for one in others if not _is_before_a_time(one, temporal)), None)
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


def _is_before_a_time(word: Word, temporal: set[int]) -> bool:
    """Whether a preposition leads to a time: "on Friday", or "at lunch yesterday", where the time hangs on its noun."""
    target = word.child("pobj")
    if target is None or target.i in temporal:
        return target is not None
    return target.i + 1 in temporal and any(child.i in temporal for child in target.children)


def _sentence_of(clause: Clause, words: Sequence[Word], subject: str, coref: Coreference) -> str:
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
    sentence = coref.tell(words)
    if (clause.subject is None or clause.inherited) and not sentence.casefold().startswith(
        subject.casefold()
    ):
        proper = bool(words) and words[0].pos == "PROPN"
        sentence = f"{subject} {sentence if proper else sentence[:1].lower() + sentence[1:]}"
    return sentence


def _quantity_of(words: Sequence[Word], times: Sequence[DatedExpression]) -> str:
    """The first number that is no time, with what it counts: "three old bikes"; empty if there is none."""
    temporal = {one.i for dated in times for one in dated.words}
    for word in words:
        if word.pos == "NUM" and word.i not in temporal and word.dep in ("nummod", "dobj", "attr", "pobj"):
            if word.dep == "nummod":
                between = [one for one in words if word.i <= one.i <= word.head.i]
                return " ".join(one.text for one in between[:4])
            return word.text
    return ""


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


@dataclass(frozen=True, slots=True)
class ListHeader:
    """What the line above a list says for each item: a time, and whether it lies ahead."""

    dated: DatedExpression | None = None
    ahead: bool = False


def header_of(parse: Parse, turn: Turn) -> ListHeader:
    """What a line says about the list under it; only a person's list can be of what that person plans."""
    dated = next((one for one in expressions(parse, turn) if one.interval is not None), None)
    return ListHeader(dated, turn.role == "user" and bool(_TODO.search(parse.text)))


def _fragment(
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


def event_from_time_reply(
    turn: Turn, parses: Sequence[Parse], earlier_turns: Sequence[ParsedTurn]
) -> EventDraft | None:
    """The event that a turn dates which only says a time: the event asked for, or the last one of its speaker."""
    if not earlier_turns or turn.role == "assistant" or len(parses) != 1:
        return None
    asked, (reply,) = earlier_turns[-1], parses
    if asked.turn.speaker == turn.speaker or not asked.read:
        return None
    question = asked.read[-1][1]
    if not _ASKS_WHEN.search(question.text):
        return None
    found = [one for one in expressions(reply, turn) if one.interval is not None]
    inside = {word.i for one in found for word in one.words}
    rest = [word for word in reply.words if word.i not in inside and word.pos not in _UNSAID]
    if len(found) != 1 or any(word.lower not in _AROUND_A_TIME for word in rest):
        return None  # it says something else than a time
    (dated,) = found
    clause = next((one for one in reversed(clauses(question)) if one.subject is not None), None)
    if clause is None or clause.subject is None or clause.subject.lower in _SAME:
        # "I quit my job." - "Oh, when?" - "Last Friday"
        previous = earlier_turns[-2] if len(earlier_turns) > 1 else None
        if previous is None or previous.turn.speaker != turn.speaker or not previous.drafts:
            return None
        event = previous.drafts[-1].event
        if not event.inferred:
            return None
        return _dated(event, dated, "future" if event.status == "planned" else "past", reply)
    heard = replace(asked.coref, listener=turn.speaker)  # "you" is who answers
    return _event_of_question(clause, heard.phrase(clause.subject), dated, reply, heard)


def _event_of_question(
    clause: Clause, subject: str, dated: DatedExpression, reply: Parse, coref: Coreference
) -> EventDraft | None:
    """The event that a question asks the time of, with that time: "When did you adopt Max?" - "like 2 weeks ago"."""
    past, turn = tense(clause) in ("past", "perfect"), dated.turn
    asked = ExtractedEvent(
        subject=subject,
        verb=clause.lemma,
        object=_object_of(clause, (), coref),
        text=f"{subject} {_declared(clause, coref)}",
        turns=(turn.id,),
        polarity=-1 if denied(clause) else 1,
    )
    draft = _dated(asked, dated, "past" if past else "future", reply)
    start = draft.event.occurred.start if draft is not None and draft.event.occurred is not None else None
    if draft is not None and not past and start is not None and start > turn.said_at:
        return replace(draft, event=replace(draft.event, status="planned"))
    return draft


def _dated(event: ExtractedEvent, dated: DatedExpression, side: Side, reply: Parse) -> EventDraft | None:
    """The event at the time that was replied."""
    placed = dated.placed(side)
    if placed.interval is None:
        return None
    # The time in the reply's words, with its preposition.
    first, words = placed.words[0], placed.ref.text
    word_before = reply.words[first.i - 1] if first.i else None
    prepositions = ("in", "on", "at", "around", "about")
    if word_before is not None and word_before.pos == "ADP" and word_before.lower in prepositions:
        worded = f"{word_before.lower} {words}"
    else:
        worded = words if first.pos == "PROPN" else words[:1].lower() + words[1:]
    text = f"{event.text} {worded}"
    event = replace(event, text=text, turns=(dated.turn.id,), occurred=placed.interval, expression=words)
    return EventDraft(replace(event, inferred=False, confidence=DATED_LATER))


def _declared(clause: Clause, coref: Coreference) -> str:
    """What was asked, as a statement without its subject: "did you adopt Max" is "adopted Max"."""
    assert clause.subject is not None  # `event_from_time_reply` has checked it
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


MOST_TIMES = 5
"""Times of one clause that become events of their own."""
_BECOMING = vocabulary("make get find keep leave feel stay become remain")
_JOINTS = frozenset({"and", "or", ",", "&", "then", ";"})


@dataclass(frozen=True, slots=True)
class ClauseContext:
    """What stands around a clause: the turn and who is meant in it, and what dates it: its own expressions, the
    sentence's frame, the event said just before, the header."""

    turn: Turn
    parse: Parse
    coref: Coreference
    times: Sequence[DatedExpression]
    frame: DatedExpression | None
    last_draft: EventDraft | None
    header: ListHeader


def events_of_passage(
    turn: Turn,
    passage: ProseLine,
    parse: Parse,
    coref: Coreference,
    header: ListHeader,
    last_draft: EventDraft | None,
) -> list[EventDraft]:
    """The events that a passage states, in its order; `last_draft` is the last one before it in the same turn."""
    found = clauses(parse)
    owned, loose = attach(found, expressions(parse, turn))
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
        last, frame = drafts[-1] if drafts else last_draft, frames.get(clause.first.sentence)
        near = ClauseContext(turn, parse, coref, times, frame, last, header)
        draft = _draft(clause, near)
        if draft is not None:
            drafts += [draft, *_further(draft, near)]
    covered = {clause.first.sentence for clause in found}
    fragments = [(parse.sentences[dated.words[0].sentence], dated) for dated in loose]
    if passage.item and not drafts and header.dated is not None:
        fragments.append((parse.sentences[0], header.dated))  # the header's words are of another parse
    for sentence, dated in fragments:
        if sentence[0].sentence not in covered and others.isdisjoint(word.i for word in sentence):
            draft = _fragment(sentence, dated, coref, header)
            if draft is not None:
                drafts.append(draft)
                covered.add(sentence[0].sentence)
    return drafts


def _draft(clause: Clause, near: ClauseContext) -> EventDraft | None:
    state = status(clause)
    if near.header.ahead and state == "ongoing" and clause.subject is None:
        state = "planned"
    side = side_of(state, tense(clause) in ("present", "progressive"))
    if clause.verb.lemma in ARRANGING and any(
        up is clause.object or up.pos in ("NOUN", "PROPN", "NUM")
        for dated in near.times
        for up in dated.head.ancestors()
    ):
        side = "future"  # "signed up for a race on Saturday": the time is the race's
    dated = chosen(near.times, side)
    subject = _subject(clause, near, dated)
    if (
        not subject
        or not clause.lemma[:1].isalpha()
        or not _is_event(clause, near.times, state, listed=near.header.ahead)
    ):
        return None
    interval, expression, is_dated_by_text = _when(clause, dated, near)
    who = clause.subject
    vague = who is not None and who.lemma in VAGUE and who.child("prep") is None
    if not is_dated_by_text and (state == "hypothetical" or vague):
        return None  # "it went well": nobody knows what
    words = tuple(clause.words())
    confidence = SURE if is_dated_by_text else INFERRED
    confidence *= 1.0 if dated is None else max(dated.ref.confidence, 0.7)
    event = ExtractedEvent(
        subject=subject,
        verb=clause.lemma,
        object=_object_of(clause, near.times, near.coref),
        text=_sentence_of(clause, words, subject, near.coref),
        turns=(near.turn.id,),
        occurred=interval,
        expression=expression,
        inferred=not is_dated_by_text,
        status=_corrected(state, clause, interval, near.turn) if is_dated_by_text else state,
        polarity=-1 if denied(clause) else 1,
        quantity=_quantity_of(words, near.times),
        confidence=round(confidence, 2),
    )
    return EventDraft(event, words, clause)


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
    kind, last = tense(clause), near.last_draft
    lasted = lasting(near.times) if kind in ("perfect", "progressive") else None
    frame = near.frame if kind in ("past", "perfect", "future") else None
    dates = (one for one in (dated, lasted, frame) if one is not None and one.interval is not None)
    chosen_date = next(dates, None)
    if chosen_date is None and last is not None and not last.event.inferred and _follows(clause, last):
        assert last.event.occurred is not None
        return last.event.occurred, last.event.expression, True
    chosen_date = chosen_date or near.header.dated
    if chosen_date is not None and chosen_date.interval is not None:
        return chosen_date.interval, chosen_date.ref.text, True
    recurrence = next((one.ref.text for one in near.times if one.ref.kind == "recurrence"), "")
    return day_of(near.turn), recurrence, False


def _follows(clause: Clause, last: EventDraft) -> bool:
    """Whether a clause goes on with what the last one said: in the same sentence, or after "and", "but", "then"."""
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
    """The status, corrected by the date: where the grammar says now and the date is later, the event is planned."""
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
    """The draft at the time that the next sentence gives for it, unless its own sentence is dated."""
    event = draft.event
    dated = chosen(times, side_of(event.status, False))
    if dated is None or dated.interval is None or not event.inferred:
        return draft
    when, words = dated.interval, dated.ref.text
    event = replace(event, occurred=when, expression=words, inferred=False, confidence=DATED_LATER)
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
    known = [event.occurred]
    found: list[EventDraft] = []
    for last, dated in pairwise(points):
        between = near.parse.words[last.words[-1].i + 1 : dated.words[0].i]
        if not between or between[0].lower not in _JOINTS or any(w.pos in ("VERB", "AUX") for w in between):
            return []
        placed = dated.placed(side_of(event.status, False))
        when = placed.interval
        if when is None or any(one is not None and when.overlaps(one) for one in known):
            return []
        # Without what joins the two times, and without the second one's preposition.
        place = [word for word in between if word.lower not in _JOINTS and word.pos not in ("PUNCT", "SPACE")]
        place = place[:-1] if place and place[-1].pos == "ADP" else place
        named = any(word.pos in ("NOUN", "PROPN") for word in place)
        where = near.coref.tell(place) if named else event.object
        other = replace(event, object=where, occurred=when, expression=placed.ref.text, quantity="")
        found.append(replace(draft, event=other))
        known.append(when)
    return found


# Whether a clause says an occurrence: a thing done, or a state that is dated


def _is_event(clause: Clause, times: Sequence[DatedExpression], state: Status, *, listed: bool) -> bool:
    """Whether a clause states an occurrence; `listed` says that it is an item of a list of plans."""
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
    content = clause.verb.child("ccomp")
    if object_ is None and content is not None and content.i > clause.verb.i:
        return False  # "I heard that …": the other clause says it
    if any(word.lower in ("ca", "can", "cannot") for word in clause.auxiliaries):
        return False  # "I can't wait"
    if state == "planned" and subject is not None and subject.pos == "NOUN":
        return subject.lemma in PERSON_WORDS  # "the studio will change things" is a prediction
    return not (state == "negated" and tense(clause) == "future" and object_ is None)  # "I won't give up"


def _is_deed(clause: Clause, state: Status, listed: bool) -> bool:
    """Whether an undated clause states something done: no state, no habit, no general truth."""
    lemma, kind, object_ = clause.verb.lemma, tense(clause), clause.object
    if lemma == "have" and object_ is not None and kind in ("past", "perfect", "future"):
        return object_.lemma in OCCASIONS or (state == "negated" and kind == "perfect")
    is_said = listed or kind != "present"
    if kind == "bare" and not listed:
        is_said = state == "negated"  # "I couldn't come", but not "select a box"
    return is_said and lemma not in STATIVE
