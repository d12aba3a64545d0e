"""The derived search index: rows in time order, with their vectors and postings, held in arrays.

It is never the truth. It is built from the store's rows, knows the last `seq` that it has seen, and grows by
what came after. Rows live in immutable blocks, each in time order inside (an interval is a slice of a block,
whatever the order of arrival was); small blocks are merged as they pile up, so that a catch-up costs what is
new, not what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.store.bm25 import Postings, idf, score
from everwhen.store.kinds import CODES
from everwhen.store.terms import PACKED, Packed, label_key

AT_ONCE = 1024
"""Rows whose vectors (1.5 MB at 384 dimensions) meet every query before the next ones are read."""
MERGE_UP_TO = 32_768
"""Vectors in a merged block (48 MB at 384 dimensions): a merge copies, so it must stay small."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What the index holds of some units, one entry each; packed terms and vectors one after the other.

    Sessions and speakers are keys (`terms.label_key`), roles places in `types.ROLES`; 0, 0 and -1 for what nobody
    said. `asks` is whether it ends as a question.
    """

    units: NDArray[np.int64]
    at: NDArray[np.int64]
    recorded: NDArray[np.int64]
    kinds: NDArray[np.int16]
    sessions: NDArray[np.int64]
    speakers: NDArray[np.int64]
    roles: NDArray[np.int8]
    asks: NDArray[np.bool_]
    pieces: NDArray[np.int64]
    sizes: NDArray[np.int64]
    packed: Packed
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Window:
    """A hard filter in the index's own terms: microseconds, kind codes, and allowed units if they are listed.

    `networks` are those that `kinds` was made with: for one who asks for other kinds of the same.
    `but` are units that do not pass, whatever else is said of them.
    """

    start: int | None = None
    end: int | None = None
    known_at: int | None = None
    kinds: NDArray[np.int16] | None = None
    units: NDArray[np.int64] | None = None
    networks: frozenset[str] | None = None
    but: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Units in time order.

    `owners` says which row a vector belongs to and `firsts` where each row's vectors begin, `session_of` which of
    `sessions` a row; `by_unit` is the rows in the order of units, `roles` the roles that occur.
    """

    rows: Rows
    owners: NDArray[np.int32]
    firsts: NDArray[np.int64]
    postings: Postings
    sessions: NDArray[np.int64]
    session_of: NDArray[np.int32]
    by_unit: NDArray[np.int32]
    roles: frozenset[int]

    @classmethod
    def build(cls, rows: Rows) -> Block:
        rows = _in_time_order(rows)
        return cls._of(rows, Postings.build(rows.packed, rows.sizes))

    @classmethod
    def _of(cls, rows: Rows, postings: Postings) -> Block:
        owners = np.repeat(np.arange(len(rows.units), dtype=np.int32), rows.pieces)
        sessions, session_of = np.unique(rows.sessions, return_inverse=True)
        return cls(
            rows,
            owners,
            np.cumsum(rows.pieces) - rows.pieces,
            postings,
            sessions,
            session_of.astype(np.int32),
            np.argsort(rows.units, kind="stable").astype(np.int32),
            frozenset(np.unique(rows.roles).tolist()),
        )

    def only(self, stays: NDArray[np.bool_]) -> Block:
        """With some of its rows: what is sorted stays sorted, so that it costs a copy."""
        return self._of(_chosen(self.rows, np.flatnonzero(stays)), self.postings.only(stays))

    def find(self, units: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of those of some units that are here."""
        places = np.searchsorted(self.rows.units, units, sorter=self.by_unit)
        rows = self.by_unit[np.minimum(places, len(self.by_unit) - 1)]
        here: NDArray[np.int32] = rows[self.rows.units[rows] == units]
        return here

    def mask(self, window: Window) -> NDArray[np.bool_] | None:
        """The rows that pass, or None when all do."""
        low, high = self._slice(window)
        tests: list[NDArray[np.bool_]] = []
        if window.known_at is not None:
            tests.append(self.rows.recorded <= window.known_at)
        if window.kinds is not None:
            tests.append(among(self.rows.kinds, window.kinds))
        if window.units is not None:
            tests.append(np.isin(self.rows.units, window.units))
        if window.but is not None and len(window.but):
            tests.append(~np.isin(self.rows.units, window.but))
        if low == 0 and high == len(self.rows.units) and not tests:
            return None
        passing = np.zeros(len(self.rows.units), dtype=np.bool_)
        passing[low:high] = True
        for test in tests:
            passing &= test
        return passing

    def cosines(self, queries: NDArray[np.float32], window: Window) -> NDArray[np.float32]:
        """Every row's best cosine over its pieces, a row of the result for each query; -1 outside the window's time.

        The matrix is gone through once, in parts that stay in the processor's cache while each query meets them: a
        product with a few columns at once is slower than one after the other.
        """
        low, high = self._slice(window)
        best = np.full((len(queries), len(self.rows.units)), -1.0, dtype=np.float32)
        whole = len(self.owners) == len(self.rows.units)
        for start in range(low, high, AT_ONCE):
            end = min(start + AT_ONCE, high)
            first = int(self.firsts[start])
            last = int(self.firsts[end]) if end < len(self.firsts) else len(self.owners)
            vectors = self.rows.vectors[first:last]
            for place, query in enumerate(queries):
                cosines = vectors @ query
                best[place, start:end] = (
                    cosines if whole else np.maximum.reduceat(cosines, self.firsts[start:end] - first)
                )
        return best

    def best_cosines(self, queries: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The best cosine of each of some rows over its pieces, a row of the result for each query."""
        best = np.empty((len(queries), len(rows)), dtype=np.float32)
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            pieces = self.rows.pieces[part]
            first = np.cumsum(pieces) - pieces
            count = int(pieces.sum())
            begin = int(self.firsts[part[0]])
            if part[-1] - part[0] + 1 == len(part):  # neighbours: a slice, no copy
                vectors = self.rows.vectors[begin : begin + count]
            else:
                vectors = self.rows.vectors[np.repeat(self.firsts[part] - first, pieces) + np.arange(count)]
            cosines = queries @ vectors.T
            best[:, start : start + len(part)] = (
                cosines if count == len(part) else np.maximum.reduceat(cosines, first, axis=1)
            )
        return best

    def similarities(self, query: NDArray[np.float32], window: Window) -> NDArray[np.float32]:
        """The same for one query; -1 for all that the window leaves out."""
        best: NDArray[np.float32] = self.cosines(query[None], window)[0]
        passing = self.mask(window)
        if passing is not None:
            best[~passing] = -1.0
        return best

    def _slice(self, window: Window) -> tuple[int, int]:
        low = 0 if window.start is None else int(np.searchsorted(self.rows.at, window.start))
        high = len(self.rows.at) if window.end is None else int(np.searchsorted(self.rows.at, window.end))
        return low, max(low, high)


@dataclass(frozen=True, slots=True)
class Index:
    """A snapshot that readers share; `extended` gives the next one."""

    blocks: tuple[Block, ...] = ()
    seen: int = 0
    removed: int = 0  # the last removal that was followed
    speakers: frozenset[str] = frozenset()

    def extended(self, rows: Rows, seen: int, speakers: Iterable[str] = ()) -> Index:
        """With more rows, merging small neighbours on the way."""
        speakers = self.speakers.union(speakers)
        if not len(rows.units):
            return Index(self.blocks, seen, self.removed, speakers)
        blocks = [*self.blocks, Block.build(rows)]
        while len(blocks) > 1 and _worth_merging(blocks[-2], blocks[-1]):
            newer, older = blocks.pop(), blocks.pop()
            blocks.append(Block.build(_joined(older.rows, newer.rows)))
        return Index(tuple(blocks), seen, self.removed, speakers)

    def without(self, units: NDArray[np.int64], removed: int) -> Index:
        """With units taken out; only the blocks that hold one of them are copied."""
        if not len(units):
            return self if removed == self.removed else Index(self.blocks, self.seen, removed, self.speakers)
        blocks = []
        for block in self.blocks:
            stays = ~np.isin(block.rows.units, units)
            if stays.all():
                blocks.append(block)
            elif stays.any():
                blocks.append(block.only(stays))
        speaking = {key for block in blocks for key in np.unique(block.rows.speakers).tolist()}
        speakers = frozenset(name for name in self.speakers if label_key(name) in speaking)
        return Index(tuple(blocks), self.seen, removed, speakers)

    def beside(self, other: Index) -> Index:
        """The rows of both as one snapshot to search in; it is not extended."""
        return Index(
            self.blocks + other.blocks,
            max(self.seen, other.seen),
            max(self.removed, other.removed),
            self.speakers | other.speakers,
        )

    def __len__(self) -> int:
        return sum(len(block.rows.units) for block in self.blocks)

    @property
    def vectors(self) -> int:
        return sum(len(block.owners) for block in self.blocks)

    def search_vectors(
        self, query: NDArray[np.float32], limit: int, window: Window
    ) -> list[tuple[int, float]]:
        """Units by cosine, best first."""
        return best_rows(
            [(block, block.similarities(query, window)) for block in self.blocks], limit, floor=-1.0
        )

    def similarities(
        self, query: NDArray[np.float32], units: NDArray[np.int64], window: Window
    ) -> dict[int, float]:
        """The best cosine over its pieces of each of some units that pass, without a look at the others."""
        found: dict[int, float] = {}
        for block in self.blocks if len(units) else ():
            rows = block.find(units)
            passing = block.mask(window)
            rows = rows if passing is None else rows[passing[rows]]
            if not len(rows):
                continue
            first, pieces = block.firsts[rows], block.rows.pieces[rows]
            starts = np.cumsum(pieces) - pieces
            places = np.repeat(first - starts, pieces) + np.arange(int(pieces.sum()))
            best = np.maximum.reduceat(block.rows.vectors[places] @ query, starts)
            found.update(zip(block.rows.units[rows].tolist(), best.tolist(), strict=True))
        return found

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        """For each vector the units of some kinds with a cosine above the floor, best first; one product a block.

        A unit counts by its nearest piece. Of a thousand equal ones only the first `limit` are ever looked at one by
        one: what a batch costs beyond the product does not grow with the bank.
        """
        found: list[dict[int, float]] = [{} for _ in vectors]
        for block in self.blocks:
            rows = np.flatnonzero(among(block.rows.kinds, kinds))
            if not len(rows):
                continue
            best = block.best_cosines(vectors, rows)
            for near, cosines in zip(found, best, strict=True):
                places = np.flatnonzero(cosines > floor)
                if len(places) > limit:  # ties go to the unit that was written first, as in the sort below
                    units = block.rows.units[rows[places]]
                    places = places[np.lexsort((units, -cosines[places]))[:limit]]
                units = block.rows.units[rows[places]]
                near.update(zip(units.tolist(), cosines[places].tolist(), strict=True))
        return [sorted(one.items(), key=lambda item: (-item[1], item[0]))[:limit] for one in found]

    def search_terms(self, terms: Sequence[int], limit: int, window: Window) -> list[tuple[int, float]]:
        """Units by BM25, best first. The statistics are those of the whole bank, whatever the window."""
        if not len(self) or not terms:
            return []
        weights, mean_length = self.term_weights(terms)
        found = []
        for block in self.blocks:
            scores = score(block.postings, terms, weights, mean_length)
            passing = block.mask(window)
            if passing is not None:
                scores[~passing] = 0.0
            found.append((block, scores))
        return best_rows(found, limit, floor=0.0)

    def holding(self, terms: Sequence[int], kinds: NDArray[np.int16]) -> NDArray[np.int64]:
        """The units of some kinds that have every one of some terms; first those that have them in their own words, as
        far as counts can tell, and not in their context alone."""
        own, other = [], []
        for block in self.blocks if terms else ():
            where = block.postings.find(terms[0])
            rows, halves = block.postings.rows[where], block.postings.halves[where]
            stays = among(block.rows.kinds[rows], kinds)
            for term in terms[1:]:
                stays &= np.isin(rows, block.postings.rows[block.postings.find(term)])
            own.append(block.rows.units[rows[stays & (halves >= 2)]])
            other.append(block.rows.units[rows[stays & (halves < 2)]])
        return np.concatenate([*own, *other, np.zeros(0, dtype=np.int64)])

    def term_weights(self, terms: Sequence[int]) -> tuple[list[float], float]:
        """The idf of each term, and the mean length of a row: both of the whole bank, whatever the window."""
        total = len(self)
        length = sum(float(block.postings.lengths.sum(dtype=np.float64)) for block in self.blocks)
        places = [[block.postings.find(term) for term in terms] for block in self.blocks]
        containing = [sum(found[i].stop - found[i].start for found in places) for i in range(len(terms))]
        return [idf(total, count) for count in containing], length / max(1, total)


def best_rows(
    found: list[tuple[Block, NDArray[np.float32]]], limit: int, floor: float
) -> list[tuple[int, float]]:
    """The best rows above a floor over all blocks; equal scores in the order of time, so that it is stable."""
    parts = []
    for block, scores in found:
        keep = np.flatnonzero(scores > floor)
        if len(keep) > limit:
            # Everything that ties with the last one stays in, or the choice among ties would be arbitrary.
            cut = np.partition(scores[keep], len(keep) - limit)[len(keep) - limit]
            keep = keep[scores[keep] >= cut]
        parts.append((block.rows.units[keep], block.rows.at[keep], scores[keep]))
    if not parts:
        return []
    units, at, scores = (np.concatenate([part[i] for part in parts]) for i in range(3))
    order = np.lexsort((units, at, -scores))[:limit]
    return [(int(units[i]), float(scores[i])) for i in order]


def among(kinds: NDArray[np.int16], codes: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which kinds are among the codes: a look-up in a small table, five times as fast as `np.isin`."""
    table = np.zeros(CODES, dtype=np.bool_)
    table[codes] = True
    found: NDArray[np.bool_] = table[kinds]
    return found


def _worth_merging(older: Block, newer: Block) -> bool:
    return len(older.owners) < 2 * len(newer.owners) and len(older.owners) + len(newer.owners) <= MERGE_UP_TO


def _joined(a: Rows, b: Rows) -> Rows:
    return Rows(
        np.concatenate([a.units, b.units]),
        np.concatenate([a.at, b.at]),
        np.concatenate([a.recorded, b.recorded]),
        np.concatenate([a.kinds, b.kinds]),
        np.concatenate([a.sessions, b.sessions]),
        np.concatenate([a.speakers, b.speakers]),
        np.concatenate([a.roles, b.roles]),
        np.concatenate([a.asks, b.asks]),
        np.concatenate([a.pieces, b.pieces]),
        np.concatenate([a.sizes, b.sizes]),
        np.concatenate([a.packed, b.packed]),
        np.concatenate([a.vectors, b.vectors]),
    )


def _in_time_order(rows: Rows) -> Rows:
    if np.all(rows.at[1:] >= rows.at[:-1]):
        return rows  # the usual case: conversations are told forwards
    return _chosen(rows, np.argsort(rows.at, kind="stable"))


def _chosen(rows: Rows, order: NDArray[np.int64]) -> Rows:
    """Some of the rows, in another order."""
    return Rows(
        rows.units[order],
        rows.at[order],
        rows.recorded[order],
        rows.kinds[order],
        rows.sessions[order],
        rows.speakers[order],
        rows.roles[order],
        rows.asks[order],
        rows.pieces[order],
        rows.sizes[order],
        rows.packed[_spread(rows.sizes, order)],
        rows.vectors[_spread(rows.pieces, order)],
    )


def _spread(sizes: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of all elements when groups of the given sizes are put in another order."""
    starts = np.cumsum(sizes) - sizes
    moved = sizes[order]
    within = np.arange(int(moved.sum())) - np.repeat(np.cumsum(moved) - moved, moved)
    return np.repeat(starts[order], moved) + within


def empty_rows(dimension: int) -> Rows:
    whole = np.zeros(0, dtype=np.int64)
    return Rows(
        whole,
        whole,
        whole,
        np.zeros(0, dtype=np.int16),
        whole,
        whole,
        np.zeros(0, dtype=np.int8),
        np.zeros(0, dtype=np.bool_),
        whole,
        whole,
        np.zeros(0, dtype=PACKED),
        np.zeros((0, dimension), dtype=np.float32),
    )
