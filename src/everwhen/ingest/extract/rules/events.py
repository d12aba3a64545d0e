"""Events of a turn: each clause that tells an occurrence, with who, what, when and whether it happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.rules.cleaning import Passage
from everwhen.ingest.extract.rules.clauses import PLACES, Clause, clauses
from everwhen.ingest.extract.rules.lexicon import (
    ARRANGING,
    FIRST,
    MANNERS,
    MENTAL,
    OCCASIONS,
    SECOND,
    SPEECH,
    STATIVE,
    THIRD,
    WH,
)
from everwhen.ingest.extract.rules.modality import (
    asked,
    denied,
    is_ironic,
    is_request,
    is_thought,
    status,
    tense,
)
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.times import (
    Dated,
    Moment,
    attach,
    chosen,
    expressions,
    lasting,
    on_the_side,
    side_of,
)
from everwhen.ingest.extract.rules.voices import Voices
from everwhen.when import Interval

_TODO = re.compile(
    r"\b(?:to-?do|to do|plans?|planned|agenda|goals?|next steps|upcoming|need to|must|shopping list)\b", re.I
)
_NOUNS = ("NOUN", "PROPN", "NUM")
STOCK = frozenset("note understand agree do guess".split())
"""Answers of one word in the past: nobody's deed."""
SURE, INFERRED, LOOSE = 0.85, 0.5, 0.5
"""Confidence of an event whose clause is dated, of one dated by its turn, and of one told without a verb."""


@dataclass(slots=True)
class Draft:
    """An event before it is named and written: grammar and time together."""

    subject: str
    verb: str
    object: str
    text: str
    occurred: Interval
    expression: str
    inferred: bool
    status: Status
    polarity: int
    quantity: str
    confidence: float
    words: tuple[Word, ...]
    clause: Clause | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """What dates a clause: its own expressions, the sentence's frame, and the event told just before."""

    times: Sequence[Dated]
    frame: Dated | None
    before: Sequence[Draft]


@dataclass(frozen=True, slots=True)
class Header:
    """What the line above a list says for each item: a time, and whether it lies ahead."""

    dated: Dated | None = None
    ahead: bool = False


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
            drafts.append(draft)
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
        side = "future" if header.ahead else "nearest"
        draft = _fragment(
            sentence, on_the_side(dated, side, parse.text, moment), found, voices, moment, header
        )
        if draft is not None:
            told.add(number)
            drafts.append(draft)
    if passage.item and not drafts:
        drafts += _item(parse, voices, moment, header)
    return drafts


def header_of(parse: Parse, moment: Moment) -> Header:
    """What a line says about the list under it."""
    dated = next((one for one in expressions(parse, moment) if one.interval is not None), None)
    return Header(dated, bool(_TODO.search(parse.text)))


# One clause


def _draft(
    clause: Clause, near: Near, parse: Parse, voices: Voices, moment: Moment, header: Header
) -> Draft | None:
    times = near.times
    state = _status(clause, header)
    side = side_of(state, tense(clause) in ("present", "progressive"))
    if clause.verb.lemma in ARRANGING and any(
        one.head.head.pos in _NOUNS or _in_object(one, clause) for one in times
    ):
        side = "future"
    dated = chosen(times, side, parse.text, moment)
    subject = _subject(clause, dated, voices, header)
    if subject is None or not _tells(clause, times, state, header):
        return None
    since = lasting(times, moment) if tense(clause) in ("perfect", "progressive") and dated is None else None
    interval, expression, own = _when(clause, dated, since, near, moment, header)
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
        object=_object(clause, times, voices),
        text=_text(clause, words, subject, voices),
        occurred=interval,
        expression=expression,
        inferred=not own,
        status=state,
        polarity=-1 if denied(clause) else 1,
        quantity=_quantity(words, times),
        confidence=round(max(sure, 0.1), 2),
        words=words,
        clause=clause,
    )


def _status(clause: Clause, header: Header) -> Status:
    state = status(clause)
    if header.ahead and state in ("ongoing", "planned") and clause.subject is None:
        return "planned"
    return state


