"""What was said later comes before what was said earlier, where a question asks how things stand: people change.

The facts room does this for what it could extract; here it is done for the turns themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from everwhen.models.reader.packaged import OWN
from everwhen.recall.features import Pool, neighbours
from everwhen.recall.reading import Read

MAY_ANSWER = -2.0
"""The reader's logit from which a turn may answer: one in eight. A correction ("make that Thursday") says little by
itself, and the reader is seldom sure of it."""
BEHIND = 4.0
"""How far a later one's fused score may lie behind that of an earlier one which it renews."""
LESS_SURE = 4.0
"""How far its logit may: what is said later of somebody's tortoise is seldom another name for it."""


def newer_first(pool: Pool, fused: NDArray[np.float32], read: Read) -> NDArray[np.float32]:
    """What fused scores gain so that of the turns that may answer, a later one comes before the earlier ones.

    `s'(j) = max(s(j), s'(i) + e)` over the i that were said before j, with `s(j) >= s(i) - BEHIND` and a logit of at
    least that of i less LESS_SURE; e keeps the order of time. A turn right after i was read with it, and a mere reply
    ("good to know!") looks like an answer then: it must be the surer one. One that was not read whole gains nothing.
    """
    gained = np.zeros(len(fused), np.float32)
    said = dict(zip(read.places.tolist(), read.logits.tolist(), strict=True))
    answers = [
        place for place, logit in said.items() if logit >= MAY_ANSWER and pool.rows[place].kind == "turn"
    ]
    by_time = sorted(answers, key=lambda place: (pool.rows[place].said_at, pool.rows[place].seq))
    before, _ = neighbours(pool.around)
    for number, later in enumerate(by_time):
        if pool.rows[later].tokens > OWN:  # its logit says only how it begins
            continue
        for earlier in by_time[:number]:
            replies = before[pool.around.rows_of[later]] == pool.around.rows_of[earlier]
            least = said[earlier] if replies else said[earlier] - LESS_SURE
            if fused[later] >= fused[earlier] - BEHIND and said[later] > least:
                lead = float(fused[earlier] + gained[earlier] - fused[later])
                gained[later] = max(gained[later], lead + 1e-3)
    return gained
