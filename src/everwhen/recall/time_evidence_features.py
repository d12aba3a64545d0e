"""How well a clue answers a question about time: a few readable features and their fitted weights.

    score(clue) = sum over features f of weight(f) * f(clue)
    p(clue)     = exp(score) / sum over the clues of exp(score)
    p(interval) = sum of p over the clues that speak of that interval

The weights are in `when_weights.json`, with where they come from; `training/fit_when.py` fits them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from everwhen.models.reader import Reading
from everwhen.recall.did_not_happen import did_not_happen
from everwhen.recall.question import Question
from everwhen.recall.question_subject import named, question_subject, same_speaker, same_subject
from everwhen.recall.time_evidence import SENTENCE, TimeEvidence
from everwhen.store.index import STOP_WORDS, Tokenizer
from everwhen.types import Turn

_VAGUE = frozenset({"recently", "lately", "soon", "now", "right now", "currently", "nowadays", "these days"})
SURE = 4.0
"""The reader's logit that counts as three quarters of the surest."""
NEAR = 3
"""How many turns apart two turns may be to speak of the same thing."""
SIGNS = {"log_rank": -1, "undated_beside_dated": -1, "denied": -1, "vague": -1, "asks": -1,
         "is_event": 0, "is_expression": 0, "is_fact": 0}  # fmt: skip
"""Which way a feature may count: against a clue (-1), either way (0: whether it is of a kind), all others for it."""
TELLING = ("named", "unreal")
"""Features that only the confidence counts: whether it was told at all, not which interval it was."""
_BREAK = re.compile(r"[.!?,;:()\n–—]+|\b(?:but|who|which|because|although|though)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The stems of the question and of what is compared with it."""

    asked: frozenset[str]
    weights: Mapping[str, float]

    def without(self, names: Collection[str]) -> QuestionTerms:
        """The same but for the words of some names, unless that is all there is."""
        stems = {term for counts in _tokenizer().counts(list(names)) for term in counts}
        kept = self.missing_in(stems)
        return kept if kept.weights else self

    def missing_in(self, stems: Collection[str]) -> QuestionTerms:
        """The terms that a text does not have."""
        return QuestionTerms(
            self.asked, {term: weight for term, weight in self.weights.items() if term not in stems}
        )

    def cover(self, stems: Mapping[str, int]) -> float:
        """The share of the question's terms that a text has, the rarer the heavier; 0 where there are none."""
        whole = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in stems) / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """What a clue's turn says of the question."""

    clue: TimeEvidence
    """The event that has most of the question's words; the clue itself where there is none."""
    words: str
    """The clause that has most of them."""


def features(
    question: Question,
    clues: Sequence[TimeEvidence],
    near_turns: Mapping[str, float],
    read: Mapping[str, Reading],
) -> list[dict[str, float]]:
    """Each clue by the features that the weights know, and by those of `TELLING`; `near_turns` has the cosines of
    turns, `read` what the reader says of the first ones."""
    if not clues:
        return []
    tokens = _tokenizer()
    speakers = speakers_of(clues)
    about = question_subject(question, speakers)
    turn_texts = {clue.turn.id: clue.around for clue in clues}
    turn_stems = dict(zip(turn_texts, tokens.counts(list(turn_texts.values())), strict=True))
    terms = _terms(question, speakers, list(turn_stems.values()))
    own = tokens.counts([f"{clue.text} {clue.aliases}" for clue in clues])
    verbs = tokens.counts([clue.event.verb if clue.event else "" for clue in clues])
    lowest = min(near_turns.values(), default=0.0)
    covers = {id_: terms.cover(stems) for id_, stems in turn_stems.items()}
    beside = _beside({clue.turn.id: clue.turn for clue in clues}, covers)
    with_date = {clue.turn.id for clue in clues if clue.dated and not _vague(clue)}
    tellings = _tellings(clues, terms.without(about.names))
    unread = min((_sureness(one) for one in read.values()), default=0.0)
    out = []
    for clue, stems, verb, telling in zip(clues, own, verbs, tellings, strict=True):
        id_, window = clue.turn.id, question.time.interval if question.time else None
        out.append(
            {
                "log_rank": math.log(clue.rank),
                "cosine": near_turns.get(id_, lowest),
                "text_cover": terms.cover(stems),
                "turn_cover": covers[id_],
                "beside_cover": beside[id_],
                "same_verb": float(any(stem in terms.asked for stem in verb)),
                "same_subject": same_subject(telling.clue, about, speakers),
                "same_speaker": same_speaker(clue, about),
                "named": named(telling.clue, about, speakers),
                "unreal": float(did_not_happen(telling.clue, telling.words, question)),
                "is_event": float(clue.kind == "event"),
                "is_expression": float(clue.kind == "expression"),
                "is_fact": float(clue.kind == "fact"),
                "dated": float(clue.dated),
                "undated_beside_dated": float(not clue.dated and id_ in with_date),
                "ahead_agrees": _agrees(clue.ahead, question.ahead),
                "denied": float(clue.denied != question.denied),
                "in_window": _agrees(clue.interval.overlaps(window), True) if window else 0.0,
                "vague": float(_vague(clue)),
                "asks": float(clue.text.rstrip().endswith("?")),
                "read": _sureness(read[id_]) if id_ in read else unread,
                "pointed": _pointed(clue, read.get(id_)),
            }
        )
    return out


def speakers_of(clues: Sequence[TimeEvidence]) -> dict[str, str]:
    """The role of everybody whose turns the clues are from, by the name in small letters."""
    return {clue.turn.speaker.lower(): clue.turn.role for clue in clues}


