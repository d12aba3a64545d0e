"""BM25F over postings held in arrays: pure functions, the formula in one place.

    score(q, d) = sum over t in q of idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))
    idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5))

tf and |d| count a word of the text as one and a word of its context (the end of the turn before) as a half:
on LoCoMo dev, turn-level recall@10 of this channel alone is 0.62 without context and 0.70 with it.

FTS5 uses the same formula with an idf without the `1 +`, which gives a word that half of the rows contain no
weight at all: in a dialogue of two that word is the speaker's name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.store.terms import Packed

K1 = 1.2  # both as in FTS5
B = 0.75


@dataclass(frozen=True, slots=True)
class Postings:
    """For each term the rows that contain it, ascending, and how often; for each row its length in terms."""

    vocabulary: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    halves: NDArray[np.uint16]
    lengths: NDArray[np.float32]

    @classmethod
    def build(cls, packed: Packed, sizes: NDArray[np.int64]) -> Postings:
        """From all rows' packed terms, one after the other, and how many terms each row has."""
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        lengths = np.bincount(owners, packed["halves"] * 0.5, minlength=len(sizes)).astype(np.float32)
        order = np.argsort(packed["term"], kind="stable")  # stable: rows stay ascending inside a term
        vocabulary, starts = np.unique(packed["term"][order], return_index=True)
        offsets = np.append(starts, len(order)).astype(np.int64)
        return cls(vocabulary, offsets, owners[order], packed["halves"][order], lengths)

    def only(self, stays: NDArray[np.bool_]) -> Postings:
        """Of some of the rows, which close ranks."""
        kept = stays[self.rows]
        left = (
            np.add.reduceat(kept, self.offsets[:-1], dtype=np.int64) if len(kept) else np.zeros(0, np.int64)
        )
        places = (np.cumsum(stays) - 1).astype(np.int32)
        return Postings(
            self.vocabulary[left > 0],
            np.append(0, np.cumsum(left[left > 0])).astype(np.int64),
            places[self.rows[kept]],
            self.halves[kept],
            self.lengths[stays],
        )

    def find(self, term: int) -> slice:
        """Where a term's rows stand; an empty slice for a term that nobody used."""
        place = int(np.searchsorted(self.vocabulary, np.uint64(term)))
        if place == len(self.vocabulary) or int(self.vocabulary[place]) != term:
            return slice(0, 0)
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))


def idf(rows: int, containing: int) -> float:
    """How telling a term is."""
    return math.log(1.0 + (rows - containing + 0.5) / (containing + 0.5))


def score(
    postings: Postings, terms: Sequence[int], weights: Sequence[float], mean_length: float
) -> NDArray[np.float32]:
    """Every row's BM25 for a query whose terms have the given idf."""
    scores = np.zeros(len(postings.lengths), dtype=np.float32)
    for term, weight in zip(terms, weights, strict=True):
        where = postings.find(term)
        rows = postings.rows[where]
        count = postings.halves[where] * np.float32(0.5)
        norm = K1 * (1.0 - B + B * postings.lengths[rows] / mean_length)
        scores[rows] += weight * count * (K1 + 1.0) / (count + norm)  # a term's rows are distinct
    return scores
