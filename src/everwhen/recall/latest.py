"""What was said later comes before what was said earlier, where a question asks how things stand: people change, and tell.

The facts room does this for what it could extract; here it is done for the turns themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.features import Pool
from everwhen.recall.reading import Read

MAY_ANSWER = -2.0
"""The reader's logit from which a turn may answer: one in eight. A correction ("make that Thursday") says little by
itself, and the reader is seldom sure of it."""


def newer_first(pool: Pool, fused: NDArray[np.float32], read: Read) -> NDArray[np.float32]:
    """What fused scores gain so that of the turns that may answer, a later one comes before the earlier ones.

    `s'(j) = max(s(j), s'(i) + e)` over the i that were said before j; e keeps the order of time.
    """
    gained = np.zeros(len(fused), np.float32)
    answers = [
        place
        for place, logit in zip(read.places.tolist(), read.logits.tolist(), strict=True)
        if logit >= MAY_ANSWER and pool.rows[place].kind == "turn"
    ]
    best = -np.inf
    for place in sorted(answers, key=lambda place: (pool.rows[place].said_at, pool.rows[place].seq)):
        gained[place] = max(0.0, best + 1e-3 - float(fused[place]))
        best = float(fused[place] + gained[place])
    return gained
