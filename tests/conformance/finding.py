"""The shortest ways to search a store in tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.store.rows import Filter, Scored, SearchQuery, Wanted
from everwhen.store.sql.store import Store


def by_words(store: Store, words: str, limit: int, where: Filter) -> list[Scored]:
    """Units by BM25, best first."""
    [found] = store.search(SearchQuery(words=words, where=where)).candidates(Wanted(limit)).words
    return found


def by_meaning(store: Store, vector: NDArray[np.float32], limit: int, where: Filter) -> list[Scored]:
    """Units by the best cosine of their pieces, best first."""
    [found] = store.search(SearchQuery(vector, where=where)).candidates(Wanted(limit, words=False)).meaning
    return found


def codes_of(store: Store, units: Sequence[int]) -> dict[int, bytes]:
    """The coded token vectors of those units that have any."""
    found = store.search(SearchQuery()).evidence(units, codes=True)
    assert found.codes is not None
    return {row.seq: code for row, code in zip(found.rows, found.codes.tolist(), strict=True) if code}
