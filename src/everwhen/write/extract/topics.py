"""Where the talk turns to something else: the valleys of its cohesion, after TextTiling (Hearst 1997).

Turns are taken in steps: an exchange is one, and so is each turn of somebody who goes on talking. Between steps i and
i+1 the cohesion is the cosine of their mean vectors,

    c(i) = cos(v(i), v(i+1)),    a topic ends after i  <=>  c(i) < c(i-1) and c(i) < c(i+1)

with nothing before the first step (c(-1) is infinite), and no end in sight after the last (c(n-1) is not there yet). A
valley is seen from its neighbours alone: no threshold to choose, about one topic for two or three steps, and the same
whether the turns came one by one or in bulk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from everwhen.types import Turn

SETTLED = 2
"""Steps at the beginning of a window that begins amid a session: what was before them could move their valleys."""


def steps(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns in the portions that are never cut."""
    found: list[list[Turn]] = []
    for turn in turns:
        last = found[-1][-1] if found else None
        same = last is not None and turn.segment and turn.segment == last.segment
        if last is not None and same and turn.speaker != last.speaker:
            found[-1].append(turn)
        else:
            found.append([turn])
    return found


def topics(
    taken: Sequence[Sequence[Turn]],
    vectors: Mapping[str, NDArray[np.float32]],
    fresh: frozenset[str],
    *,
    whole: bool,
) -> list[list[int]]:
    """The places of the steps of each topic, from the first topic on that the fresh turns can have changed.

    `whole` says that the steps begin where the session does.
    """
    first = next((n for n, step in enumerate(taken) if not fresh.isdisjoint(turn.id for turn in step)), None)
    if first is None:
        return []
    if any(turn.id not in vectors for step in taken for turn in step):
        return [[n] for n in range(first, len(taken))]
    cuts = _valleys(taken, vectors)
    # A new step is weighed against the two before it, so a valley there may be new as well.
    reliable = [cut for cut in cuts if cut <= first - 2 and (whole or cut > SETTLED)]
    start = reliable[-1] if reliable else 0 if whole else min(SETTLED, first)
    bounds = [start, *(cut for cut in cuts if cut > start), len(taken)]
    return [list(range(begin, end)) for begin, end in pairwise(bounds)]


def _valleys(taken: Sequence[Sequence[Turn]], vectors: Mapping[str, NDArray[np.float32]]) -> list[int]:
    """The steps that a topic begins with, but for the first."""
    means = np.array([np.mean([vectors[turn.id] for turn in step], axis=0) for step in taken])
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    cohesion = np.sum(means[:-1] * means[1:], axis=1) + [_chance(step[0].id) for step in taken[1:]]
    before = np.concatenate([[np.inf], cohesion[:-1]])
    return [
        n + 1 for n in range(len(cohesion) - 1) if cohesion[n] < before[n] and cohesion[n] < cohesion[n + 1]
    ]


def _chance(turn: str) -> float:
    """A hair's breadth that depends on the turn alone, so that copies of one sentence are cut somewhere, too."""
    return int.from_bytes(hashlib.blake2b(turn.encode(), digest_size=4).digest(), "big") / 2**32 * 1e-4
