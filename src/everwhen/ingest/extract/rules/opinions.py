"""What somebody holds to be so: said beliefs, evaluations and likings, each with how firmly it is held.

An opinion is a present state of somebody's mind. "I think we moved in March" is no opinion but an event that is not
quite sure, and "I think I'll go" is a plan: where the clause tells an event, the event calendar has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.ingest.extract.rules.cleaning import Passage
from everwhen.ingest.extract.rules.draft import Draft
from everwhen.ingest.extract.rules.lexicon import EVALUATIVE, FIRST, MANNERS, SECOND, THIRD, WH, vocabulary
from everwhen.ingest.extract.rules.modality import asked, is_ironic
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.voices import Voices

MOST = 2
"""Opinions of one turn that are kept."""
LONGEST = 45
"""Words of a sentence that can be read as one opinion."""

FIRM, HELD, LOOSE = 0.9, 0.75, 0.5
"""How firmly: "I'm convinced", "I think", "I guess"."""

_BELIEVE = vocabulary("think believe feel find consider reckon suspect doubt")
_LOOSELY = vocabulary("guess suppose imagine assume")
_CERTAIN = vocabulary("sure convinced certain positive confident")
_LIKE = vocabulary("love hate like dislike adore prefer enjoy despise loathe detest")
_SEEM = vocabulary("be seem look sound feel taste smell")
_FRAMES = re.compile(
    r"\b(?:in my (?:humble |honest )?(?:opinion|view|book|eyes|experience)|imh?o|if you ask me|for my taste|"
    r"as far as i'?m concerned|personally|my (?:opinion|view|take|feeling|hunch|impression) is|the way i see it|"
    r"to my mind|to me,)",
    re.I,
)
_FIRMLY = re.compile(
    r"\b(?:definitely|absolutely|certainly|by far|hands down|without (?:a )?doubt|never|always)\b", re.I
)
_SOFTLY = re.compile(r"\b(?:maybe|perhaps|probably|kinda|kind of|sort of|a bit|might|not sure)\b", re.I)

_POINTING = FIRST | SECOND | THIRD | WH | {"this", "that", "these", "those", "there", "everything", "all"}


@dataclass(frozen=True, slots=True)
class Opinion:
    """A sentence that tells what its speaker holds to be so."""

    text: str
    confidence: float


def opinions(
    read: Sequence[tuple[Passage, Parse]], drafts: Sequence[Draft], voices: Voices, *, answer: bool
) -> tuple[Opinion, ...]:
    """The opinions of a turn. Of an assistant's `answer` only those that it calls its own."""
    events = {id(word) for draft in drafts for word in draft.words}
    found: list[Opinion] = []
    for passage, parse in read:
        if passage.item or passage.heads:
            continue
        voices.offset = passage.start
        for sentence in parse.sentences:
            text = parse.text[sentence[0].start : sentence[-1].end]
            if len(found) == MOST or not _may_hold_one(sentence, text, passage):
                continue
            held = _held(sentence, text, events, answer)
            if held is not None:
                found.append(Opinion(_told(sentence, text, voices), held))
    return tuple(found)


def _may_hold_one(sentence: Sequence[Word], text: str, passage: Passage) -> bool:
    words = [word for word in sentence if word.pos not in ("PUNCT", "SPACE")]
    return (
        3 <= len(words) <= LONGEST
        and words[0].lower not in MANNERS
        and not passage.quoted(sentence[0].start)
        and not asked(tuple(sentence))
        and not is_ironic(text)
    )


def _held(sentence: Sequence[Word], text: str, events: set[int], answer: bool) -> float | None:
    """How firmly the sentence holds an opinion; None where it holds none."""
    framed = _FRAMES.search(text) is not None
    for word in sentence:
        firm = _belief(word, events)
        if firm is None and not answer:
            firm = _evaluation(word, events, framed) or _liking(word, events)
        elif firm is None and framed:
            firm = _evaluation(word, events, framed)
        if firm is not None:
            return _weighed(firm, text)
    return None


def _weighed(firm: float, text: str) -> float:
    if _SOFTLY.search(text):
        return min(firm, LOOSE)
    return max(firm, FIRM) if _FIRMLY.search(text) else firm


