"""What somebody said later about the same thing comes before what they said earlier: people change, and tell.

The facts room does this for what it could extract; here it is done for the turns themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.store import UnitRow

FIRST = 10
"""The best turns that are looked at."""
ALIKE = 0.2
"""The cosine from which two of them speak of the same thing. They both match the question already."""
SHARE = 0.1
"""What a later one must have of the earlier one's score to come before it.

All three tuned on LongMemEval dev: the newest evidence of 16 of 18 changed facts comes first (7 without), and session
NDCG@10 rises from 0.950 to 0.956."""


def latest_first(
    rows: Sequence[UnitRow], scores: NDArray[np.float32], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """New scores: a later turn of the same speaker is given the score of an earlier one that it renews, and a trifle.

    `s'(j) = max(s(j), s(i) (1 + e))` over the i that were said before j, by the same, in another session, alike, and
    with `s(j) >= SHARE s(i)`. Scores are relative to the best; e keeps the order of time among those renewed by one.
    """
    first = [
        int(place) for place in np.argsort(-scores, kind="stable")[:FIRST] if rows[int(place)].kind == "turn"
    ]
    alike = vectors[first] @ vectors[first].T >= ALIKE
    renewed = scores.astype(np.float64)
    by_time = sorted(range(len(first)), key=lambda one: (rows[first[one]].said_at, first[one]))
    for later in range(len(by_time)):
        for earlier in range(later):
            one, other = by_time[earlier], by_time[later]
            i, j = first[one], first[other]
            if (
                rows[i].said_at < rows[j].said_at
                and rows[i].session != rows[j].session
                and rows[i].speaker == rows[j].speaker
                and alike[one, other]
                and scores[j] >= SHARE * scores[i]
            ):
                renewed[j] = max(renewed[j], float(scores[i]) * (1 + 1e-4 * later))
    return (renewed / renewed.max()).astype(np.float32) if len(renewed) else scores
