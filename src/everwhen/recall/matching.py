"""How well a clue answers a question about time: a few readable features and their fitted weights.

    score(clue) = sum over features f of weight(f) * f(clue)
    p(clue)     = exp(score) / sum over the clues of exp(score)
    p(interval) = sum of p over the clues that speak of that interval

The weights are in `when_weights.json`, with where they come from; `scripts/fit_when.py` fits them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from everwhen.recall.asking import Question
from everwhen.recall.clues import Clue
from everwhen.store.terms import STOP_WORDS, Tokenizer
from everwhen.types import Turn

_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours", "i've", "i'm", "we've"})
_VAGUE = frozenset({"recently", "lately", "soon", "now", "right now", "currently", "nowadays", "these days"})
NEAR = 3
"""How many turns apart two turns may be to speak of the same thing."""
SIGNS = {"log_rank": -1, "undated_beside_dated": -1, "denied": -1, "vague": -1, "asks": -1,
         "is_event": 0, "is_expression": 0, "is_fact": 0}  # fmt: skip
"""Which way a feature may count: against a clue (-1), either way (0: whether it is of a kind), all others for it."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Terms:
    """The stems of the question and of what is compared with it."""

    asked: frozenset[str]
    weights: Mapping[str, float]

    def cover(self, stems: Mapping[str, int]) -> float:
        """The share of the question's terms that a text has, the rarer the heavier; 0 where there are none."""
        whole = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in stems) / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom the question is about, as far as the speakers tell."""

    names: frozenset[str]
    """Speakers that are named, or the user where the question says "I"."""
    owner: bool
    """Whether it is something or somebody of theirs ("Ana's brother")."""


def features(
    question: Question,
    clues: Sequence[Clue],
    near: Mapping[str, float],
    near_turns: Mapping[str, float],
) -> list[dict[str, float]]:
    """Each clue by the features that the weights know; `near` has the cosines of events and facts."""
    if not clues:
        return []
    tokens = _tokenizer()
    speakers = {clue.turn.speaker.lower(): clue.turn.role for clue in clues}
    about = _about(question.words, speakers)
    turn_texts = {clue.turn.id: clue.around for clue in clues}
    turn_stems = dict(zip(turn_texts, tokens.counts(list(turn_texts.values())), strict=True))
    terms = _terms(question, speakers, list(turn_stems.values()))
    own = tokens.counts([f"{clue.text} {clue.aliases}" for clue in clues])
    verbs = tokens.counts([clue.event.verb if clue.event else "" for clue in clues])
    lowest = min(near_turns.values(), default=0.0)
    covers = {id_: terms.cover(stems) for id_, stems in turn_stems.items()}
    beside = _beside({clue.turn.id: clue.turn for clue in clues}, covers)
    with_date = {clue.turn.id for clue in clues if clue.dated and not _vague(clue)}
    out = []
    for clue, stems, verb in zip(clues, own, verbs, strict=True):
        event, id_, window = clue.event, clue.turn.id, question.window
        cosines = (near_turns.get(id_, lowest), near.get(event.id if event else clue.fact or "", 0.0))
        out.append(
            {
                "log_rank": math.log(clue.rank),
                "cosine": max(cosines),
                "text_cover": terms.cover(stems),
                "turn_cover": covers[id_],
                "beside_cover": beside[id_],
                "same_verb": float(any(stem in terms.asked for stem in verb)),
                "same_subject": _same_subject(clue, about, speakers),
                "same_speaker": _same_speaker(clue, about),
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
            }
        )
    return out


def _agrees(one: bool, other: bool | None) -> float:
    return 0.0 if other is None else (1.0 if one == other else -1.0)


def _vague(clue: Clue) -> bool:
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


def _terms(question: Question, speakers: Mapping[str, str], pool: Sequence[Mapping[str, int]]) -> Terms:
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
    return Terms(every, weight)


def _about(words: str, speakers: Mapping[str, str]) -> Asked:
    said = [match.group().lower().replace("’", "'") for match in _WORD.finditer(words)]
    names, owner = set(), False
    for name, role in speakers.items():
        first = name.split()[0] if name.split() else name
        for word in said:
            if word.removesuffix("'s") == first or word.rstrip("'") == first:
                names.add(name)
                owner = owner or word.endswith(("'s", "s'"))
            elif word in _FIRST_PERSON and role == "user" and first in ("user", "me"):
                names.add(name)
    return Asked(frozenset(names), owner)


def _same_subject(clue: Clue, about: Asked, speakers: Mapping[str, str]) -> float:
    """1 for one of those asked about, -1 for another speaker, 0 for what cannot be told."""
    if clue.event is None or not about.names or about.owner:
        return 0.0
    subject = clue.event.subject.lower()
    if any(name in subject for name in about.names):
        return 1.0
    return -1.0 if any(name in subject for name in speakers) else 0.0


def _same_speaker(clue: Clue, about: Asked) -> float:
    if not about.names:
        return 0.0
    return 1.0 if clue.turn.speaker.lower() in about.names else -1.0


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    return Tokenizer()


@lru_cache(maxsize=1)
def _stop_stems() -> frozenset[str]:
    return frozenset(_tokenizer().counts([STOP_WORDS])[0])
