"""What somebody said later about the same thing comes before what they said earlier: people change, and tell.

The facts room does this for what it could extract; here it is done for the turns themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.features import Pool
from everwhen.recall.reading import Read

ANSWERS = 0.0
"""The reader's logit from which a turn answers more likely than not."""
ALIKE = 0.5
"""The cosine from which two turns speak of the same thing."""


def newer_first(pool: Pool, fused: NDArray[np.float32], read: Read) -> NDArray[np.float32]:
    """What fused scores gain so that of the turns that answer and are alike, a later one comes before an earlier one.

    `s'(j) = max(s(j), s(i) + e)` over the i that were said before j by the same person; e keeps the order of time.
    """
    gained = np.zeros(len(fused), np.float32)
    answers = [
        place
        for place, logit in zip(read.places.tolist(), read.logits.tolist(), strict=True)
        if logit >= ANSWERS and pool.rows[place].kind == "turn"
    ]
    by_time = sorted(answers, key=lambda place: (pool.rows[place].said_at, pool.rows[place].seq))
    for number, later in enumerate(by_time):
        for earlier in by_time[:number]:
            if (
                pool.rows[earlier].speaker == pool.rows[later].speaker
                and float(pool.vectors[earlier] @ pool.vectors[later]) >= ALIKE
            ):
                lead = float(fused[earlier] + gained[earlier] - fused[later])
                gained[later] = max(gained[later], lead + 1e-3)
    return gained
