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

from everwhen.store.terms import PACKED, Packed

K1 = 1.2  # both as in FTS5
B = 0.75


@dataclass(frozen=True, slots=True)
class Postings:
    """For each term the rows that contain it, in ascending order, and how often; for each row its length in terms."""

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
        terms, order = _sorted(
            np.ascontiguousarray(packed["term"])
        )  # stable: rows stay ascending inside a term
        starts = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if len(terms) else order
        offsets = np.append(starts, len(order)).astype(np.int64)
        return cls(terms[starts], offsets, owners[order], packed["halves"][order], lengths)

    def only(self, stays: NDArray[np.bool_]) -> Postings:
        """The postings of some of the rows, renumbered."""
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

    def packed(self) -> tuple[Packed, NDArray[np.int64]]:
        """What it was built from: all rows' packed terms, one after the other, and how many terms each row has."""
        order = np.argsort(self.rows, kind="stable")
        packed = np.empty(len(order), dtype=PACKED)
        packed["term"] = np.repeat(self.vocabulary, np.diff(self.offsets))[order]
        packed["halves"] = self.halves[order]
        return packed, np.bincount(self.rows, minlength=len(self.lengths))

    def find(self, terms: Sequence[int]) -> list[slice]:
        """Where each term's rows stand; an empty slice for a term that nobody used."""
        if not len(self.vocabulary):
            return [slice(0, 0)] * len(terms)
        wanted = np.array(terms, dtype=np.uint64)
        places = np.minimum(np.searchsorted(self.vocabulary, wanted), len(self.vocabulary) - 1)
        used = self.vocabulary[places] == wanted
        starts, ends = self.offsets[places], self.offsets[places + used]
        return [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def counts(self, where: slice, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """How often a term, which stands there, stands in some rows, which ascend; the shorter list is looked up in the
        longer one."""
        standing, halves = self.rows[where], self.halves[where]
        found = np.zeros(len(rows), dtype=np.float32)
        if not len(standing) or not len(rows):
            return found
        if len(standing) < len(rows):
            places = np.minimum(np.searchsorted(rows, standing), len(rows) - 1)
            here = rows[places] == standing
            found[places[here]] = halves[here]
        else:
            places = np.minimum(np.searchsorted(standing, rows), len(standing) - 1)
            here = standing[places] == rows
            found[here] = halves[places[here]]
        found *= np.float32(0.5)
        return found


def _sorted(terms: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Terms in their order, and the place of each before; of equal ones the first place comes first.

    NumPy sorts numbers with vector instructions, but not numbers with their places: a term's first bits and its place,
    sorted as one number, take half the time. Only terms with the same first bits can come out in a wrong order.
    """
    bits = np.uint64(len(terms).bit_length())
    keys = terms >> bits << bits
    keys |= np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    keys &= (np.uint64(1) << bits) - np.uint64(1)
    order = keys.view(np.int64)
    ordered = terms[order]
    if (ordered[1:] < ordered[:-1]).any():
        order = np.argsort(terms, kind="stable")
        ordered = terms[order]
    return ordered, order


def idf(rows: int, containing: int) -> float:
    """How much a term says: its inverse document frequency."""
    return math.log(1.0 + (rows - containing + 0.5) / (containing + 0.5))


def score(
    postings: Postings, found: Sequence[slice], weights: Sequence[float], mean_length: float
) -> NDArray[np.float32]:
    """Every row's BM25 for a query whose terms stand there and have the given idf.

    Numerator and denominator are both doubled, as counts are kept in halves. Rows become machine words once for each
    term: NumPy would turn them into these again at every step.
    """
    scores = np.zeros(len(postings.lengths), dtype=np.float32)
    norms = np.float32(2 * K1 * B / mean_length) * postings.lengths if mean_length else scores.copy()
    norms += np.float32(2 * K1 * (1 - B))
    for where, weight in zip(found, weights, strict=True):
        rows = postings.rows[where].astype(np.intp)
        gain = postings.halves[where].astype(np.float32)
        gain /= norms.take(rows) + gain
        gain *= np.float32(weight * (K1 + 1.0))
        gain += scores.take(rows)
        scores[rows] = gain  # a term's rows are distinct
    return scores
