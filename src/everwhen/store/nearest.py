"""The vectors of one question against all vectors of an index: approximate cosines of all rows, exact ones of the
best.

Above: `Index.search_vectors` and `IndexScan`. Below: `vectors`, which gives both kinds of cosines. A place is a row
number counted over all blocks. A filter is applied before the best rows are chosen, so that a row with a low
approximate cosine in the whole bank is not lost under a filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everwhen.store.top_k import by_block, largest, ranked

if TYPE_CHECKING:
    from everwhen.store.index import Block, IndexFilter

OVERSAMPLE = 4
"""Rows that are compared exactly at first, for each one that is wanted."""
FEWEST = 400
SURE = 6.0
"""Standard deviations of the error, seen in the rows compared so far, below which a rough cosine is out of the race."""
_OUTSIDE = -9.0  # below any cosine, however rough


class Nearness:
    """The cosines of one question. The bank is scanned when they are first needed."""

    def __init__(self, blocks: Sequence[Block], queries: NDArray[np.float32], window: IndexFilter) -> None:
        self._blocks = blocks
        self._queries = queries
        self._window = window
        self._rough: NDArray[np.float32] | None = None
        self._known = np.zeros((0, 0), dtype=np.float32)
        self._compared = np.zeros(0, dtype=np.bool_)

    def best(
        self, column: int, limit: int, floor: float, passing: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        """Units by their exact cosine with one of the vectors, nothing below the floor.

        The rows with the best rough cosines are compared exactly. Their errors say how far a rough cosine may be off,
        and whatever could still be among the best by that is compared as well.
        """
        rough = self._scanned()[column]
        if passing is not None:
            rough = np.where(passing, rough, np.float32(_OUTSIDE))
        places = largest(rough, max(OVERSAMPLE * limit, FEWEST))
        guessed = rough[places]
        if not len(places):
            return []
        lowest = float(guessed.min())
        places = places[guessed > _OUTSIDE]
        cosines = self.exact(places)[column]
        if lowest > _OUTSIDE:
            off = cosines - rough[places]
            slack = max(0.0, float(off.mean()) + SURE * float(off.std()))
            needed = max(floor, _last_of(cosines, limit)) - slack
            if needed < lowest:
                places = np.flatnonzero(rough >= max(needed, -2.0))
                cosines = self.exact(places)[column]
        keep = (cosines >= np.float32(floor)) & (cosines > -1.0)
        return ranked(self._blocks, places[keep], cosines[keep], limit)

    def exact(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosines of the rows at some places, which ascend; a row of the result for each vector of the question.
        -1 outside the window's time."""
        self._scanned()
        new = places[~self._compared[places]]
        if len(new) and len(self._queries):
            self._known[:, new] = np.concatenate(
                [block.cosines(self._queries, rows) for block, rows in by_block(self._blocks, new)], axis=1
            )
            self._compared[new] = True
        return self._known[:, places]

    def rough(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The same, exact only where rows were compared already."""
        found = np.maximum(self._scanned()[:, places], np.float32(-1.0))
        return np.where(self._compared[places], self._known[:, places], found)

    def _scanned(self) -> NDArray[np.float32]:
        """The rough cosines of all rows; those that the window's time leaves out are below every other."""
        if self._rough is not None:
            return self._rough
        total = sum(len(block.rows.units) for block in self._blocks)
        rough = np.empty((len(self._queries), total), dtype=np.float32)
        self._known = np.zeros(rough.shape, dtype=np.float32)  # costs nothing where it is not used
        self._compared = np.zeros(total, dtype=np.bool_)
        start = 0
        for block in self._blocks:
            low, high = block.slice(self._window)
            end = start + len(block.rows.units)
            here, first, last = slice(start, end), slice(start, start + low), slice(start + high, end)
            if low < high:
                block.rough_cosines(self._queries, low, high, rough[:, start + low : start + high])
            rough[:, first] = rough[:, last] = _OUTSIDE
            if block.vectors.exact:
                self._known[:, here] = rough[:, here]
                self._compared[here] = True
            self._known[:, first] = self._known[:, last] = -1.0
            self._compared[first] = self._compared[last] = True
            start = end
        self._rough = rough
        return rough


def _last_of(cosines: NDArray[np.float32], limit: int) -> float:
    """The lowest of the best so many, -1 where there are fewer."""
    if len(cosines) < limit:
        return -1.0
    return float(np.partition(cosines, len(cosines) - limit)[len(cosines) - limit])