def _subject(clause: Clause, dated: Dated | None, voices: Voices, header: Header) -> str | None:
    """Who: named, or left out at the start of a sentence ("Passed it on Thursday"), where it is the speaker."""
    word = clause.subject
    if word is not None:
        if (word.lower in WH and clause.link != "relative") or word.lower in ("'s", "s"):
            return None
        if clause.parent is not None and clause.parent.verb.lemma == "let":
            return None
        return voices.phrase(word)
    if clause.verb.lemma in STOCK or (clause.object is None and dated is None and clause.first.tag != "VBG"):
        return None  # "Noted.", "Well done!", "Got it."
    if clause.link != "root" and not (
        clause.link == "joined" and clause.parent and clause.parent.subject is None
    ):
        return None
    if is_request(clause):
        about_you = clause.object is not None and clause.object.lower in SECOND and dated is not None
        return voices.speaker if header.ahead or about_you else None
    if clause.first.tag == "VBG" and clause.first.i - _first(clause.first).i > 4:
        return None
    return voices.speaker if clause.first.tag in ("VBD", "VBN", "VBG", "VBP") or header.ahead else None


def _first(word: Word) -> Word:
    """The first word of the sentence."""
    at = word
    for up in word.ancestors():
        at = up
    return next(iter(at.subtree()))


def _tells(clause: Clause, times: Sequence[Dated], state: Status, header: Header) -> bool:
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
    if lemma in ("do", "can", "should", "promise") and clause.object is None:
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
    if kind == "present" and not header.ahead:
        return False  # habits and general truths; the stable ones become facts
    if (
        kind == "progressive"
        and clause.subject is not None
        and clause.subject.lower in ("it", "this", "that", "things")
    ):
        return False
    if kind == "bare" and state not in ("planned", "hypothetical", "negated"):
        return False
    return True


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
            if clause.subject is not None and clause.verb.lemma == "be" and clause.subject in dated.words:
                frames.setdefault(clause.first.sentence, dated)
    return frames


def _corrected(state: Status, clause: Clause, interval: Interval, moment: Moment, own: bool) -> Status:
    """What the calendar says against the grammar: "we fly on Thursday" lies ahead."""
    if not own or state in ("hypothetical", "negated"):
        return state
    ahead = interval.start is not None and interval.start > moment.at
    behind = interval.end is not None and interval.end <= moment.at
    if ahead and state in ("ongoing",) or (ahead and state == "happened" and tense(clause) != "past"):
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


def _object(clause: Clause, times: Sequence[Dated], voices: Voices) -> str:
    word = clause.object
    temporal = {one.i for dated in times for one in dated.words}
    if word is not None and (word.i in temporal or _leads_to(word, temporal)):
        others = [
            child
            for child in clause.verb.children
            if (child.dep in ("dobj", "attr", "acomp", "prep", "dative") or child.lower in PLACES)
            and child.i > clause.verb.i
            and child.i not in temporal
            and not _leads_to(child, temporal)
        ]
        word = others[0] if others else None
    if word is None:
        return ""
    if word.dep in ("prep", "agent"):
        target = word.child("pobj")
        return f"{word.lower} {voices.phrase(target, temporal)}" if target is not None else ""
    if word.pos in ("VERB", "AUX"):
        return voices.tell([one for one in word.subtree() if one.i not in temporal][:10])
    return voices.phrase(word, temporal)


def _leads_to(word: Word, temporal: set[int]) -> bool:
    target = word.child("pobj")
    return target is not None and (
        target.i in temporal
        or any(child.i in temporal for child in target.children)
        and (target.i + 1 in temporal)
    )


def _text(clause: Clause, words: Sequence[Word], subject: str, voices: Voices) -> str:
    """The clause as a sentence that can be read alone."""
    while words and (
        words[0].dep in ("cc", "mark", "intj") or words[0].pos in ("PUNCT", "SPACE", "CCONJ", "INTJ")
    ):
        words = words[1:]
    told = voices.tell([word for word in words if word.dep != "intj" and word.text not in "!?…"])
    if clause.subject is None or clause.inherited:
        told = f"{subject} {told}"
    return told


