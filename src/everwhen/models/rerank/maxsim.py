"""Late interaction: each word of a question looks for its best match among the words of a memory.

Pure functions over arrays. Rows of the matrices are token vectors of length one, so that a product is a cosine.
A memory without token vectors has no score: its row is NaN, and whoever fuses scores decides what that means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