def _tellings(clues: Sequence[TimeEvidence], terms: QuestionTerms) -> list[EvidenceText]:
    """For each clue what its turn says of the question: the date may stand in one sentence, the deed in another.

    A sentence with a date of its own speaks of that date: "She wasn't born on Thursday. It was Friday." denies one day.
    """
    said = {clue.turn.id: SENTENCE.findall(clue.turn.text) or [clue.turn.text] for clue in clues}
    clauses = {text: _BREAK.split(text) for several in said.values() for text in several}
    every = {clue.text for clue in clues} | {one for parts in clauses.values() for one in parts}
    stems = dict(zip(every, _tokenizer().counts(list(every)), strict=True))
    covers = {text: terms.cover(counts) for text, counts in stems.items()}
    best = {text: max(covers[one] for one in parts) for text, parts in clauses.items()}
    dates: dict[str, set[str]] = {}
    events: dict[str, list[TimeEvidence]] = {}
    for clue in clues:
        if clue.expression:
            dates.setdefault(clue.turn.id, set()).add(clue.expression)
        if clue.event is not None and covers[clue.text] > 0:
            events.setdefault(clue.turn.id, []).append(clue)
    out = []
    for clue in clues:
        here, event = clue.turn.id, clue
        other_dates = dates.get(here, set()) - {clue.expression} if clue.dated else set()
        if clue.event is None:
            of_this_date = (one for one in events.get(here, ()) if one.expression not in other_dates)
            event = max(of_this_date, key=lambda one: covers[one.text], default=clue)
        sentence = max(
            (
                text
                for text in said[here]
                if (clue.expression and clue.expression in text)
                or not any(one in text for one in other_dates)
            ),
            key=lambda text: best[text],
            default="",
        )
        words, wanted = [], terms
        if event.event is not None and covers[event.text] >= best.get(sentence, 0.0):
            words, wanted = [event.text], terms.missing_in(stems[event.text])
            # What the event leaves out may be told beside it: "the beta is ready, it was never released".
            sentence = sentence if event.expression and event.expression in sentence else ""
        words += [one for one in clauses.get(sentence, ()) if wanted.cover(stems[one]) > 0]
        out.append(EvidenceText(event, ", ".join(words)))
    return out


def _sureness(reading: Reading) -> float:
    """How sure the reader is that a turn answers, from -1 to 1."""
    return math.tanh(reading.relevance / SURE)


def _pointed(clue: TimeEvidence, reading: Reading | None) -> float:
    """How surely the reader takes the clue's own time expression for the answer."""
    read = clue.text if clue.event is not None and clue.event.replaces else clue.turn.text
    place = read.find(clue.expression) if clue.expression else -1
    if reading is None or place < 0:
        return 0.0
    start, end = reading.span
    return reading.span_chance if start < place + len(clue.expression) and place < end else 0.0


def _agrees(one: bool, other: bool | None) -> float:
    return 0.0 if other is None else (1.0 if one == other else -1.0)


def _vague(clue: TimeEvidence) -> bool:
    """Whether it says hardly more than "at some time": an open side, or a stretch that no calendar names."""
    length = clue.interval.length
    return length is None or length.days > 400 or clue.expression.lower() in _VAGUE


def _beside(turns: Mapping[str, Turn], covers: Mapping[str, float]) -> dict[str, float]:
    """For each turn, how much of the question the best of the turns around it has: a date is often told apart."""
    sessions: dict[str, list[Turn]] = {}
    for turn in turns.values():
        sessions.setdefault(turn.session, []).append(turn)
    return {
        turn.id: max(
            (covers[other.id] for other in sessions[turn.session] if 0 < abs(other.seq - turn.seq) <= NEAR),
            default=0.0,
        )
        for turn in turns.values()
    }


def probabilities(rows: Sequence[Mapping[str, float]], weights: Mapping[str, float]) -> list[float]:
    """The softmax of the scores."""
    scores = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    top = max(scores, default=0.0)
    grown = [math.exp(score - top) for score in scores]
    whole = sum(grown)
    return [one / whole for one in grown]


@lru_cache(maxsize=1)
def weights() -> Mapping[str, Any]:
    """The fitted numbers: `match` for `probabilities`, `sure` for the confidence."""
    found: Mapping[str, Any] = json.loads(Path(__file__).with_name("when_weights.json").read_text("utf-8"))
    return found


def has_content(words: str) -> bool:
    """Whether words name anything at all: "when was it" does not."""
    return bool(_tokenizer().counts([words])[0].keys() - _stop_stems())


def _terms(
    question: Question, speakers: Mapping[str, str], pool: Sequence[Mapping[str, int]]
) -> QuestionTerms:
    """What the question is about: its stems without function words and speakers' names.

    Weight of a stem: ln(1 + (N - n + 0.5) / (n + 0.5)), BM25's, over the turns that were read.
    """
    tokens = _tokenizer()
    names = frozenset(term for counts in tokens.counts(list(speakers)) for term in counts)
    stems = tokens.counts([question.event])[0]
    every = frozenset(stems)
    kept = every - names - _stop_stems()
    seen = Counter(term for stems_ in pool for term in kept & stems_.keys())
    size = len(pool)
    weight = {term: math.log(1 + (size - seen[term] + 0.5) / (seen[term] + 0.5)) for term in kept}
    return QuestionTerms(every, weight)


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    return Tokenizer()


@lru_cache(maxsize=1)
def _stop_stems() -> frozenset[str]:
    return frozenset(_tokenizer().counts([STOP_WORDS])[0])
