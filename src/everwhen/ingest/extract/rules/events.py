"""Events of a turn: each clause that tells an occurrence, with who, what, when and whether it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.cleaning import Passage
from everwhen.ingest.extract.rules.draft import INFERRED, SURE, Draft
from everwhen.ingest.extract.rules.fragments import Header, fragment, listed
from everwhen.ingest.extract.rules.lexicon import ARRANGING, MANNERS, SECOND, THIRD, WH
from everwhen.ingest.extract.rules.modality import asked, denied, is_ironic, is_request, status, tense
from everwhen.ingest.extract.rules.occurrences import further
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.telling import tells
from everwhen.ingest.extract.rules.times import (
    Dated,
    Moment,
    Side,
    attach,
    chosen,
    expressions,
    lasting,
    on_the_side,
    side_of,
)
from everwhen.ingest.extract.rules.voices import Voices
from everwhen.ingest.extract.rules.wording import object_of, quantity_of, sentence_of
from everwhen.when import Interval

_NOUNS = ("NOUN", "PROPN", "NUM")
STOCK = frozenset(["note", "understand", "agree", "do", "guess"])
"""Answers of one word in the past: nobody's deed."""


@dataclass(frozen=True, slots=True)
class Near:
    """What dates a clause: its own expressions, the sentence's frame, and the event told just before."""

    times: Sequence[Dated]
    frame: Dated | None
    before: Sequence[Draft]


def events(
    passage: Passage,
    parse: Parse,
    voices: Voices,
    moment: Moment,
    header: Header,
    before: Sequence[Draft] = (),
) -> list[Draft]:
    """The events that a passage tells, in its order; `before` is the last one told in the same turn."""
    found = clauses(parse)
    times = expressions(parse, moment)
    owned, loose = attach(found, times)
    questions = {place for sentence in parse.sentences for place in asked(sentence)}
    ironic = _ironic_sentences(passage, parse)
    drafts: list[Draft] = []
    frames = _frames(found, owned)
    for place, clause in enumerate(found):
        if (
            clause.first.i in questions
            or clause.first.sentence in ironic
            or passage.quoted(clause.verb.start)
        ):
            continue
        if _only_dates(clause) and drafts and owned.get(place):
            _date_again(drafts[-1], owned[place], parse, moment)
            continue
        near = Near(owned.get(place, []), frames.get(clause.first.sentence), (drafts or list(before))[-1:])
        draft = _draft(clause, near, parse, voices, moment, header)
        if draft is not None:
            drafts += [draft, *further(draft, near.times, parse, voices, moment)]
    told = {draft.clause.first.sentence for draft in drafts if draft.clause is not None}
    for dated in loose:
        sentence = parse.sentences[dated.words[0].sentence]
        number = dated.words[0].sentence
        if (
            number in told
            or number in ironic
            or sentence[0].i in questions
            or passage.quoted(dated.words[0].start)
        ):
            continue
        side: Side = "future" if header.ahead else "nearest"
        draft = fragment(
            sentence, on_the_side(dated, side, parse.text, moment), found, voices, moment, header
        )
        if draft is not None:
            told.add(number)
            drafts.append(draft)
    if passage.item and not drafts:
        drafts += listed(parse, voices, moment, header)
    return drafts


