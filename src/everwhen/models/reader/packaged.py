"""The reader that ships with the package: a cross-encoder of six layers in 8 bits, on the CPU, without a download.

docs/models.md says how it was made.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.models.onnx import available_cores, open_session, open_tokenizer
from everwhen.models.reader.base import Passage, ProposedAnswer, Reading
from everwhen.models.wordpiece import Tokens, WordPiece

FOLDER = Path(__file__).with_name("reader_2")
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
"""Below which nothing is told: whoever asks decides how sure is sure enough."""


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

    def __init__(self, threads: int | None = None, folder: Path = FOLDER) -> None:
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

    def tells(self, questions: Sequence[str], passages: Sequence[Passage]) -> list[list[ProposedAnswer]]:
        asked = self._vectors(questions)
        runs = self._runs([("", one) for one in passages], ["tells"])
        out = []
        for passage, run in zip(passages, runs, strict=True):
            told = _told(_glance(run.of_own(run.outputs[0]), asked))
            out.append(
                [
                    ProposedAnswer(question, span, chance)
                    for question, place, chance in told
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
            ids, begin, told = _row(tokenizer, question, pair[1], before, own)
            outputs = session.run(wanted, _inputs(ids, len(question) + 2))
            return _Run([output[0] for output in outputs], begin, told)

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
                tokenizer = open_tokenizer(self._folder / "tokenizer.json")
                self._loaded = tokenizer, open_session(self._folder / "model.onnx")
        return self._loaded


def _digest(question: str, passage: Passage) -> bytes:
    """What a pair is known by: no words are kept that somebody may ask to forget."""
    told = "\x1f".join((question, passage.speaker, passage.text, passage.before))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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


def _glance(tells: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """The chance that the answer to each question begins, and ends, at each token: questions x tokens x 2."""
    width = tells.shape[1] // 2
    alike = [
        asked[:, part] @ tells[:, part].T / np.sqrt(np.float32(width))
        for part in (slice(width), slice(width, 2 * width))
    ]
    logits = np.stack(alike, -1) + asked[:, None, 2 * width :]
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)


def _told(chances: NDArray[np.float32]) -> list[tuple[int, tuple[int, int], float]]:
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


def _softmax(values: NDArray[np.float32]) -> NDArray[np.float32]:
    odds = np.exp(values - values.max())
    return np.asarray(odds / odds.sum(), dtype=np.float32)
