"""What compares a question with memories: rerankers, late interaction over token vectors, and the reader.

Rerankers give scores that recall fuses. Late interaction is the default one: pure functions over arrays. The reader is
a network that reads a question and one turn together, and says whether and where the turn answers it.

TEMPR is a system of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

import hashlib
import threading
from calendar import month_name
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError, UsageError
from everwhen.models.embedder import (
    CONVERSATION_FOLDER,
    Tokens,
    WordPiece,
    available_cores,
    decode_codes,
    open_packaged,
)
from everwhen_time.zones import zone_of

Scores: TypeAlias = dict[str, NDArray[np.float32]]
"""By the name of a score, one number for each candidate; NaN where a candidate cannot be compared."""


@dataclass(frozen=True, slots=True)
class RerankQuery:
    """What is asked: its words, and the vectors of its tokens where the embedder gives them."""

    text: str
    tokens: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may answer: what a reranker can look at."""

    text: str
    said_at: datetime
    zone: str = "UTC"
    context: str = ""
    """Who said it, or what it belongs to."""


class Reranker(Protocol):
    """Scores for the few best candidates. Used by: recall, which fuses them. Uses: a model, or arrays."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[str]:
        """What it looks at: the `text` of a candidate, or the stored `codes` of its token vectors."""
        ...

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        """Scores by name, higher is better; empty where there is nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class WithoutModel:
    """`maxsim`, which recall computes itself from the stored token vectors (`learned_maxsim`), and `none`."""

    name: str
    reads: frozenset[str]

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        return {}


def dated_line(candidate: Candidate) -> str:
    """`[Date: November 06, 2025 (2025-11-06)] context: text`, the form that TEMPR shows to a cross-encoder."""
    day = candidate.said_at.astimezone(zone_of(candidate.zone))
    context = f"{candidate.context}: " if candidate.context else ""
    return f"[Date: {month_name[day.month]} {day:%d, %Y} ({day:%Y-%m-%d})] {context}{candidate.text}"


@runtime_checkable
class Scorer(Protocol):
    """The one method that makes a reranker: a number for each text, higher is better, NaN where it cannot say."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]: ...


class CustomReranker:
    """Shows a scorer what a cross-encoder reads: `[Date: November 06, 2025 (2025-11-06)] context: text`."""

    reads = frozenset({"text"})

    def __init__(self, scorer: Any) -> None:
        self.name = f"own:{getattr(scorer, '__name__', None) or type(scorer).__name__}"
        self._score = scorer.score if isinstance(scorer, Scorer) else scorer

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        if not candidates:
            return {"cross_encoder": np.zeros(0, np.float32)}
        given = self._score(question.text, [dated_line(candidate) for candidate in candidates])
        try:
            numbers = np.asarray(given, np.float32).reshape(-1)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the reranker {self.name} gave {type(given).__name__}; it has to give one number for each text"
            ) from error
        if len(numbers) != len(candidates):
            raise ModelError(
                f"the reranker {self.name} gave {len(numbers)} scores for {len(candidates)} texts; "
                "it has to give one for each, in their order"
            )
        return {"cross_encoder": numbers}


def custom_reranker(given: Any) -> Reranker:
    """A caller's object as a reranker. One that has `name` and `reads` too is taken as it is."""
    if isinstance(given, Scorer) and hasattr(given, "reads") and hasattr(given, "name"):
        whole: Reranker = given  # type: ignore[assignment]
        return whole
    if isinstance(given, type) or not (isinstance(given, Scorer) or callable(given)):
        raise UsageError(
            f"{given!r} is no reranker: give a name, a function (question, texts) -> scores, or an object with such "
            "a method `score`"
        )
    return CustomReranker(given)


CHOICES = "maxsim, fastembed:<cross-encoder>, http:<address>#<model>, none"


