"""Events of a turn: each clause that tells an occurrence, with who, what, when and whether it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.grammar.cleaning import ProseLine
from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.grammar.word_lists import ARRANGING, MANNERS, SECOND, VAGUE, WH
from everwhen.ingest.extract.rules.clause_times import (
    DatedExpression,
    SpeechTime,
    attach,
    chosen,
    expressions,
    lasting,
    on_the_side,
    side_of,
)
from everwhen.ingest.extract.rules.clause_wording import object_of, quantity_of, sentence_of
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.ingest.extract.rules.event_draft import INFERRED, SURE, EventDraft
from everwhen.ingest.extract.rules.fragments import ListHeader, fragment
from everwhen.ingest.extract.rules.is_event import is_event
from everwhen.ingest.extract.rules.modality import asked, denied, is_ironic, status, tense
from everwhen.when import Interval

MOST_TIMES = 5
"""Times of one clause that are told as events of their own."""
_JOINTS = frozenset({"and", "or", ",", "&", "then", ";"})


@dataclass(frozen=True, slots=True)
class DatingContext:
    """What dates a clause: its own expressions, the sentence's frame, the event told just before, the header."""

    times: Sequence[DatedExpression]
    frame: DatedExpression | None
    before: EventDraft | None
    header: ListHeader


def events(
    passage: ProseLine,
    parse: Parse,
    coref: Coreference,
    moment: SpeechTime,
    header: ListHeader,
    before: Sequence[EventDraft] = (),
) -> list[EventDraft]:
    """The events that a passage tells, in its order; `before` is the last one told in the same turn."""
    found = clauses(parse)
    owned, loose = attach(found, expressions(parse, moment))
    frames = _frames(found, owned)
    unmeant = _unmeant(passage, parse)
    drafts: list[EventDraft] = []
    for place, clause in enumerate(found):
        if clause.first.i in unmeant:
            continue
        times = owned.get(place, [])
        if times and drafts and _only_dates(clause):
            _date_again(drafts[-1], times, parse, moment)
            continue
        last = (drafts or list(before))[-1:]
        near = DatingContext(times, frames.get(clause.first.sentence), last[0] if last else None, header)
        draft = _draft(clause, near, parse, coref, moment)
        if draft is not None:
            drafts += [draft, *_further(draft, times, parse, coref, moment)]
    told = {clause.first.sentence for clause in found}
    if passage.item and not drafts and header.dated is not None:
        loose = [*loose, header.dated]
    for dated in loose:
        sentence = parse.sentences[dated.words[0].sentence if dated is not header.dated else 0]
        if sentence[0].sentence not in told and unmeant.isdisjoint(word.i for word in sentence):
            draft = fragment(sentence, dated, parse, coref, moment, header)
            if draft is not None:
                drafts.append(draft)
                told.add(sentence[0].sentence)
    return drafts


def _unmeant(passage: ProseLine, parse: Parse) -> set[int]:
    """The places of words that are asked, ironic or quoted."""
    found: set[int] = set()
    for sentence in parse.sentences:
        ironic = is_ironic(parse.text[sentence[0].start : sentence[-1].end])
        found |= {word.i for word in sentence if ironic or passage.quoted(word.start)} | asked(sentence)
    return found


def _draft(
    clause: Clause, near: DatingContext, parse: Parse, coref: Coreference, moment: SpeechTime
) -> EventDraft | None:
    state = _status(clause, near.header)
    side = side_of(state, tense(clause) in ("present", "progressive"))
    if clause.verb.lemma in ARRANGING and any(_is_of_a_thing(dated, clause) for dated in near.times):
        side = "future"
    dated = chosen(near.times, side, parse.text, moment)
    subject = _subject(clause, near, dated, coref)
    if (
        not subject
        or not clause.lemma[:1].isalpha()
        or not is_event(clause, near.times, state, listed=near.header.ahead)
    ):
        return None
    interval, expression, own = _when(clause, dated, near, moment)
    if not own and (state == "hypothetical" or _is_vague(clause.subject)):
        return None  # "it went well": nobody can tell what
    words = tuple(clause.words())
    sure = (SURE if own else INFERRED) * (1.0 if dated is None else max(dated.ref.confidence, 0.7))
    return EventDraft(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, near.times, coref),
        text=sentence_of(clause, words, subject, coref),
        occurred=interval,
        expression=expression,
        inferred=not own,
        status=_corrected(state, clause, interval, moment) if own else state,
        polarity=-1 if denied(clause) else 1,
        quantity=quantity_of(words, near.times),
        confidence=round(sure, 2),
        words=words,
        clause=clause,
    )