def _quantity(words: Sequence[Word], times: Sequence[Dated]) -> str:
    temporal = {one.i for dated in times for one in dated.words}
    for word in words:
        if word.pos == "NUM" and word.i not in temporal and word.dep in ("nummod", "dobj", "attr", "pobj"):
            if word.dep == "nummod":
                between = [one for one in words if word.i <= one.i <= word.head.i]
                return " ".join(one.text for one in between[:4])
            return word.text
    return ""


# Without a verb, and again


def _only_dates(clause: Clause) -> bool:
    """ "It was last Friday": a sentence that only dates the one before."""
    if (
        clause.verb.lemma != "be"
        or clause.subject is None
        or clause.subject.lower not in ("it", "that", "this")
    ):
        return False
    rest = [
        word for word in clause.words() if word.pos in (*_NOUNS, "ADJ", "VERB") and word.dep != "npadvmod"
    ]
    return all(word.dep in ("pobj", "attr", "nummod", "amod", "compound") for word in rest) and len(rest) <= 3


def _date_again(draft: Draft, times: Sequence[Dated], parse: Parse, moment: Moment) -> None:
    dated = chosen(times, side_of(draft.status, False), parse.text, moment)
    if dated is not None and dated.interval is not None and draft.inferred:
        draft.occurred, draft.expression, draft.inferred = dated.interval, dated.ref.text, False
        draft.confidence = SURE - 0.1


def _fragment(
    sentence: Sequence[Word],
    dated: Dated,
    found: Sequence[Clause],
    voices: Voices,
    moment: Moment,
    header: Header,
) -> Draft | None:
    """A dated sentence without a verb: "Dentist on Thursday at 3"."""
    if dated.interval is None or any(clause.first.sentence == sentence[0].sentence for clause in found):
        return None
    inside = {word.i for word in dated.words}
    rest = [
        word
        for word in sentence
        if word.i not in inside and word.pos not in ("PUNCT", "SPACE", "INTJ", "SYM")
    ]
    nouns = [word for word in rest if word.pos in ("NOUN", "PROPN")]
    if not nouns or rest[0].lower in MANNERS or any(word.text.startswith("?") for word in sentence):
        return None
    if nouns[0].lower in ("time", "lol", "haha") or (len(nouns) == 1 and nouns[0].dep == "npadvmod"):
        return None
    head = next((word for word in nouns if word.dep in ("ROOT", "nsubj", "dobj")), nouns[0])
    ahead = dated.interval.start is not None and dated.interval.start > moment.at
    return Draft(
        subject=voices.speaker,
        verb="have",
        object=voices.phrase(head, inside),
        text=f"{voices.speaker}: {voices.tell([word for word in sentence if word.pos != 'SPACE'])}",
        occurred=dated.interval,
        expression=dated.ref.text,
        inferred=False,
        status="planned" if ahead or header.ahead else "happened",
        polarity=1,
        quantity="",
        confidence=LOOSE,
        words=tuple(sentence),
    )


def _item(parse: Parse, voices: Voices, moment: Moment, header: Header) -> list[Draft]:
    """A list item under a dated header: its first word is the verb, whatever the parser took it for."""
    words = [word for word in parse.words if word.pos not in ("PUNCT", "SPACE")]
    dated = header.dated
    if len(words) < 2 or not (header.ahead or (dated is not None and dated.interval is not None)):
        return []
    verb, rest = words[0], words[1:]
    interval = dated.interval if dated is not None and dated.interval is not None else moment.day()
    lemma = verb.lemma if verb.pos in ("VERB", "AUX") else verb.lower
    return [
        Draft(
            subject=voices.speaker,
            verb=lemma,
            object=voices.tell(rest[:8]),
            text=f"{voices.speaker}: {voices.tell(words)}",
            occurred=interval,
            expression=dated.ref.text if dated is not None else "",
            inferred=dated is None,
            status="planned" if header.ahead else "happened",
            polarity=1,
            quantity="",
            confidence=LOOSE,
            words=tuple(words),
        )
    ]


def _ironic_sentences(passage: Passage, parse: Parse) -> set[int]:
    return {
        number
        for number, sentence in enumerate(parse.sentences)
        if sentence and is_ironic(parse.text[sentence[0].start : sentence[-1].end])
    }
