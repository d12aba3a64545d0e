"""What somebody holds to be so: said beliefs, evaluations and likings, each with how firmly it is held.

An opinion is a present state of somebody's mind. "I think we moved in March" is no opinion but an event that is not
quite sure, and "I think I'll go" is a plan: where the clause tells an event, the event calendar has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.grammar.cleaning import ProseLine
from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.grammar.word_lists import EVALUATIVE, FIRST, SECOND, THIRD, vocabulary
from everwhen.ingest.extract.rules.coreference import Coreference
from everwhen.ingest.extract.rules.event_draft import EventDraft
from everwhen.ingest.extract.rules.modality import is_statement

MOST = 2
"""Opinions of one turn that are kept."""
SHORTEST, LONGEST = 3, 45
"""Words of a sentence that can be read as one opinion."""

FIRM, HELD, LOOSE = 0.9, 0.75, 0.5
"""How firmly: "I'm convinced", "I think", "I guess"."""

_BELIEVE = vocabulary("think believe feel find consider reckon suspect doubt guess suppose imagine assume")
_LOOSELY = vocabulary("suspect doubt guess suppose imagine assume")
_CERTAIN = vocabulary("sure convinced certain positive confident")
_LOVE = vocabulary("love hate adore despise loathe detest")
_LIKE = _LOVE | {"like", "dislike", "prefer", "enjoy"}
_SEEM = vocabulary("be 's 're seem look sound feel taste smell")
_POINTING = FIRST | SECOND | THIRD | {"this", "that", "these", "those", "there", "everything", "all", "thing"}
_FRAMES = re.compile(
    r"\b(?:in my (?:humble |honest )?(?:opinion|view|book|eyes|experience)|imh?o|if you ask me|for my taste|"
    r"as far as i'?m concerned|personally|my (?:opinion|view|take|feeling|hunch|impression) is|the way i see it|"
    r"to my mind|to me,)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Opinion:
    """A sentence that tells what its speaker holds to be so."""

    text: str
    confidence: float


def opinions(
    read: Sequence[tuple[ProseLine, Parse]],
    drafts: Sequence[EventDraft],
    coref: Coreference,
    *,
    answer: bool,
) -> tuple[Opinion, ...]:
    """The opinions of a turn. Of an assistant's `answer` only those that it calls its own."""
    events = {id(word) for draft in drafts for word in draft.words}
    found: list[Opinion] = []
    for passage, parse in read:
        if passage.item or passage.heads:
            continue
        coref.offset = passage.start
        for sentence in parse.sentences:
            text = parse.text[sentence[0].start : sentence[-1].end]
            if len(found) == MOST or not is_statement(sentence, text, passage, SHORTEST, LONGEST):
                continue
            held = _held(sentence, text, events, answer)
            if held is not None:
                found.append(Opinion(_told(sentence, text, coref), held))
    return tuple(found)


def _held(sentence: Sequence[Word], text: str, events: set[int], answer: bool) -> float | None:
    """How firmly the sentence holds an opinion; None where it holds none."""
    framed = _FRAMES.search(text) is not None
    for word in sentence:
        firm = _belief(word, events)
        if firm is None and (framed or not answer) and id(word) not in events:
            firm = _evaluation(word, framed)
        if firm is None and not answer and id(word) not in events:
            firm = _liking(word)
        if firm is not None:
            return firm
    return None


def _belief(word: Word, events: set[int]) -> float | None:
    """ "I think that it rains too much here": a belief of the speaker's about something that is no event."""
    believes = word.pos == "VERB" and word.lemma in _BELIEVE and _is_mine(word)
    certain = word.lower in _CERTAIN and (_is_mine(word) or _is_mine(word.head))
    content = word.child("ccomp", "xcomp") or (word.child("oprd", "acomp") if word.lemma == "find" else None)
    if not (believes or certain) or content is None or not _is_general(content, events):
        return None
    return FIRM if certain else LOOSE if word.lemma in _LOOSELY else HELD


def _is_mine(verb: Word) -> bool:
    """Whether it is what the speaker does now."""
    subject = verb.child("nsubj", "nsubjpass")
    helpers = {child.lower for child in verb.children if child.dep == "aux"}
    present = verb.tag in ("VBP", "VBZ", "VB") and helpers <= {"do", "'ve", "have"}
    return subject is not None and subject.lower in ("i", "we") and present


def _is_general(content: Word, events: set[int]) -> bool:
    """Whether what is believed is how things are, rather than what somebody did or will do."""
    subject = content.child("nsubj", "nsubjpass")
    if subject is not None and subject.lower in FIRST | SECOND:
        return False  # "I think I left it at home", "I think you'll love it"
    return content.lemma in _SEEM or (id(content) not in events and content.tag not in ("VBD", "VBN"))


def _evaluation(word: Word, framed: bool) -> float | None:
    """ "That bakery is the best in town": a named thing, and a word that judges it; "in my view" makes any word one."""
    rated = word.tag == "VBN" and word.child("auxpass") is not None
    seems = word.lemma in _SEEM and word.tag != "VBD" and word.dep not in ("relcl", "advcl", "aux", "auxpass")
    subject = word.child("nsubj", "csubj", "nsubjpass")
    judged = word if rated else word.child("acomp", "attr", "oprd")
    if not (rated or seems) or subject is None or judged is None or word.child("aux", "mark") is not None:
        return None
    named = subject.pos != "PRON" and subject.lower not in _POINTING
    near = [judged, *(child for child in judged.children if child.dep in ("amod", "advmod", "conj"))]
    judges = any(one.lower in EVALUATIVE or one.tag == "JJS" for one in near)
    return HELD if framed or (named and judges) else None


def _liking(word: Word) -> float | None:
    """ "I love hiking": a present liking of the speaker's for something with a name."""
    liked = word.child("dobj", "xcomp")
    if word.pos != "VERB" or word.lemma not in _LIKE or not _is_mine(word) or liked is None:
        return None
    if any(one.lower in _POINTING for one in liked.subtree()):
        return None
    return FIRM if word.lemma in _LOVE else HELD


def _told(sentence: Sequence[Word], text: str, coref: Coreference) -> str:
    told = coref.tell(sentence)
    frame = _FRAMES.search(text)
    owned = frame is not None and "my" in frame.group().lower().split()
    if not owned and not any(word.lower in ("i", "im", "we") for word in sentence):
        first = sentence[0]
        # "Your courage" has become "Lena's courage"
        kept = first.pos == "PROPN" or first.text.isupper() or not told.startswith(first.text)
        view = told if kept else told[:1].lower() + told[1:]
        told = f"{coref.speaker} thinks {'' if view.startswith('that ') else 'that '}{view}"
    return told if told.endswith((".", "!", "?")) else f"{told}."
