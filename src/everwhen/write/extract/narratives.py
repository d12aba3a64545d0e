"""What the talk was about, readable by itself; and what somebody holds to be so.

A narrative is the sentences of a topic that say something, with the first person turned into names. Where the talk
turns to something else, its cohesion has a valley (TextTiling, Hearst 1997). Turns are taken in steps: an exchange is
one, and so is each turn of somebody who goes on talking. Between steps i and i+1 the cohesion is the cosine of their
mean vectors,

    c(i) = cos(v(i), v(i+1)),    a topic ends after i  <=>  c(i) < c(i-1) and c(i) < c(i+1)

with nothing before the first step (c(-1) is infinite), and no end in sight after the last (c(n-1) is not there yet).
A valley is seen from its neighbours alone: no threshold to choose, about one topic for two or three steps, and the
same whether the turns came one by one or in bulk.

An opinion is a present state of somebody's mind: said beliefs, evaluations and likings, each with how firmly it is
held. "I think we moved in March" is no opinion but an event that is not quite sure, and "I think I'll go" is a plan:
where the clause says an event, the event calendar has it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from everwhen.types import Turn
from everwhen.write.extract.base import ExtractedNarrative
from everwhen.write.extract.events import ParsedTurn
from everwhen.write.extract.grammar import (
    EVALUATIVE,
    FIRST,
    MANNERS,
    SECOND,
    THIRD,
    ProseLine,
    Word,
    vocabulary,
)
from everwhen.write.extract.names import Coreference
from everwhen.write.modality import asked, is_ironic
from everwhen_time import Interval

SETTLED = 2
"""Steps at the beginning of a window that begins amid a session: what was before them could move their valleys."""


def steps(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns in the portions that are never cut."""
    found: list[list[Turn]] = []
    for turn in turns:
        last = found[-1][-1] if found else None
        same = last is not None and turn.segment and turn.segment == last.segment
        if last is not None and same and turn.speaker != last.speaker:
            found[-1].append(turn)
        else:
            found.append([turn])
    return found


def topics(
    taken: Sequence[Sequence[Turn]],
    vectors: Mapping[str, NDArray[np.float32]],
    fresh: frozenset[str],
    *,
    whole: bool,
) -> list[list[int]]:
    """The places of the steps of each topic, from the first topic on that the fresh turns can have changed.

    `whole` says that the steps begin where the session does.
    """
    first = next((n for n, step in enumerate(taken) if not fresh.isdisjoint(turn.id for turn in step)), None)
    if first is None:
        return []
    if any(turn.id not in vectors for step in taken for turn in step):
        return [[n] for n in range(first, len(taken))]
    cuts = _valleys(taken, vectors)
    # A new step is weighed against the two before it, so a valley there may be new as well.
    reliable = [cut for cut in cuts if cut <= first - 2 and (whole or cut > SETTLED)]
    start = reliable[-1] if reliable else 0 if whole else min(SETTLED, first)
    bounds = [start, *(cut for cut in cuts if cut > start), len(taken)]
    return [list(range(begin, end)) for begin, end in pairwise(bounds)]


def _valleys(taken: Sequence[Sequence[Turn]], vectors: Mapping[str, NDArray[np.float32]]) -> list[int]:
    """The steps that a topic begins with, but for the first."""
    means = np.array([np.mean([vectors[turn.id] for turn in step], axis=0) for step in taken])
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    cohesion = np.sum(means[:-1] * means[1:], axis=1) + [_chance(step[0].id) for step in taken[1:]]
    before = np.concatenate([[np.inf], cohesion[:-1]])
    return [
        n + 1 for n in range(len(cohesion) - 1) if cohesion[n] < before[n] and cohesion[n] < cohesion[n + 1]
    ]


def _chance(turn: str) -> float:
    """A hair's breadth that depends on the turn alone, so that copies of one sentence are cut somewhere, too."""
    return int.from_bytes(hashlib.blake2b(turn.encode(), digest_size=4).digest(), "big") / 2**32 * 1e-4


SHORTEST = 5
"""Words of a sentence that is worth telling."""
SENTENCES, ANSWER_SENTENCES = 4, 2
"""Sentences that are kept of a turn, and of an assistant's."""
CONFIDENCE = 0.6
MOST_OPINIONS = 2
"""Opinions of one turn that are kept."""
SHORTEST_OPINION, LONGEST_OPINION = 3, 45
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
_DECIDING = frozenset({"decide", "choose", "agree", "let"})


@dataclass(frozen=True, slots=True)
class NarrativeTurn:
    """A turn as a narrative has it: the little of it that is kept when the talk goes on."""

    turn: str
    assistant: bool
    line: str
    eventful: bool
    occurred: Interval | None
    entities: tuple[str, ...]
    opinions: tuple[ExtractedNarrative, ...] = ()


def narrative_turn(one: ParsedTurn) -> NarrativeTurn:
    own = [draft.event.occurred for draft in one.drafts if not draft.event.inferred]
    return NarrativeTurn(
        one.turn.id,
        one.turn.role == "assistant",
        _retelling(one),
        bool(one.drafts),
        _hull(own),
        one.entities,
        tuple(_opinions(one)),
    )


