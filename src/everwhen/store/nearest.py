"""The vector of one question against all vectors of an index: approximate cosines of all rows, exact ones of the best.

Above: `memory_search`. Below: `vectors`, which gives both kinds of cosines. A place is a row number counted over all
blocks. A filter is applied before the best rows are chosen, so that a row with a low
approximate cosine in the whole bank is not lost under a filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everwhen.store.search import Scored
from everwhen.store.top_k import by_block, largest, ranked

if TYPE_CHECKING:
    from everwhen.store.index import Block, IndexFilter

OVERSAMPLE = 4
"""Rows that are compared exactly at first, for each one that is wanted."""
FEWEST = 400
SURE = 4.0
"""Standard deviations of the error, seen in the rows compared so far, below which a rough cosine is out of the race."""
_OUTSIDE = -9.0  # below any cosine, however rough


class Nearness:
    """The cosines of one vector. The bank is scanned when its best rows are first wanted."""

    def __init__(self, blocks: Sequence[Block], query: NDArray[np.float32], window: IndexFilter) -> None:
        self._blocks = blocks
        self._query = np.ascontiguousarray(query)[None]
        self._window = window

    def best(self, limit: int, floor: float, passing: NDArray[np.bool_] | None) -> list[Scored]:
        """Units by their exact cosine, nothing below the floor.

        The rows with the best rough cosines are compared exactly. Their errors say how far a rough cosine may be off,
        and whatever could still be among the best by that is compared as well.
        """
        rough = self._rough
        if passing is not None:
            rough = np.where(passing, rough, np.float32(_OUTSIDE))
        is_exact = all(block.vectors.exact for block in self._blocks)
        places = largest(rough, limit if is_exact else max(OVERSAMPLE * limit, FEWEST))
        guessed = rough[places]
        if not len(places) or limit <= 0:
            return []
        lowest = float(guessed.min())
        places = places[guessed > _OUTSIDE]
        cosines = self.exact(places)
        if lowest > _OUTSIDE:
            off = cosines - rough[places]
            slack = max(0.0, float(off.mean()) + SURE * float(off.std()))
            needed = max(floor, _last_of(cosines, limit)) - slack
            if needed < lowest:
                places = np.flatnonzero(rough >= max(needed, -2.0))
                cosines = self.exact(places)
        keep = (cosines >= np.float32(floor)) & (cosines > -1.0)
        return ranked(self._blocks, places[keep], cosines[keep], limit)

    def exact(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosines of the rows at some places, which ascend."""
        known, compared = self._known
        new = places[~compared[places]]
        if len(new):
            known[new] = np.concatenate(
                [block.cosines(self._query, rows)[0] for block, rows in by_block(self._blocks, new)]
            )
            compared[new] = True
        return known[places]

    @cached_property
    def _known(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The exact cosine of each row, and for which rows it is known."""
        total = sum(len(block.rows.units) for block in self._blocks)
        return np.zeros(total, dtype=np.float32), np.zeros(total, dtype=np.bool_)  # free where it is not used

    @cached_property
    def _rough(self) -> NDArray[np.float32]:
        """The rough cosines of all rows; those that the window's time leaves out are below every other."""
        known, compared = self._known
        rough = np.full(len(known), _OUTSIDE, dtype=np.float32)
        start = 0
        for block in self._blocks:
            low, high = (start + row for row in block.slice(self._window))
            if low < high:
                block.rough_cosines(self._query, low - start, high - start, rough[None, low:high])
            if block.vectors.exact:
                known[low:high] = rough[low:high]
                compared[low:high] = True
            start += len(block.rows.units)
        return rough


def _last_of(cosines: NDArray[np.float32], limit: int) -> float:
    """The lowest of the best so many, -1 where there are fewer."""
    if len(cosines) < limit:
        return -1.0
    return float(np.partition(cosines, len(cosines) - limit)[len(cosines) - limit])