def _draft(
    clause: Clause, near: Near, parse: Parse, voices: Voices, moment: Moment, header: Header
) -> Draft | None:
    times = near.times
    if any(word.lower == "to" for word in clause.first.children if word.dep == "aux"):
        return None  # "a place to open a studio": what is only meant for something
    state = _status(clause, header)
    side = side_of(state, tense(clause) in ("present", "progressive"))
    if clause.verb.lemma in ARRANGING and any(
        one.head.head.pos in _NOUNS or _in_object(one, clause) for one in times
    ):
        side = "future"
    dated = chosen(times, side, parse.text, moment)
    subject = _subject(clause, times, dated, voices, header)
    if (
        subject is None
        or not clause.lemma[:1].isalpha()
        or not tells(clause, times, state, listed=header.ahead)
    ):
        return None
    since = lasting(times, moment) if tense(clause) in ("perfect", "progressive") and dated is None else None
    interval, expression, own = _when(clause, dated, since, near, moment, header)
    if (
        not own
        and clause.subject is not None
        and clause.subject.lemma in ("it", "this", "that", "much", "everything")
    ):
        return None  # "it went well": nobody can tell what
    state = _corrected(state, clause, interval, moment, own)
    if state == "hypothetical" and not own:
        return None
    words = tuple(clause.words())
    sure = (SURE if own else INFERRED) * (1.0 if dated is None else max(dated.ref.confidence, 0.7))
    if subject.lower() in THIRD or clause.subject is None:
        sure -= 0.1
    if clause.link == "said" or state == "hypothetical":
        sure -= 0.1
    return Draft(
        subject=subject,
        verb=clause.lemma,
        object=object_of(clause, times, voices),
        text=sentence_of(clause, words, subject, voices),
        occurred=interval,
        expression=expression,
        inferred=not own,
        status=state,
        polarity=-1 if denied(clause) else 1,
        quantity=quantity_of(words, times),
        confidence=round(max(sure, 0.1), 2),
        words=words,
        clause=clause,
    )


def _status(clause: Clause, header: Header) -> Status:
    state = status(clause)
    if header.ahead and state in ("ongoing", "planned") and clause.subject is None:
        return "planned"
    return state


def _subject(
    clause: Clause, times: Sequence[Dated], dated: Dated | None, voices: Voices, header: Header
) -> str | None:
    """Who: named, or left out at the start of a sentence ("Passed it on Thursday"), where it is the speaker."""
    word = clause.subject
    if word is not None:
        if (word.lower in WH and clause.link != "relative") or word.lower in ("'s", "s"):
            return None
        if clause.parent is not None and clause.parent.verb.lemma == "let":
            return None
        points = {one.i for near in times if near.interval is not None for one in near.words}
        who = voices.phrase(word, points)  # "On Friday Olga moved"
        return who or (voices.phrase(word) if _is_named(clause) else None)
    if clause.verb.lemma == "be" and dated is not None and dated.words[0].i < clause.verb.i:
        return dated.ref.text if _is_named(clause) else None
    if clause.object is not None and clause.object.tag == "VBZ":
        return None  # "Woodworking calms me": a subject that was taken for a verb
    if (
        clause.verb.lemma == "note"
        or (clause.verb.lemma in STOCK and clause.object is None)
        or (clause.object is None and dated is None and clause.first.tag != "VBG")
    ):
        return None  # "Noted.", "Well done!"
    if clause.verb.lemma == "get" and clause.object is not None and clause.object.lower in ("it", "cha"):
        return None  # "Got it."
    if clause.link != "root" and not (
        clause.link == "joined" and clause.parent and clause.parent.subject is None
    ):
        return None
    if is_request(clause):
        about_you = clause.object is not None and clause.object.lower in SECOND and dated is not None
        return voices.speaker if header.ahead or about_you else None
    opener = _first(clause.first)
    if clause.first.tag == "VBG" and (clause.first.i - opener.i > 4 or opener.lower in MANNERS | {"here"}):
        return None  # "Good chatting with you"
    if clause.first.tag == "VBN" and clause.verb.child("dobj") is None and dated is None:
        return None  # "impressed by your work", "so stoked": a feeling
    return voices.speaker if clause.first.tag in ("VBD", "VBN", "VBG", "VBP") or header.ahead else None


def _is_named(clause: Clause) -> bool:
    """Whether it says what was: "Last night was the fair", but not "Last week was hard"."""
    return clause.object is not None and clause.object.pos in ("NOUN", "PROPN")


def _first(word: Word) -> Word:
    """The first word of the sentence."""
    at = word
    for up in word.ancestors():
        at = up
    return next(iter(at.subtree()))


