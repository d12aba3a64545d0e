"""The top k of many scores, without sorting all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everwhen.store.search import Scored

if TYPE_CHECKING:
    from everwhen.store.index import Block

_GROUPS = 8  # for each one that is wanted


def largest(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """The places of the `limit` largest, ascending, with everything that ties with the last of them.

    The `limit` largest maxima of groups are that many scores, so what lies below the last of these is not among the
    best. That leaves a few hundred to look at, ten times as fast as to partition all.
    """
    if limit <= 0:
        return np.zeros(0, dtype=np.int64)
    groups = _GROUPS * limit
    deep = len(scores) // groups
    if deep > 1:
        maxima = scores[: deep * groups].reshape(deep, groups).max(axis=0)
        keep = np.flatnonzero(scores >= np.partition(maxima, groups - limit)[groups - limit])
    else:
        keep = np.arange(len(scores))
    if len(keep) <= limit:
        return keep
    found = scores[keep]
    last = float(np.partition(found, len(keep) - limit)[len(keep) - limit])
    return np.asarray(keep[found >= last])


def ranked(
    blocks: Sequence[Block], places: NDArray[np.int64], scores: NDArray[np.float32], limit: int
) -> list[Scored]:
    """Units at some places, which ascend and count through all blocks, best first; equal scores in the order of time,
    so that it is stable."""
    best = largest(scores, limit)
    places, scores = places[best], scores[best]
    parts = [(block.rows.units[rows], block.rows.at[rows]) for block, rows in by_block(blocks, places)]
    if not parts:
        return []
    units, at = (np.concatenate([part[i] for part in parts]) for i in range(2))
    order = np.lexsort((units, at, -scores))[:limit]
    return list(map(Scored, units[order].tolist(), scores[order].tolist()))


def by_block(blocks: Sequence[Block], places: NDArray[np.int64]) -> list[tuple[Block, NDArray[np.int64]]]:
    """Ascending places, counted over all blocks, as rows of each block; blocks without any are left out."""
    ends = np.cumsum([len(block.rows.units) for block in blocks], dtype=np.int64)
    bounds = [0, *np.searchsorted(places, ends).tolist()]
    return [
        (block, places[low:high] - (end - len(block.rows.units)))
        for block, end, low, high in zip(blocks, ends, bounds[:-1], bounds[1:], strict=True)
        if low < high
    ]