def open_reranker(name: str, *, threads: int | None = None, timeout: float | None = None) -> Reranker:
    """The reranker that a setting names. Nothing is loaded before its first use."""
    kind, _, model = name.partition(":")
    match kind, bool(model):
        case "maxsim", False:
            return WithoutModel(name, frozenset({"codes"}))
        case "fastembed", True:
            from everwhen.models.fastembed_reranker import CrossEncoder

            return CrossEncoder(model, threads=threads)
        case "http", True:
            from everwhen.models.http_reranker import TIMEOUT, HttpReranker

            address, _, served = model.partition("#")
            return HttpReranker(address, served, timeout=timeout or TIMEOUT)
        case "none", False:
            return WithoutModel(name, frozenset())
        case _:
            raise UsageError(f"unknown reranker {name!r}; choose one of {CHOICES}")


# Late interaction: each word of a question looks for its best match among the words of a memory.
#
# Rows of the matrices are token vectors of length one, so that a product is a cosine. A memory without token vectors
# has no score: its row is NaN, and whoever fuses scores decides what that means.

Matrix = NDArray[np.float32]
Counts = NDArray[np.int64]


def best_matches(query: Matrix, tokens: Matrix, counts: Counts) -> Matrix:
    """For each memory (row) and each token of the question (column) the best cosine among the memory's tokens.

    `tokens` holds the memories one after the other, `counts` how many rows belong to each:
    `best[c, i] = max over the tokens t of memory c of query[i] . tokens[t]`.
    """
    best = np.full((len(counts), len(query)), np.nan, np.float32)
    has_any = counts > 0
    if len(query) and has_any.any():
        starts = (np.cumsum(counts) - counts)[has_any]  # reduceat needs a start inside the matrix
        best[has_any] = np.maximum.reduceat(query @ tokens.T, starts, axis=1).T
    return best


def weighted_maxsim(best: Matrix, weights: Matrix) -> Matrix:
    """`sum of w[i] best[c, i] / sum of w[i]`, for tokens of unequal worth; NaN where no token has any."""
    whole = float(weights.sum())
    if whole <= 0:
        return np.full(len(best), np.nan, np.float32)
    with np.errstate(invalid="ignore"):  # some processors warn of the rows that are NaN
        return np.asarray(best @ (weights / np.float32(whole)), dtype=np.float32)


# Late interaction that was learned: what each word of a question finds in a memory, and what that says together.
#
# For a question's token q and what it attends to among a memory's tokens t, `c = sum of softmax(SHARP q.t) t`:
#
#     h     = gelu(W1 [q, c, q * c, max q.t] + b1)       64 numbers for each token of the question
#     m     = sum of softmax(u.q) h, max of h            over the question's tokens
#     score = w3 . gelu(W2 m + b2) + b3
#
# The weights come with the embedder that made the token vectors (training/networks.py).

SHARP = np.float32(16.0)
AT_ONCE = 100
"""Memories that are compared at a time: all 280 of a question at once take 1.5 times as long."""


@dataclass(frozen=True, slots=True)
class LearnedComparison:
    """The weights. `inner` is cut into the parts for q, c, q * c and the best cosine."""

    of_question: Matrix
    of_context: Matrix
    of_product: Matrix
    of_best: Matrix
    inner_bias: Matrix
    worth: Matrix
    outer: Matrix
    outer_bias: Matrix
    score: Matrix
    score_bias: np.float32


def compare_codes(query: Matrix, codes: Sequence[bytes]) -> tuple[Matrix, Matrix]:
    """See `compare`, for memories as they are stored: some at a time, so that all stays in the processor's cache."""
    inner = _inner(query)
    parts = [
        compare(query, *decode_codes(codes[start : start + AT_ONCE]), inner)
        for start in range(0, len(codes), AT_ONCE)
    ]
    best, scores = zip(*parts, strict=True) if parts else ([np.zeros((0, len(query)))], [np.zeros(0)])
    return np.concatenate(best, dtype=np.float32), np.concatenate(scores, dtype=np.float32)


