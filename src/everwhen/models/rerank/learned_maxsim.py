"""Late interaction that was learned: what each word of a question finds in a memory, and what that says together.

For a question's token q and what it attends to among a memory's tokens t, `c = sum of softmax(SHARP q.t) t`:

    h     = gelu(W1 [q, c, q * c, max q.t] + b1)       64 numbers for each token of the question
    m     = sum of softmax(u.q) h, max of h            over the question's tokens
    score = w3 . gelu(W2 m + b2) + b3

Pure functions over arrays; the weights come with the embedder that made the token vectors (training/networks.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

SHARP = np.float32(16.0)
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


def compare(query: Matrix, tokens: Matrix, counts: NDArray[np.int64], alike: Matrix | None = None) -> Matrix:
    """A score for each memory; NaN for one without token vectors. `tokens` holds the memories one after the other,
    `alike` their cosines with the question's tokens, where these are known."""
    out = np.full(len(counts), np.nan, np.float32)
    has_any = np.flatnonzero(counts)
    if not len(query) or not len(has_any):
        return out
    weights = comparison()
    worth = _softmax(query @ weights.worth)
    asked = query @ weights.of_question + weights.inner_bias
    alike = query @ tokens.T if alike is None else alike
    scaled = np.exp((alike - 1.0) * SHARP)
    starts = (np.cumsum(counts) - counts)[has_any]
    best = np.maximum.reduceat(alike, starts, axis=1)
    whole = np.add.reduceat(scaled, starts, axis=1)
    context = np.empty((len(query), len(has_any), tokens.shape[1]), np.float32)
    for place, (start, memory) in enumerate(zip(starts.tolist(), has_any.tolist(), strict=True)):
        end = start + int(counts[memory])
        np.matmul(scaled[:, start:end], tokens[start:end], out=context[:, place])
    context /= whole[..., None]
    # W c + V (q * c) is (W + V diag(q)) c: one product for each token of the question instead of two.
    inner = np.matmul(context, weights.of_context + query[..., None] * weights.of_product)
    inner += asked[:, None]
    inner += best[..., None] * weights.of_best
    inner = _gelu(inner)
    pooled = np.concatenate([np.tensordot(worth, inner, axes=1), inner.max(axis=0)], axis=1)
    out[has_any] = _gelu(pooled @ weights.outer + weights.outer_bias) @ weights.score + weights.score_bias
    return out


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
    inner = held["inner.weight"].T
    width = (len(inner) - 1) // 3
    return LearnedComparison(
        inner[:width], inner[width : 2 * width], inner[2 * width : 3 * width], inner[-1], held["inner.bias"],
        held["worth.weight"][0], held["outer.weight"].T, held["outer.bias"], held["score.weight"][0],
        held["score.bias"][0],
    )  # fmt: skip