def narratives(
    turns: Sequence[Turn],
    narrated: Mapping[str, NarrativeTurn],
    fresh: frozenset[str],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    whole: bool,
) -> list[ExtractedNarrative]:
    """One narrative for each topic that says something, as far as new turns may have changed it, and the opinions
    in it, each by itself.

    `whole` says that the turns begin where the session does. Of an exchange in which nothing is said to have happened
    no word is kept.
    """
    taken = steps(turns)
    found = []
    for places in topics(taken, vectors, fresh, whole=whole):
        several: list[NarrativeTurn] = []
        for place in places:
            step = [narrated[turn.id] for turn in taken[place] if turn.id in narrated]
            several += [one for one in step if one.line] if any(one.eventful for one in step) else []
        if several:
            found.append(_narrative(several))
        taken_up = (narrated[turn.id] for place in places for turn in taken[place] if turn.id in narrated)
        found += [opinion for turn in taken_up for opinion in turn.opinions]
    return found


def _narrative(several: Sequence[NarrativeTurn]) -> ExtractedNarrative:
    return ExtractedNarrative(
        text=" ".join(one.line for one in several),
        turns=tuple(one.turn for one in several),
        network="experience" if all(one.assistant for one in several) else "world",
        confidence=CONFIDENCE,
        occurred=_hull([one.occurred for one in several]),
        entities=tuple(dict.fromkeys(name for one in several for name in one.entities)),
    )


def _hull(intervals: Sequence[Interval | None]) -> Interval | None:
    """What covers the dated events; None where there is none."""
    dated = [one for one in intervals if one is not None]
    return reduce(Interval.hull, dated) if dated else None


def _statements(
    one: ParsedTurn, shortest: int, longest: float = inf
) -> Iterator[tuple[ProseLine, Sequence[Word], str]]:
    """The sentences of so many words that say something: no manners, quotation, question or irony."""
    for passage, parse in one.read:
        one.coref.offset = passage.start
        for sentence in parse.sentences:
            text = parse.text[sentence[0].start : sentence[-1].end]
            words = [word for word in sentence if word.pos not in ("PUNCT", "SPACE")]
            if (
                shortest <= len(words) <= longest
                and words[0].lower not in MANNERS
                and not passage.quoted(sentence[0].start)
                and not asked(sentence)
                and not is_ironic(text)
            ):
                yield passage, sentence, text


def _retelling(one: ParsedTurn) -> str:
    """The sentences of a turn that tell something, as somebody else would tell them: what was decided before what
    happened, and that before the rest, where there is no room for all."""
    worth = {id(word): 1 + (draft.event.status == "planned") for draft in one.drafts for word in draft.words}
    sentences = []
    for _, sentence, _ in _statements(one, SHORTEST):
        decided = any(word.lemma in _DECIDING for word in sentence)
        rank = 2 if decided else max(worth.get(id(word), 0) for word in sentence)
        retold = one.coref.tell(sentence)
        sentences.append((rank, _stopped(retold[:1].upper() + retold[1:])))
    if not sentences:
        return ""
    most = ANSWER_SENTENCES if one.turn.role == "assistant" else SENTENCES
    places = sorted(range(len(sentences)), key=lambda place: -sentences[place][0])[:most]
    retold = " ".join(sentences[place][1] for place in sorted(places))
    named = one.turn.speaker.lower() in retold.lower()
    return retold if named else f"{one.turn.speaker} said: {retold}"


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


# Opinions


def _opinions(one: ParsedTurn) -> Iterator[ExtractedNarrative]:
    """The opinions of a turn. Of an assistant's answer only those that it calls its own."""
    events = {id(word) for draft in one.drafts for word in draft.words}
    left = MOST_OPINIONS
    for passage, sentence, text in _statements(one, SHORTEST_OPINION, LONGEST_OPINION):
        if passage.item or passage.heads or not left:
            continue
        held = _firmness(sentence, text, events, one.turn.role == "assistant")
        if held is not None:
            left -= 1
            opinion = _opinion_in_words(sentence, text, one.coref)
            names = tuple(name for name in one.entities if name.casefold() in opinion.casefold())
            yield ExtractedNarrative(opinion, (one.turn.id,), "opinion", held, None, names)


def _firmness(sentence: Sequence[Word], text: str, events: set[int], answer: bool) -> float | None:
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


def _opinion_in_words(sentence: Sequence[Word], text: str, coref: Coreference) -> str:
    retold = coref.tell(sentence)
    frame = _FRAMES.search(text)
    owned = frame is not None and "my" in frame.group().lower().split()
    if not owned and not any(word.lower in ("i", "im", "we") for word in sentence):
        first = sentence[0]
        # "Your courage" has become "Lena's courage"
        kept = first.pos == "PROPN" or first.text.isupper() or not retold.startswith(first.text)
        view = retold if kept else retold[:1].lower() + retold[1:]
        retold = f"{coref.speaker} thinks {'' if view.startswith('that ') else 'that '}{view}"
    return _stopped(retold)