def _status(clause: Clause, header: ListHeader) -> Status:
    state = status(clause)
    return "planned" if header.ahead and state == "ongoing" and clause.subject is None else state


def _is_of_a_thing(dated: DatedExpression, clause: Clause) -> bool:
    """ "signed up for a race on Saturday": the time is the race's."""
    return any(up is clause.object or up.pos in ("NOUN", "PROPN", "NUM") for up in dated.head.ancestors())


def _is_vague(subject: Word | None) -> bool:
    return subject is not None and subject.lemma in VAGUE and subject.child("prep") is None


def _subject(
    clause: Clause, near: DatingContext, dated: DatedExpression | None, coref: Coreference
) -> str | None:
    """Who: named, or left out ("Passed it on Thursday"), where it is the speaker."""
    word, tag = clause.subject, clause.first.tag
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


def _when(
    clause: Clause, dated: DatedExpression | None, near: DatingContext, moment: SpeechTime
) -> tuple[Interval, str, bool]:
    """The interval, the words for it, and whether the text itself dates the clause."""
    if dated is not None and dated.interval is not None:
        return dated.interval, dated.ref.text, True
    kind, last, header = tense(clause), near.before, near.header.dated
    since = lasting(near.times, moment) if kind in ("perfect", "progressive") else None
    if since is not None:
        return since, next(one.ref.text for one in near.times if one.ref.kind == "duration"), True
    frame = near.frame if kind in ("past", "perfect", "future") else None
    if frame is not None and frame.interval is not None:
        return frame.interval, frame.ref.text, True
    if last is not None and not last.inferred and _follows(clause, last):
        return last.occurred, last.expression, True
    if header is not None and header.interval is not None:
        return header.interval, header.ref.text, True
    again = next((one.ref.text for one in near.times if one.ref.kind == "recurrence"), "")
    return moment.day(), again, False


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


def _corrected(state: Status, clause: Clause, interval: Interval, moment: SpeechTime) -> Status:
    """What the calendar says against the grammar: "we fly on Thursday" lies ahead."""
    kind = tense(clause)
    if interval.end is None and state == "happened" and kind == "perfect":
        return "ongoing"  # "I have been there since March"
    if state == "ongoing" and interval.start is not None and interval.start > moment.at:
        return "planned"
    behind = interval.end is not None and interval.end <= moment.at
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


def _date_again(
    draft: EventDraft, times: Sequence[DatedExpression], parse: Parse, moment: SpeechTime
) -> None:
    dated = chosen(times, side_of(draft.status, False), parse.text, moment)
    if dated is not None and dated.interval is not None and draft.inferred:
        draft.occurred, draft.expression, draft.inferred = dated.interval, dated.ref.text, False
        draft.confidence = SURE - 0.1


def _further(
    draft: EventDraft, times: Sequence[DatedExpression], parse: Parse, coref: Coreference, moment: SpeechTime
) -> list[EventDraft]:
    """The other times of a draft's clause, each as an event: "in 2016, 2018 and 2023".

    It has its own place where one stands before it: "to Lisbon in March and to Porto in April".
    """
    points = [one for one in times if one.interval is not None and one.ref.kind == "point"]
    points.sort(key=lambda one: one.words[0].i)
    if not 2 <= len(points) <= MOST_TIMES or draft.inferred or points[0].ref.text != draft.expression:
        return []
    found: list[EventDraft] = []
    for last, dated in pairwise(points):
        between = parse.words[last.words[-1].i + 1 : dated.words[0].i]
        if not between or between[0].lower not in _JOINTS or any(w.pos in ("VERB", "AUX") for w in between):
            return []
        placed = on_the_side(dated, side_of(draft.status, False), parse.text, moment)
        if placed.interval is None or any(placed.interval.overlaps(one.occurred) for one in (draft, *found)):
            return []
        place = _place(between)
        where = coref.tell(place) if any(word.pos in ("NOUN", "PROPN") for word in place) else draft.object
        found.append(
            replace(draft, object=where, occurred=placed.interval, expression=placed.ref.text, quantity="")
        )
    return found


def _place(between: Sequence[Word]) -> list[Word]:
    """The words between two times without what joins them and the second one's preposition."""
    words = [word for word in between if word.lower not in _JOINTS and word.pos not in ("PUNCT", "SPACE")]
    return words[:-1] if words and words[-1].pos == "ADP" else words
