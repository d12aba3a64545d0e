"""Late interaction that was learned: what each word of a question finds in a memory, and what that says together.

For a question's token q and what it attends to among a memory's tokens t, `c = sum of softmax(SHARP q.t) t`:

    h     = gelu(W1 [q, c, q * c, max q.t] + b1)       64 numbers for each token of the question
    m     = sum of softmax(u.q) h, max of h            over the question's tokens
    score = w3 . gelu(W2 m + b2) + b3

Pure functions over arrays; the weights come with the embedder that made the token vectors (training/networks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everwhen.models.rerank.token_codes import decode

Matrix = NDArray[np.float32]

SHARP = np.float32(16.0)
AT_ONCE = 100
"""Memories that are compared at a time: all 280 of a question at once take 1.5 times as long."""
FOLDER = Path(__file__).parents[1] / "embed" / "conversation_1"


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
        compare(query, *decode(codes[start : start + AT_ONCE]), inner)
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
    weights = comparison()
    told = _gelu(np.matmul(seen.transpose(1, 0, 2), _inner(query) if inner is None else inner))
    worth = _softmax(query @ weights.worth)
    pooled = np.concatenate([np.tensordot(worth, told, axes=1), told.max(axis=0)], axis=1)
    scores[has_any] = _gelu(pooled @ weights.outer + weights.outer_bias) @ weights.score + weights.score_bias
    return found, scores


def _inner(query: Matrix) -> Matrix:
    """The first layer for each token q of a question, over `[c, max q.t, 1]`: what belongs to q alone is a constant,
    and `W c + V (q * c)` is `(W + V diag(q)) c`, one product instead of two."""
    weights = comparison()
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
def comparison() -> LearnedComparison:
    held = {name: values.astype(np.float32) for name, values in np.load(FOLDER / "compare.npz").items()}
    inner = np.ascontiguousarray(held["inner.weight"].T)
    width = (len(inner) - 1) // 3
    return LearnedComparison(
        inner[:width], inner[width : 2 * width], inner[2 * width : 3 * width], inner[-1], held["inner.bias"],
        held["worth.weight"][0], held["outer.weight"].T, held["outer.bias"], held["score.weight"][0],
        held["score.bias"][0],
    )  # fmt: skip
