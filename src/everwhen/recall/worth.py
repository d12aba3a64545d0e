"""What a memory is worth to a question of its kind: several facts are gathered otherwise than one is looked up.

A fused score says how well a memory matches. What makes it likely to be one of several pieces that a question needs
are other signs, and they differ by complexity: pieces of a list lie far apart and tell what somebody did, by name;
the grounds of a judgement lie together in a few sessions, where somebody speaks of themselves.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.complexity import Complexity
from everwhen.types import Recalled

Array = NDArray[np.float64]

FITTED = Path(__file__).with_name("planned.json")
"""Weights and calibration by complexity, fitted by `scripts/fit_planner.py`."""
CONSIDERED = 60
"""The best memories whose signs are read; what stands below them stays there."""
LEADING = 20
"""The best memories among which a memory has kin."""
STANDING = 5
"""The best memories, which stay in their order: where the match is clear, the kind of question adds nothing (LoCoMo
dev, hybrid questions: recall@5 0.614 with it and 0.595 without, evidence at 512 tokens 0.734 and 0.729)."""
LEAST = 1e-12
"""A score of nothing, as a logarithm can have it."""

_PAST = (
    "went|did|was|were|had|got|made|took|bought|saw|began|won|gave|found|met|ran|read|wrote|came|left|felt|thought|"
    "told|taught|brought|built|caught|chose|drew|drove|ate|fell|flew|grew|heard|kept|knew|led|learnt|lost|paid|rode|"
    "sang|sent|set|spent|swam|wore|been|done|gone|seen|taken|written|\\w{2,20}ed"
)
_DID = re.compile(
    rf"\b(?:i|we|my \w{{1,20}}|our \w{{1,20}})(?:['’](?:ve|d))?(?:\s+\w{{1,20}}){{0,2}}?\s+(?:{_PAST})\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_SELF = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|we|we['’](?:ve|re)|our|us)\b", re.IGNORECASE)


def weigh(ranked: Sequence[Recalled], complexity: Complexity) -> list[Recalled]:
    """The memories in the order of what they are worth to such a question: 1 for the best, and shares of it below.

    `z = (1 + t) log(score) + sum over the signs of w x`, and the new score is `exp(z - max z)`; t and w by complexity.
    The first five stay where they are.
    """
    weights = fitted()["worth"].get(complexity, {})
    if not ranked or not weights:
        return list(ranked)
    read = signs(ranked[:CONSIDERED])
    parts = {name: weights[name] * read[name] for name in read if weights.get(name)}
    z = worths(logs(ranked), read, weights)
    scores = np.exp(z).tolist()
    return [
        _scored(ranked[place], scores[place], _told(parts, place))
        for place in np.argsort(-z, kind="stable").tolist()
    ]


def worths(gaps: Array, read: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    """z of each memory, 0 for the best. `gaps` are the logarithms of the scores, best first, `read` their signs."""
    z = gaps * (1.0 + weights.get("score", 0.0))
    for name, values in read.items():
        z[: len(values)] += weights.get(name, 0.0) * values
    head = z[:STANDING]
    below = z[STANDING:].max(initial=-np.inf)
    head[:] = np.maximum(np.maximum.accumulate(head[::-1])[::-1], below)
    return np.asarray(z - z.max(initial=-np.inf), np.float64)


def signs(ranked: Sequence[Recalled]) -> dict[str, Array]:
    """Four numbers for each memory, best first. What nobody said has the mean of those that somebody did.

    `kin`: `log(1 + n)`, n others among the first 20 from the same session, the tree's node above it. `did`: it tells
    what its speaker did. `named`: it names somebody or something. `self`: its speaker speaks of themselves.
    """
    there = Counter(one.session for one in ranked[:LEADING] if one.session)
    kin = [
        np.log1p(there[one.session] - (place < LEADING)) if one.session else 0.0
        for place, one in enumerate(ranked)
    ]
    told: dict[str, list[float]] = {
        "kin": kin,
        "did": [float(_DID.search(one.text) is not None) for one in ranked],
        "named": [float(_NAMED.search(one.text) is not None) for one in ranked],
        "self": [float(_SELF.search(one.text) is not None) for one in ranked],
    }
    said = np.array([one.kind == "turn" for one in ranked], np.bool_)
    out = {name: np.array(values, np.float64) for name, values in told.items()}
    if said.any():
        for values in out.values():
            values[~said] = values[said].mean()
    return out


def logs(ranked: Sequence[Recalled]) -> Array:
    """The logarithm of each score, 0 for the best."""
    scores = np.log(np.maximum([one.score for one in ranked], LEAST))
    return np.asarray(scores - scores.max(), np.float64)


@cache
def fitted() -> Mapping[str, Any]:
    """The fitted numbers, read once."""
    read: dict[str, Any] = json.loads(FITTED.read_text("utf-8"))
    return read


def _scored(one: Recalled, score: float, need: Mapping[str, float]) -> Recalled:
    """The memory with another score: written out, since `replace` takes five times as long, for each of hundreds."""
    return Recalled(
        one.id,
        one.kind,
        one.text,
        one.said_at,
        one.zone,
        one.turns,
        one.session,
        one.speaker,
        score,
        replace(one.why, need=need) if need else one.why,
        one.tokens,
        one.occurred,
        one.metadata,
        one.level,
    )


def _told(parts: Mapping[str, Array], place: int) -> dict[str, float]:
    if not parts or place >= CONSIDERED:
        return {}
    return {name: round(float(values[place]), 4) for name, values in parts.items() if values[place]}