def compare(
    query: Matrix, tokens: Matrix, counts: NDArray[np.int64], inner: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """What each word of the question finds at best in each memory (as `best_matches`), and a score for each memory.

    NaN for a memory without token vectors. `tokens` holds the memories one after the other, `inner` is what `_inner`
    says of the question, where that is known.
    """
    scores = np.full(len(counts), np.nan, np.float32)
    found = np.full((len(counts), len(query)), np.nan, np.float32)
    has_any = np.flatnonzero(counts)
    if not len(query) or not len(has_any):
        return found, scores
    alike = query @ tokens.T
    ends = np.cumsum(counts)[has_any]
    starts = ends - counts[has_any]
    best = np.maximum.reduceat(alike, starts, axis=1).T
    found[has_any] = best
    alike -= 1.0
    alike *= SHARP
    shares = np.exp(alike, out=alike)
    # Of each memory and token of the question: c, the best cosine, and a one for what is added.
    width = tokens.shape[1]
    seen = np.empty((len(has_any), len(query), width + 2), np.float32)
    context = seen[..., :width]
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        np.matmul(shares[:, start:end], tokens[start:end], out=context[place])
    context /= np.add.reduceat(shares, starts, axis=1).T[..., None]
    seen[..., width] = best
    seen[..., width + 1] = 1.0
    weights = comparison_weights()
    seen_by_word = _gelu(np.matmul(seen.transpose(1, 0, 2), _inner(query) if inner is None else inner))
    worth = _softmax(query @ weights.worth)
    pooled = np.concatenate([np.tensordot(worth, seen_by_word, axes=1), seen_by_word.max(axis=0)], axis=1)
    scores[has_any] = _gelu(pooled @ weights.outer + weights.outer_bias) @ weights.score + weights.score_bias
    return found, scores


def _inner(query: Matrix) -> Matrix:
    """The first layer for each token q of a question, over `[c, max q.t, 1]`: what belongs to q alone is a constant,
    and `W c + V (q * c)` is `(W + V diag(q)) c`, one product instead of two."""
    weights = comparison_weights()
    width, inside = weights.of_context.shape
    inner = np.empty((len(query), width + 2, inside), np.float32)
    np.multiply(query[..., None], weights.of_product, out=inner[:, :width])
    inner[:, :width] += weights.of_context
    inner[:, width] = weights.of_best
    inner[:, width + 1] = query @ weights.of_question + weights.inner_bias
    return inner


def _softmax(values: Matrix) -> Matrix:
    odds = np.exp(values - values.max())
    return np.asarray(odds / odds.sum(), dtype=np.float32)


def _gelu(x: Matrix) -> Matrix:
    """x times the normal distribution below x, by the tanh that is within 0.0005 of it."""
    inside = x * x
    inside *= np.float32(0.044715 * 0.7978845608)
    inside += np.float32(0.7978845608)
    inside *= x
    np.tanh(inside, out=inside)
    inside += 1
    inside *= x
    inside *= np.float32(0.5)
    return inside


@cache
def comparison_weights() -> LearnedComparison:
    held = {
        name: values.astype(np.float32)
        for name, values in np.load(CONVERSATION_FOLDER / "compare.npz").items()
    }
    inner = np.ascontiguousarray(held["inner.weight"].T)
    width = (len(inner) - 1) // 3
    return LearnedComparison(
        inner[:width], inner[width : 2 * width], inner[2 * width : 3 * width], inner[-1], held["inner.bias"],
        held["worth.weight"][0], held["outer.weight"].T, held["outer.bias"], held["score.weight"][0],
        held["score.bias"][0],
    )  # fmt: skip


# The reader: a question and one turn in; relevance, answer span, answer kind and the status of what is said out

KINDS = ("span", "yes", "no", "none")
STATUSES = ("true", "denied", "supposed", "planned", "ended", "reported", "fiction")


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn as it is read."""

    speaker: str
    text: str
    before: str = ""
    """The end of the turn before, with its speaker."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage says about a question."""

    relevance: float
    """A logit: above 0 it answers more likely than not."""
    kinds: NDArray[np.float32]
    """Chances of `KINDS`."""
    statuses: NDArray[np.float32]
    """Chances of `STATUSES`."""
    span: tuple[int, int]
    """Where in the passage's text the answer would stand: characters, half-open; empty where none could."""
    span_chance: float
    others: tuple[tuple[int, int], ...] = ()
    """Other places, apart from it, that are about as likely: an answer may have several parts."""

    @property
    def kind(self) -> str:
        return KINDS[int(self.kinds.argmax())]

    @property
    def status(self) -> str:
        return STATUSES[int(self.statuses.argmax())]


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """Words of a passage that would answer one of many questions, seen at a glance."""

    question: int
    """Its number among those that were asked."""
    span: tuple[int, int]
    """Characters of the passage's text, half-open."""
    chance: float


class Reader(Protocol):
    """Reads passages beside a question. Used by: recall and the answers. Uses: a network, or a caller's own."""

    name: str

    def relevance(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """The logit of each passage that it answers."""
        ...

    def renews(self, question: str, pairs: Sequence[tuple[Passage, Passage]]) -> NDArray[np.float32]:
        """The logit, of each earlier and later passage, that the later one replaces what the earlier one says."""
        ...

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Everything that it says of each passage."""
        ...

    def read_each(self, pairs: Sequence[tuple[str, Passage]]) -> list[Reading]:
        """The same of passages that are asked a question each."""
        ...

    def answers_in(self, questions: Sequence[str], passages: Sequence[Passage]) -> list[list[ProposedAnswer]]:
        """The answers in each passage to any of the questions: one run a passage, however many there are."""
        ...


# The reader that ships with the package: a cross-encoder of six layers in 8 bits, on the CPU, without a download
# (docs/models.md says how it was made)

READER_FOLDER = Path(__file__).with_name("reader_2")
ASKED, BEFORE, OWN = 40, 24, 160
"""Tokens of a question, of the turn before, and of a turn, at the most."""
COMPARED = 96
"""Tokens of a turn that is only held against others: as many as in training, and half the time of a long turn."""
POSITIONS = 256
"""Tokens that the network has room for: a turn ends where they end."""
EARLIER = 64
"""Tokens of an earlier turn that are read before one that may replace it."""
LONGEST_SPAN = 24
KEPT = 256
"""Pairs whose relevance is remembered: those of a few questions."""
AS_LIKELY, MOST_SPANS = 0.5, 4
"""How likely, beside the best, another part of an answer must be; and how many parts there are at the most."""
LEAST_CHANCE = 0.4
"""Below which nothing is extracted: whoever asks decides how sure is sure enough."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What the network gives of one pair, and the turn's own tokens in it."""

    outputs: list[Any]
    begin: int
    own: Tokens

    def of_own(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The part of an output that belongs to the turn's own tokens."""
        return values[self.begin : self.begin + len(self.own.ids)]


class PackagedReader:
    """May be called from several threads at once; a pair reads the same whatever else is read with it."""

    name = "reader-2"

    def __init__(self, threads: int | None = None, folder: Path = READER_FOLDER) -> None:
        self.threads = threads or available_cores()
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: tuple[WordPiece, Any] | None = None
        self._asked: dict[str, NDArray[np.float32]] = {}
        self._read: dict[bytes, float] = {}

    def relevance(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """The logit of each passage. One that was just read with the same question is not read again: whoever looks at
        an answer from one day after another asks for the same pairs."""
        keys = [_digest(question, one) for one in passages]
        known = self._read
        new = [number for number, key in enumerate(keys) if key not in known]
        found = {key: known[key] for key in keys if key in known}
        pairs = [(question, passages[number]) for number in new]
        for number, run in zip(new, self._runs(pairs, ["relevance"], own=COMPARED), strict=True):
            found[keys[number]] = float(run.outputs[0][0])
        # The newest stay. The dictionary is another one each time, so that no lock is needed.
        rest = {key: value for key, value in known.items() if key not in found}
        self._read = dict([*rest.items(), *found.items()][-KEPT:])
        return np.array([found[key] for key in keys], np.float32)

    def read_anew(self) -> None:
        """Let go of what was read: a bench that asks one question several times measures every reading."""
        self._read = {}

    def renews(self, question: str, pairs: Sequence[tuple[Passage, Passage]]) -> NDArray[np.float32]:
        later = [
            (question, Passage(late.speaker, late.text, f"{early.speaker}: {early.text}"))
            for early, late in pairs
        ]
        runs = self._runs(later, ["renews"], slice(EARLIER), COMPARED)
        return np.array([run.outputs[0][0] for run in runs], np.float32)

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        return self.read_each([(question, passage) for passage in passages])

    def read_each(self, pairs: Sequence[tuple[str, Passage]]) -> list[Reading]:
        out = []
        runs = self._runs(pairs, ["relevance", "kind", "status", "span"])
        for (_, passage), run in zip(pairs, runs, strict=True):
            relevance, kind, status, span = run.outputs
            places = _best_spans(run.of_own(span))
            spans = [_characters(passage, run.own, place) for place, _ in places]
            others = tuple(span for span in spans[1:] if span != (0, 0))
            out.append(
                Reading(float(relevance[0]), _softmax(kind), _softmax(status), spans[0], places[0][1], others)
            )
        return out

    def answers_in(self, questions: Sequence[str], passages: Sequence[Passage]) -> list[list[ProposedAnswer]]:
        asked = self._vectors(questions)
        runs = self._runs([("", one) for one in passages], ["tells"])
        out = []
        for passage, run in zip(passages, runs, strict=True):
            found = _answer_spans(_glance(run.of_own(run.outputs[0]), asked))
            out.append(
                [
                    ProposedAnswer(question, span, chance)
                    for question, place, chance in found
                    if (span := _characters(passage, run.own, place)) != (0, 0)
                ]
            )
        return out

    def _vectors(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Of questions by themselves; each is run once."""
        _, session = self._model()
        for question in questions:
            if question not in self._asked:
                row = [101, *self._tokens(question), 102]
                self._asked[question] = session.run(["asks"], _inputs(row, len(row)))[0][0]
        return np.stack([self._asked[question] for question in questions])

    def _runs(
        self,
        pairs: Sequence[tuple[str, Passage]],
        wanted: list[str],
        before: slice = slice(-BEFORE, None),
        own: int = OWN,
    ) -> list[_Run]:
        """Each question with its passage, spread over the cores; together they would wait for the longest."""
        tokenizer, session = self._model()
        asked = {question: self._tokens(question) for question in dict.fromkeys(one for one, _ in pairs)}

        def run(pair: tuple[str, Passage]) -> _Run:
            question = asked[pair[0]]
            ids, begin, own_tokens = _row(tokenizer, question, pair[1], before, own)
            outputs = session.run(wanted, _inputs(ids, len(question) + 2))
            return _Run([output[0] for output in outputs], begin, own_tokens)

        if len(pairs) < 2 or self.threads == 1:
            return [run(pair) for pair in pairs]
        with ThreadPoolExecutor(min(self.threads, len(pairs))) as pool:
            return list(pool.map(run, pairs))

    def _tokens(self, question: str) -> list[int]:
        tokenizer, _ = self._model()
        return tokenizer.encode(question).ids[:ASKED]

    def _model(self) -> tuple[WordPiece, Any]:
        with self._loading:
            if self._loaded is None:
                tokenizer = open_packaged(self._folder / "tokenizer.json")
                self._loaded = tokenizer, open_packaged(self._folder / "model.onnx")
        return self._loaded


def _digest(question: str, passage: Passage) -> bytes:
    """What a pair is known by: no words are kept that somebody may ask to forget."""
    key = "\x1f".join((question, passage.speaker, passage.text, passage.before))
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _row(
    tokenizer: WordPiece, asked: list[int], passage: Passage, part: slice, most: int
) -> tuple[list[int], int, Tokens]:
    """`[CLS] question [SEP] before [SEP] speaker: text [SEP]`, where its own words begin, and what they are; `part` of
    the tokens before it is read, and at the most so many of its own."""
    before = tokenizer.encode(passage.before[: 8 * OWN]).ids[part]
    read = [101, *asked, 102, *before, *([102] if before else [])]
    room = min(most, POSITIONS - len(read) - 1)
    own = tokenizer.encode(f"{passage.speaker}: {passage.text}"[: 8 * OWN])[:room]
    return [*read, *own.ids, 102], len(read), own


def _inputs(row: list[int], question: int) -> dict[str, NDArray[np.int64]]:
    ids = np.array([row], np.int64)
    segments = np.zeros_like(ids)
    segments[0, question:] = 1
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "segments": segments}


def _glance(vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """The chance that the answer to each question begins, and ends, at each token: questions x tokens x 2."""
    width = vectors.shape[1] // 2
    alike = [
        asked[:, part] @ vectors[:, part].T / np.sqrt(np.float32(width))
        for part in (slice(width), slice(width, 2 * width))
    ]
    logits = np.stack(alike, -1) + asked[:, None, 2 * width :]
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)


def _answer_spans(chances: NDArray[np.float32]) -> list[tuple[int, tuple[int, int], float]]:
    """Question, first and last token, and chance: the likeliest first, those of one question apart from one another.

    From where an answer begins to the likeliest end before the next one begins.
    """
    found: list[tuple[int, tuple[int, int], float]] = []
    for question in np.flatnonzero((chances >= LEAST_CHANCE).any(1).all(-1)).tolist():
        begins, ends = chances[question, :, 0], chances[question, :, 1]
        starts = np.flatnonzero(begins >= LEAST_CHANCE).tolist()
        for place, start in enumerate(starts):
            until = min([*starts[place + 1 : place + 2], start + LONGEST_SPAN, len(ends)])
            end = start + int(ends[start:until].argmax())
            chance = float(min(begins[start], ends[end]))
            if chance >= LEAST_CHANCE:
                found.append((question, (start, end), chance))
    return sorted(found, key=lambda one: -one[2])


def _best_spans(scores: NDArray[np.float32]) -> list[tuple[tuple[int, int], float]]:
    """The best first and last token, the last not before the first, and how sure that is; then others that do not
    overlap it and are at least `AS_LIKELY` as likely."""
    if not len(scores):
        return [((0, -1), 0.0)]
    begins, ends = _softmax(scores[:, 0]), _softmax(scores[:, 1])
    both = np.triu(np.outer(begins, ends)) - np.triu(np.outer(begins, ends), LONGEST_SPAN)
    found: list[tuple[tuple[int, int], float]] = []
    while len(found) < MOST_SPANS:
        first, last = divmod(int(both.argmax()), len(scores))
        chance = float(both[first, last])
        if found and chance < AS_LIKELY * found[0][1]:
            break
        found.append(((first, last), chance))
        both[: last + 1, first:] = 0.0  # whatever overlaps it
    return found


def _characters(passage: Passage, own: Tokens, place: tuple[int, int]) -> tuple[int, int]:
    """A span of tokens as characters of the passage's text; empty where it lies in the speaker's name."""
    if place[1] < place[0]:
        return (0, 0)
    shift = len(passage.speaker) + 2
    start, end = own.offsets[place[0]][0] - shift, own.offsets[place[1]][1] - shift
    return (max(start, 0), end) if end > 0 else (0, 0)


@lru_cache(maxsize=2)
def open_reader(name: str) -> Reader | None:
    """The reader of a setting, one for all the banks of a process; it is loaded when it first reads."""
    return None if name == "none" else PackagedReader()
