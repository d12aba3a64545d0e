"""Whether the memory holds an answer at all: the engine's own confidence, from 0 to 1.

Some words match for any question. The signs of a real answer are: what the reader says of the best candidates,
whether the right person said them (the most common trap is what somebody else said), and whether the rarer words of
the question occur at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.features import CandidatePool
from everwhen.recall.fuse import fitted
from everwhen.recall.reader_stage import ReaderScores

Array = NDArray[np.float32]

SPEAKER_FEATURES = ("about", "by_user")
"""Features that a sign leaves out of the score: they say who spoke, which is what is asked here."""
SURE = 5.0
"""A logit that leaves no doubt: it makes the reader's sign about as large as the others."""
FIRST = 5
"""The best turns that should have the question's words between them."""


@dataclass(frozen=True, slots=True)
class SignInputs:
    """The inputs of the signs, apart from the score, so that fitting can vary the score alone."""

    named: bool
    theirs: NDArray[np.bool_]
    """Which candidates are by those whom the question names."""
    has: NDArray[np.bool_]
    """Which of the question's terms (columns) a candidate has."""
    ever: NDArray[np.bool_]
    telling: Array


def sign_inputs(pool: CandidatePool) -> SignInputs:
    """Collect the inputs of the signs from the candidates."""
    found = pool.found
    theirs = np.ones(len(pool), np.bool_) if pool.who is None else found.said_by(pool.who)
    return SignInputs(bool(pool.plan.people), theirs, found.own.counts > 0, found.terms.said, pool.idf)


def signs(found: SignInputs, score: Array, fused: Array, logits: Array | None = None) -> Array:
    """The four signs described above; five where the reader was asked. `score` is the fused score without the speaker's
    part, `fused` the whole."""
    odds = np.exp(score - score.max())
    whole = max(float(found.telling.sum()), 1e-6)
    first = found.has[np.argsort(-fused, kind="stable")[:FIRST]].any(axis=0)
    return np.array(
        [
            # how much of the score lies on those whom the question is about
            float(odds[found.theirs].sum() / odds.sum()) - 0.5 if found.named else 0.0,
            # how much of the question's words they ever said
            float(found.telling[found.ever].sum()) / whole,
            # how much of them the first hits have
            float(found.telling[first].sum()) / whole,
            math.log1p(len(found.telling)),
            # how sure the reader is that one of those that it read answers
            *(() if logits is None else (float(np.logaddexp.reduce(logits)) / SURE,)),
        ],
        np.float32,
    )


def answerable(
    pool: CandidatePool, contributions: dict[str, Array], fused: Array, read: ReaderScores | None = None
) -> float:
    """A logistic of the signs, fitted by `training/fit_fusion.py`."""
    speaker = sum((contributions[name] for name in SPEAKER_FEATURES if name in contributions), np.float32(0))
    found = sign_inputs(pool)
    said = signs(found, fused - speaker, fused, None if read is None else read.logits)
    whom = "named" if found.named else "unnamed"
    weights = fitted()["answerable"][whom if read is None else f"{whom}_read"]
    z = weights[-1] + sum(weight * float(sign) for weight, sign in zip(weights[:-1], said, strict=True))
    return 1.0 / (1.0 + math.exp(-z))
