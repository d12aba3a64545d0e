"""Ranks a newer answer above the one that it replaces, when a question asks how things are now.

The fact store does this for extracted facts; here the reader compares the turns themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.features import CandidatePool
from everwhen.recall.reader_stage import ReaderScores
from everwhen.store.search import SaidBy

MAY_ANSWER = -2.0
"""The reader's logit from which a turn may answer: one in eight."""
AMONG = 4
"""The best candidates, of which one may replace another."""
RENEWS = -3.0
"""The logit of reader-2 from which one turn replaces another, chosen on `benchmarks/fit/newer.json`; from a
lower one on LongMemEval ranks sessions worse."""

Renews = Callable[[Sequence[tuple[int, int]]], NDArray[np.float32]]
"""Of places of an earlier and a later candidate, the logit that the later one replaces what the earlier one says."""


def newer_first(
    pool: CandidatePool, fused: NDArray[np.float32], read: ReaderScores, renews: Renews
) -> NDArray[np.float32]:
    """What is added to the fused scores so that a turn that replaces an answer comes before it.

    `s'(j) = max(s(j), s'(i) + e)` over the answers i, said before j, that j replaces; e keeps the order of time.
    """
    gained = np.zeros(len(fused), np.float32)
    answers = set(read.places[read.logits >= MAY_ANSWER].tolist())
    first = [
        place
        for place in np.argsort(-fused, kind="stable")[:AMONG].tolist()
        if pool.rows[place].kind == "turn"
    ]
    # What an assistant says later changes nothing in the life of whom it talks with.
    told_back = pool.found.said_by(SaidBy(role="assistant")) & (not pool.plan.question.second_person)
    by_time = sorted(first, key=lambda place: (pool.rows[place].said_at, pool.rows[place].seq))
    pairs = [
        (earlier, later)
        for number, later in enumerate(by_time)
        for earlier in by_time[:number]
        if earlier in answers and fused[later] <= fused[earlier] and not told_back[later]
    ]
    if not pairs:
        return gained
    for (earlier, later), logit in zip(pairs, renews(pairs).tolist(), strict=True):
        if logit > RENEWS:
            lead = float(fused[earlier] + gained[earlier] - fused[later])
            gained[later] = max(float(gained[later]), lead + 1e-3)
    return gained