def _when(
    clause: Clause, dated: Dated | None, since: Interval | None, near: Near, moment: Moment, header: Header
) -> tuple[Interval, str, bool]:
    """The interval, the words for it, and whether the text itself dates the clause."""
    if dated is not None and dated.interval is not None:
        return dated.interval, dated.ref.text, True
    if since is not None:
        return since, next(one.ref.text for one in near.times if one.ref.kind == "duration"), True
    if (
        near.frame is not None
        and near.frame.interval is not None
        and tense(clause) in ("past", "perfect", "future")
    ):
        return near.frame.interval, near.frame.ref.text, True
    last = near.before[0] if near.before else None
    if last is not None and not last.inferred and _follows(clause, last):
        return last.occurred, last.expression, True
    if header.dated is not None and header.dated.interval is not None:
        return header.dated.interval, header.dated.ref.text, True
    again = next((one.ref.text for one in near.times if one.ref.kind == "recurrence"), "")
    return moment.day(), again, False


def _follows(clause: Clause, last: Draft) -> bool:
    """Whether a clause goes on with what the last one told: in the same sentence, or after "and", "but", "then"."""
    other = last.clause
    if other is None or clause.link in ("said", "condition", "when", "after"):
        return False
    past = ("past", "perfect")
    if tense(clause) == "present" or (tense(clause) in past) != (tense(other) in past):
        return False
    if other.first.sentence == clause.first.sentence and any(
        clause.verb is word.head for word in clause.words()
    ):
        return True
    opener = next(iter(clause.words()))
    return other.first.sentence == clause.first.sentence - 1 and opener.lower in ("and", "but", "then")


def _in_object(dated: Dated, clause: Clause) -> bool:
    return clause.object is not None and any(up is clause.object for up in dated.head.ancestors())


def _frames(found: Sequence[Clause], owned: dict[int, list[Dated]]) -> dict[int, Dated]:
    """ "Last week was wild - I volunteered": the time that is a sentence's own subject holds for all of it."""
    frames: dict[int, Dated] = {}
    for place, clause in enumerate(found):
        for dated in owned.get(place, []):
            named = clause.subject is None or clause.subject in dated.words
            if named and clause.verb.lemma == "be" and dated.words[0].i < clause.verb.i:
                frames.setdefault(clause.first.sentence, dated)
    return frames


def _corrected(state: Status, clause: Clause, interval: Interval, moment: Moment, own: bool) -> Status:
    """What the calendar says against the grammar: "we fly on Thursday" lies ahead."""
    if not own or state in ("hypothetical", "negated"):
        return state
    if interval.end is None and state == "happened" and tense(clause) == "perfect":
        return "ongoing"  # "I have been there since March"
    ahead = interval.start is not None and interval.start > moment.at
    behind = interval.end is not None and interval.end <= moment.at
    if (ahead and state in ("ongoing",)) or (ahead and state == "happened" and tense(clause) != "past"):
        return "planned"
    today = interval.start is not None and interval.end is not None and interval.end > moment.at
    if (
        state == "ongoing"
        and today
        and clause.verb.lemma != "be"
        and clause.first.tag == "VBG"
        and not behind
    ):
        return "planned" if interval.start is not None and interval.start > moment.at else state
    if behind and state in ("ongoing", "planned") and tense(clause) in ("present", "progressive"):
        return "happened"
    return state


def _only_dates(clause: Clause) -> bool:
    """ "It was last Friday": a sentence that only dates the one before."""
    if (
        clause.verb.lemma != "be"
        or clause.subject is None
        or clause.subject.lower not in ("it", "that", "this")
    ):
        return False
    rest = [
        word
        for word in clause.words()
        if word.pos in (*_NOUNS, "ADJ", "VERB") and word.dep != "npadvmod" and word is not clause.verb
    ]
    return all(word.dep in ("pobj", "attr", "nummod", "amod", "compound") for word in rest) and len(rest) <= 3


def _date_again(draft: Draft, times: Sequence[Dated], parse: Parse, moment: Moment) -> None:
    dated = chosen(times, side_of(draft.status, False), parse.text, moment)
    if dated is not None and dated.interval is not None and draft.inferred:
        draft.occurred, draft.expression, draft.inferred = dated.interval, dated.ref.text, False
        draft.confidence = SURE - 0.1


def _ironic_sentences(passage: Passage, parse: Parse) -> set[int]:
    return {
        number
        for number, sentence in enumerate(parse.sentences)
        if sentence and is_ironic(parse.text[sentence[0].start : sentence[-1].end])
    }