def _belief(word: Word, events: set[int]) -> float | None:
    """ "I think that it rains too much here": a belief of the speaker's about something that is no event."""
    if word.pos == "VERB" and word.lemma in _BELIEVE | _LOOSELY and _mine(word) and _present(word):
        content = word.child("ccomp") or word.child("xcomp")
        if content is None and word.lemma == "find":
            content = word.child("oprd", "acomp")
        if content is None or not _general(content, events):
            return None
        return LOOSE if word.lemma in _LOOSELY | {"suspect", "doubt"} else HELD
    if word.lower in _CERTAIN and word.pos in ("ADJ", "VERB"):
        content = word.child("ccomp")
        held = _mine(word) or _mine(word.head)
        if held and content is not None and _general(content, events):
            return FIRM
    return None


def _general(content: Word, events: set[int]) -> bool:
    """Whether what is believed is how things are, rather than what somebody did or will do."""
    if id(content) in events and content.lemma not in _SEEM:
        return False
    subject = content.child("nsubj", "nsubjpass")
    if subject is not None and subject.lower in FIRST | SECOND:
        return False  # "I think I left it at home", "I think you'll love it"
    helpers = {child.lower for child in content.children if child.dep in ("aux", "auxpass")}
    if helpers & {"did", "had"}:
        return False
    return (
        content.tag not in ("VBD", "VBN") or content.lemma in _SEEM or bool(helpers & {"should", "is", "are"})
    )


def _evaluation(word: Word, events: set[int], framed: bool) -> float | None:
    """ "That bakery is the best in town": a named thing, and a word that judges it; "in my view" makes any word one."""
    rated = word.tag == "VBN" and word.lower in EVALUATIVE and word.child("auxpass") is not None
    copula = word.pos in ("AUX", "VERB") and word.lemma in _SEEM | {"'s", "'re"} and word.tag != "VBD"
    if not (rated or copula) or id(word) in events or word.dep in ("relcl", "advcl", "aux", "auxpass"):
        return None
    if any(child.dep in ("aux", "mark") for child in word.children):
        return None
    subject = word.child("nsubj", "csubj", "nsubjpass")
    if subject is None or not (framed or _names_something(subject)):
        return None
    judged = word.child("acomp", "attr", "oprd")
    return HELD if rated or (judged is not None and (framed or _judges(judged))) else None


def _names_something(subject: Word) -> bool:
    if subject.dep == "csubj" or subject.tag == "VBG":
        return True
    return (
        subject.pos in ("NOUN", "PROPN")
        and subject.lower not in _POINTING
        and subject.lower not in ("thing",)
    )


def _judges(judged: Word) -> bool:
    """A judging adjective, a superlative, or a noun with one ("the best bread", "a waste of time")."""
    near = [judged, *(child for child in judged.children if child.dep in ("amod", "advmod", "conj"))]
    return any(one.lower in EVALUATIVE or one.tag == "JJS" for one in near)


def _liking(word: Word, events: set[int]) -> float | None:
    """ "I can't stand cilantro", "I love hiking": a present liking of the speaker's for something with a name."""
    stand = word.lemma in ("stand", "bear") and any(child.dep == "neg" for child in word.children)
    if word.pos != "VERB" or not (word.lemma in _LIKE or stand) or not _mine(word) or id(word) in events:
        return None
    if not stand and not _present(word):
        return None
    liked = word.child("dobj", "xcomp")
    if liked is None or any(one.lower in _POINTING - WH for one in liked.subtree()):
        return None
    return FIRM if word.lemma in ("love", "hate", "adore", "despise", "loathe", "detest") or stand else HELD


def _mine(verb: Word) -> bool:
    subject = verb.child("nsubj", "nsubjpass")
    return subject is not None and subject.lower in ("i", "we")


def _present(verb: Word) -> bool:
    helpers = {child.lower for child in verb.children if child.dep == "aux"}
    return verb.tag in ("VBP", "VBZ", "VB") and not helpers - {"do", "really", "'ve", "have"}


def _told(sentence: Sequence[Word], text: str, voices: Voices) -> str:
    told = voices.tell(sentence)
    frame = _FRAMES.search(text)
    owned = frame is not None and "my" in frame.group().lower().split()
    if not owned and not any(word.lower in ("i", "im", "we") for word in sentence):
        first = sentence[0]
        # "Your courage" has become "Lena's courage"
        kept = first.pos == "PROPN" or first.text.isupper() or not told.startswith(first.text)
        view = told if kept else told[:1].lower() + told[1:]
        told = f"{voices.speaker} thinks {'' if view.startswith('that ') else 'that '}{view}"
    return told if told.endswith((".", "!", "?")) else f"{told}."
