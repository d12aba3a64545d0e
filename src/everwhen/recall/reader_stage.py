"""The reader stage: a cross-encoder reads the first candidates together with the question.

Above: the pipeline, which adds the result to the fused scores. Below: `models/reader`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.models.reader import Passage, Reader
from everwhen.recall.features import CandidatePool


@dataclass(frozen=True, slots=True)
class ReaderScores:
    """The reader's result: the places of the candidates it read, and for each the logit that it answers the
    question."""

    places: NDArray[np.int64]
    logits: NDArray[np.float32]

    def added(self, fused: NDArray[np.float32], worth: float) -> NDArray[np.float32]:
        """What is added to each fused score: `worth` times the logit if a candidate was read; the others stay behind
        those."""
        gained = np.zeros(len(fused), np.float32)
        gained[self.places] = np.float32(worth) * self.logits
        rest = np.delete(np.arange(len(fused)), self.places)
        if len(rest):
            lowest = float((fused + gained)[self.places].min())
            gained[rest] = min(0.0, lowest - float(fused[rest].max()))
        return gained


@dataclass(frozen=True, slots=True)
class ReaderStage:
    """Reads the candidates of one question."""

    pool: CandidatePool
    reader: Reader

    def first(self, fused: NDArray[np.float32], count: int) -> ReaderScores:
        """Read the best candidates by a score."""
        return read_first(self.pool, self.reader, np.argsort(-fused, kind="stable")[:count])

    def renews(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
        """For places of earlier and later candidates, the logit that the later one replaces the earlier one."""
        rows = self.pool.rows
        told = {place: Passage(rows[place].speaker, rows[place].text) for pair in pairs for place in pair}
        return self.reader.renews(self.pool.plan.query, [(told[early], told[late]) for early, late in pairs])


def read_first(pool: CandidatePool, reader: Reader, places: NDArray[np.int64]) -> ReaderScores:
    """Read the candidates at these places."""
    return ReaderScores(places, reader.relevance(pool.plan.query, passages(pool, places.tolist())))


def is_readable(question: str) -> bool:
    """Whether the reader can read the question: it knows English only."""
    letters = [one for one in question if one.isalpha()]
    return sum(one.isascii() for one in letters) > len(letters) / 2


def passages(pool: CandidatePool, places: Sequence[int]) -> list[Passage]:
    """Some candidates as input of the reader, each with the end of the turn before it."""
    before = pool.found.said_before(places)
    return [
        Passage(pool.rows[place].speaker, pool.rows[place].text, said)
        for place, said in zip(places, before, strict=True)
    ]
