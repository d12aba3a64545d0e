"""How well a piece of evidence answers a question about time: a few readable features and their fitted weights.

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
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import Reading, best_matches, weighted_maxsim
from everwhen.models.embedder import Embedder, decode_codes, gives_tokens
from everwhen.recall.calendar.evidence import TimeEvidence
from everwhen.recall.names import leading_name
from everwhen.recall.question import FIRST_PERSON, Question
from everwhen.store.base import STOP_WORDS, Tokenizer
from everwhen.store.rows import Filter, SearchQuery
from everwhen.store.sql.store import Store
from everwhen.types import Turn
from everwhen.write.modality import unreal
from everwhen_time.sentences import sentence_texts

_VAGUE = frozenset({"recently", "lately", "soon", "now", "right now", "currently", "nowadays", "these days"})
SURE = 4.0
"""The reader's logit that counts as three quarters of the surest."""
NEAR = 3
"""How many turns apart two turns may be to speak of the same thing."""
SIGNS = {"log_rank": -1, "undated_beside_dated": -1, "denied": -1, "vague": -1, "asks": -1,
         "is_event": 0, "is_expression": 0, "is_fact": 0}  # fmt: skip
"""Which way a feature may count: against a clue (-1), either way (0: whether it is of a kind), all others for it."""
TELLING = ("named", "unreal")
"""Features that only the confidence counts: whether it was said at all, not which interval it was."""
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
    beside = _cover_around({clue.turn.id: clue.turn for clue in clues}, covers)
    with_date = {clue.turn.id for clue in clues if clue.dated and not _vague(clue)}
    texts = _evidence_texts(clues, terms.without(about.names))
    unread = min((_sureness(one) for one in read.values()), default=0.0)
    out = []
    for clue, stems, verb, text in zip(clues, own, verbs, texts, strict=True):
        id_, window = clue.turn.id, question.time.interval if question.time else None
        out.append(
            {
                "log_rank": math.log(clue.rank),
                "cosine": near_turns.get(id_, lowest),
                "text_cover": terms.cover(stems),
                "turn_cover": covers[id_],
                "beside_cover": beside[id_],
                "same_verb": float(any(stem in terms.asked for stem in verb)),
                "same_subject": same_subject(text.clue, about, speakers),
                "same_speaker": same_speaker(clue, about),
                "named": named(text.clue, about, speakers),
                "unreal": float(did_not_happen(text.clue, text.words, question)),
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


def did_not_happen(clue: TimeEvidence, words: str, question: Question) -> bool:
    """Whether a clue's words say that it did not happen, where the question asks for what did.

    `words` are those of the clue that the question is about. What a question about plans asks for may well be supposed
    or wished.
    """
    status = clue.event.status if clue.event else ""
    if unreal(words, "nearly", "quoted"):
        return True
    if not question.planned and (status == "hypothetical" or unreal(words, "supposed")):
        return True
    if not question.denied and (status == "negated" or unreal(words, "denied")):
        return True
    return question.ahead is False and not question.planned and unreal(words, "wished")


def speakers_of(clues: Sequence[TimeEvidence]) -> dict[str, str]:
    """The role of everybody whose turns the clues are from, by the name in small letters."""
    return {clue.turn.speaker.lower(): clue.turn.role for clue in clues}


def _evidence_texts(clues: Sequence[TimeEvidence], terms: QuestionTerms) -> list[EvidenceText]:
    """For each clue what its turn says of the question: the date may stand in one sentence, the deed in another.

    A sentence with a date of its own speaks of that date: "She wasn't born on Thursday. It was Friday." denies one day.
    """
    said = {clue.turn.id: sentence_texts(clue.turn.text) or [clue.turn.text] for clue in clues}
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
            # What the event leaves out may be said beside it: "the beta is ready, it was never released".
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


def _cover_around(turns: Mapping[str, Turn], covers: Mapping[str, float]) -> dict[str, float]:
    """For each turn, how much of the question the best of the turns around it has: a date is often said apart."""
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


_FIRST_PERSON = frozenset(FIRST_PERSON.split("|")) | {
    "i'm", "i've", "i'd", "i'll", "im", "ive", "we've", "we're", "we'd",
}  # fmt: skip
_THIRD_PERSON = frozenset({"he", "she"})
_NO_NAME = (
    _FIRST_PERSON
    | _THIRD_PERSON
    | {"they", "it", "you", "your", "his", "her", "their", "the", "a", "an", "and"}
)
OPENING = 5
"""Words of an event's text among which the others who did it are named: "Ana's colleagues and Ana went"."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """Whom the question is about, in lower case, as far as its words say."""

    names: frozenset[str] = frozenset()
    """The words of their names; the name of the user where the question says "I"."""
    owner: bool = False
    """Whether it is something or somebody of theirs ("Ana's brother")."""
    first: bool = False
    """Whether the question says "I"."""


def question_subject(question: Question, speakers: Mapping[str, str]) -> QuestionSubject:
    """Speakers that are named anywhere, the name that the question begins with, and the user where it says "I".

    `speakers` gives the role of each speaker, by the name in small letters. Among people only, "I" is whoever asks,
    and the memory does not know who that is.
    """
    said = _lower_words(question.words)
    begins = set(_lower_words(leading_name(question.event))) - _NO_NAME
    users = [name for name, role in speakers.items() if role == "user"]
    told_to_assistant = len(users) == 1 and ("assistant" in speakers.values() or users[0] in ("user", "me"))
    names, owner, first = set(), False, False
    for word in said:
        bare = _without_possessive(word)
        if word in begins or any(bare == _first(name) for name in speakers):
            names.add(bare)
            owner = owner or bare != word
        elif word in _FIRST_PERSON and told_to_assistant:
            names.add(_first(users[0]))
            owner, first = owner or word in ("my", "our"), True
    return QuestionSubject(frozenset(names), owner, first)


def same_subject(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> float:
    """1 if the one who did it is asked about, -1 if it is somebody else, 0 if that is unknown."""
    event = clue.event
    if event is None or not about.names:
        return 0.0
    subject = _lower_words(event.subject)
    if not subject or _may_be_anyone(clue, about, speakers):
        return 0.0
    others = {_first(name) for name in speakers} - about.names
    if about.owner:  # "Rui's laptop", where Ana's is asked about
        owner = _without_possessive(subject[0])
        return -1.0 if subject[0] != owner and owner in others else 0.0
    if any(word in about.names for word in (*subject, *_lower_words(event.text)[:OPENING])):
        return 1.0
    if subject[0] in _THIRD_PERSON:  # nobody calls themselves "she"
        return -1.0 if _first(clue.turn.speaker.lower()) in about.names else 0.0
    # "Ana's brother" is not Ana.
    return -1.0 if _without_possessive(subject[0]) in others | about.names or _is_name(event.subject) else 0.0


def same_speaker(clue: TimeEvidence, about: QuestionSubject) -> float:
    """1 if one of those asked about said it, -1 if somebody else did, 0 if nobody is named."""
    if not about.names:
        return 0.0
    return 1.0 if _first(clue.turn.speaker.lower()) in about.names else -1.0


def named(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> float:
    """The share of the asked names that the clue's own words have; the speaker takes part where they are not about
    somebody else."""
    speaker = _first(clue.turn.speaker.lower())
    if not about.names or (about.first and speaker in about.names):
        return 1.0
    event = clue.event
    said = f"{event.subject} {event.text}" if event is not None else clue.text
    if about.owner or _may_be_anyone(clue, about, speakers):
        # What belongs to somebody is often said without its owner: "The funeral is on Friday."
        said += f" {clue.around}"
    elif about.names.isdisjoint(_first(name) for name in speakers):
        # Of somebody who does not speak here, it is enough that the turn names them: "It was on Friday."
        said += f" {clue.turn.text}" if event is None else ""
    # "Ana's brother" names Ana only where something of hers is asked about.
    has = {_without_possessive(word) if about.owner else word for word in _lower_words(said)}
    theirs = not has.isdisjoint(_FIRST_PERSON) or has.isdisjoint(_THIRD_PERSON)
    if about.owner or (theirs and same_subject(clue, about, speakers) >= 0):
        has.add(speaker)
    return len(about.names & has) / len(about.names)


def _may_be_anyone(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> bool:
    """Whether an event is taken to be the speaker's only because its words do not say whose it is, and somebody who
    does not speak here is asked about: "Moved out today" may be about the flatmate."""
    event = clue.event
    return (
        event is not None
        and about.names.isdisjoint(_first(name) for name in speakers)
        and event.subject.lower() == clue.turn.speaker.lower()
        and _FIRST_PERSON.isdisjoint(_lower_words(clue.turn.text))
    )


def _is_name(subject: str) -> bool:
    """Two words with capitals: one alone may only begin a sentence."""
    words = subject.split()
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _lower_words(text: str) -> list[str]:
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").rstrip("'")


def _first(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else name


Array = NDArray[np.float32]
_TURN = Filter(kinds=frozenset({"turn"}))


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question: their token vectors, and how much each says in this memory (`telling`, its idf)."""

    words: tuple[str, ...]
    """The word that each token is of."""
    vectors: Array
    telling: Array
    """The idf of the word; 0 for one that does not count, such as a function word."""

    def without(self, names: Collection[str]) -> QuestionWords:
        """The same, but the words of some names (in lower case) do not count: "I" is not similar to a name, so
        `question_subject` compares names."""
        kept = np.array([word.lower() not in names for word in self.words], np.bool_)
        return replace(self, telling=np.where(kept, self.telling, np.float32(0.0)))


def read_words(store: Store, embedder: Embedder, text: str) -> tuple[Array, QuestionWords | None]:
    """The vector of a text, and its words where the model gives them; both from one run."""
    piece = embedder.pieces(text)[0]
    if not gives_tokens(embedder):
        return embedder.embed([piece])[0], None
    vectors, tokens, words = embedder.embed_question(piece)
    telling = store.search(SearchQuery(words=piece, where=_TURN)).evidence((), tokens=words).terms.telling
    return vectors[0], QuestionWords(tuple(words), tokens, telling)


def coverage(asked: QuestionWords, embedder: Embedder, texts: Sequence[str]) -> list[float] | None:
    """How much of the question each text speaks of: the mean over the question's words of the best cosine among the
    text's words, weighted by how telling a word is; one of several tokens counts once. None where no word counts."""
    if not gives_tokens(embedder) or not asked.telling.any():
        return None
    tokens = Counter(asked.words)
    weights = asked.telling * np.array([1 / tokens[word] for word in asked.words], np.float32)
    _, codes = embedder.embed_with_codes([embedder.pieces(text)[0] for text in texts])
    best = np.nan_to_num(best_matches(asked.vectors, *decode_codes(codes)), nan=0.0).clip(0.0)
    return [float(one) for one in weighted_maxsim(best, weights)]
