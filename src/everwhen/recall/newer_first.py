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
AMONG = 8
"""The best candidates, of which one may replace the best answer. The reader has read the first three; what corrects
one of them often shares no word with the question, and stands behind these."""
RENEWS = -3.5
"""The logit of reader-2 from which one turn replaces another, chosen on `benchmarks/fit/newer.json`: with -4
LongMemEval's sessions are ranked worse."""

STEP = 1e-3
"""By how much what replaces comes before, so that of several the last one said comes first."""

Renews = Callable[[Sequence[tuple[int, int]]], NDArray[np.float32]]
"""Of places of an earlier and a later candidate, the logit that the later one replaces what the earlier one says."""


def newer_first(
    pool: CandidatePool, fused: NDArray[np.float32], read: ReaderScores, renews: Renews
) -> NDArray[np.float32]:
    """What is added to the fused scores so that a turn that replaces an answer comes before it.

    Every later turn is held against the best answer, and those that replace it come before it, the newest first.
    """
    gained = np.zeros(len(fused), np.float32)
    order = [place for place in np.argsort(-fused, kind="stable").tolist() if pool.rows[place].kind == "turn"]
    answers = set(read.places[read.logits >= MAY_ANSWER].tolist())
    best = next((place for place in order[:AMONG] if place in answers), None)
    if best is None:
        return gained
    # What an assistant says later changes nothing in the life of whom it talks with.
    told_back = pool.found.said_by(SaidBy(role="assistant")) & (not pool.plan.question.second_person)
    said = {place: (pool.rows[place].said_at, pool.rows[place].seq) for place in order[:AMONG]}
    later = [
        place
        for place in sorted(said, key=said.__getitem__)
        if said[place] > said[best] and fused[place] <= fused[best] and not told_back[place]
    ]
    if not later:
        return gained
    height = float(fused[best])
    for place, logit in zip(later, renews([(best, place) for place in later]).tolist(), strict=True):
        if logit > RENEWS:
            height += STEP
            gained[place] = height - float(fused[place])
    return gained
