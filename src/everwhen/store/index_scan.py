"""One question against one snapshot of the index in memory: the best rows by vector and by words, and the turns
around them.

All channels of a recall read the same snapshot, and the bank is scanned once: approximate cosines for all the
question's vectors in one matrix product, BM25 in one pass. A place is a row number counted over all blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.instants import to_micros
from everwhen.store.index import Block, Index, IndexFilter, among, best_by_words
from everwhen.store.kind_codes import codes
from everwhen.store.nearest import Nearness
from everwhen.store.scan import SaidBy, Surroundings, said_by
from everwhen.store.terms import Tokenizer
from everwhen.store.top_k import by_block
from everwhen.types import ROLES, Role
from everwhen.when import Interval

MANY_ROWS = 8192
"""Rows around the candidates that are looked at whole; of more, only those near a candidate."""
SOME_ROWS = 256


class IndexScan:
    """A question's view of the bank. Cheap to create: vectors and words are scanned when they are first needed."""

    def __init__(
        self,
        index: Index,
        vectors: NDArray[np.float32],
        query: str,
        tokenizer: Tokenizer,
        window: IndexFilter,
    ) -> None:
        self._index = index
        self._vectors = np.ascontiguousarray(np.atleast_2d(vectors))
        self._tokenizer = tokenizer
        self._terms = tokenizer.query(query)
        self._window = window
        self._nearness = Nearness(index.blocks, self._vectors, window)
        self._said: dict[SaidBy, NDArray[np.bool_]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def telling(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How telling each word is: the idf of its rarest term, 0 for a stop word."""
        terms = self._tokenizer.terms(words)
        known = list(dict.fromkeys(term for several in terms for term in several))
        idf = dict(zip(known, self._index.term_weights(known, self._index.find(known))[0], strict=True))
        return np.array([max((idf[term] for term in several), default=0.0) for several in terms], np.float32)

    def names(self, people: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the question's terms are somebody's name; none where that would be all of them."""
        named = {term for several in self._tokenizer.terms(list(people)) for term in several}
        found = np.array([term in named for term in self._terms], np.bool_)
        return found & ~found.all()

    def ever_said(self, who: SaidBy | None) -> NDArray[np.bool_]:
        """Which of the question's terms stand anywhere in what somebody (or anybody) said."""
        said = np.zeros(len(self._terms), np.bool_)
        counted = self._among(self._passing, who)
        for block, start, found in zip(self._index.blocks, self._starts, self._found, strict=True):
            for place, where in enumerate(found):
                rows = block.postings.rows[where]
                if said[place] or not len(rows):
                    continue
                # Most words were said by them in one of the first rows already.
                said[place] = counted is None or any(
                    counted[start + some].any() for some in (rows[:SOME_ROWS], rows[SOME_ROWS:])
                )
        return said

    def held(self, units: Iterable[int]) -> list[int]:
        """Those of some units that the snapshot has: what was written since is for the next question."""
        wanted = np.fromiter(units, dtype=np.int64)
        here = {int(unit) for block in self._index.blocks for unit in block.rows.units[block.find(wanted)]}
        return [unit for unit in wanted.tolist() if unit in here]

    def vectors_of(self, units: Sequence[int]) -> NDArray[np.float32]:
        """The vector of each unit, of its first piece; zeros for one that is gone."""
        wanted = np.asarray(units, dtype=np.int64)
        out = np.zeros((len(wanted), self._vectors.shape[1]), np.float32)
        place = {unit: row for row, unit in enumerate(wanted.tolist())}
        for block in self._index.blocks:
            rows = block.find(wanted)
            if len(rows):
                here = [place[unit] for unit in block.rows.units[rows].tolist()]
                out[here] = block.vectors.at(block.firsts[rows])
        return out

    def by_meaning(
        self, column: int, limit: int, floor: float, who: SaidBy | None = None
    ) -> list[tuple[int, float]]:
        """Units by their cosine with one of the question's vectors, nothing below the floor."""
        return self._nearness.best(column, limit, floor, self._among(self._passing, who))

    def by_words(self, limit: int, who: SaidBy | None = None) -> list[tuple[int, float]]:
        """Units by BM25."""
        return best_by_words(self._index, self._bm25, limit, self._among(self._passing, who))

    def near(
        self, column: int, limit: int, floor: float, kinds: Collection[str], between: Interval | None = None
    ) -> list[tuple[int, float]]:
        """The same for units of some kinds, whatever kinds the question's own filter has; `between`, which lies
        inside that filter's own, bounds when."""
        narrowed = replace(self._window, kinds=codes(kinds, self._window.networks))
        if between is not None:
            start = None if between.start is None else to_micros(between.start)
            narrowed = replace(
                narrowed, start=start, end=None if between.end is None else to_micros(between.end)
            )
        return self._nearness.best(column, limit, floor, self._index.passing(narrowed))

    def cosines_of(
        self, column: int, units: Collection[int], kinds: Collection[str] | None = None
    ) -> dict[int, float]:
        """The cosine of each of some units that pass the filter but for its kinds, and are of `kinds` where given."""
        places = self._places(np.fromiter(units, dtype=np.int64, count=len(units)))
        if self._anywhere is not None:
            places = places[self._anywhere[places]]
        cosines = self._nearness.exact(places)[column]
        found: dict[int, float] = {}
        for block, rows in by_block(self._index.blocks, places):
            here, cosines = cosines[: len(rows)], cosines[len(rows) :]
            stays = (
                slice(None)
                if kinds is None
                else among(block.rows.kinds[rows], codes(kinds, self._window.networks))
            )
            found.update(zip(block.rows.units[rows][stays].tolist(), here[stays].tolist(), strict=True))
        return found

    def said_at(self, units: Sequence[int]) -> dict[int, int]:
        """When each was said or, where nobody said it, is told of: microseconds."""
        wanted = np.asarray(units, dtype=np.int64)
        found: dict[int, int] = {}
        for block in self._index.blocks:
            rows = block.find(wanted)
            found.update(zip(block.rows.units[rows].tolist(), block.rows.at[rows].tolist(), strict=True))
        return found

    def has_role(self, role: Role) -> bool:
        """Whether anybody speaks in a role."""
        return any(ROLES.index(role) in block.roles for block in self._index.blocks)

    def around(self, units: Sequence[int], reach: int) -> Surroundings:
        """The sessions of some units; of long ones at least `reach` turns on each side of every unit."""
        wanted, blocks = np.asarray(units, dtype=np.int64), self._index.blocks
        own = [block.find(wanted) for block in blocks]
        sessions = np.sort(
            _joined([block.rows.sessions[one] for block, one in zip(blocks, own, strict=True)])
        )
        sessions = sessions[(sessions > 0) & (np.diff(sessions, prepend=0) != 0)]  # `np.unique` is slower
        rows = [
            _rows(block, one, sessions, None if self._passing is None else self._passing[start:])
            for block, start, one in zip(blocks, self._starts, own, strict=True)
        ]
        chosen = [(block.rows, some) for block, some in zip(blocks, rows, strict=True)]
        seqs = _joined([held.units[some] for held, some in chosen])
        at = _joined([held.at[some] for held, some in chosen])
        session = _joined([held.sessions[some] for held, some in chosen])
        session = np.where(session > 0, session, -seqs)
        order = np.lexsort((seqs, at, session))
        seqs, at, session = seqs[order], at[order], session[order]
        starts = np.flatnonzero(np.append(True, session[1:] != session[:-1])) if len(seqs) else order
        place = np.arange(len(seqs)) - np.repeat(starts, np.diff(np.append(starts, len(seqs))))
        if len(seqs) > MANY_ROWS:
            # Cut before anything is counted: a long session times the words of a long question is gigabytes.
            near = _near(np.isin(seqs, wanted), session, reach)
            seqs, at, session, place, order = (one[near] for one in (seqs, at, session, place, order))
            rows, order = _cut(rows, order)
        parts = [
            self._part(block, found, some)
            for block, found, some in zip(blocks, self._found, rows, strict=True)
            if len(some)
        ] or [_nothing(len(self._terms))]
        speakers, roles, asks, counts, lengths = (
            np.concatenate(arrays)[order] for arrays in zip(*parts, strict=True)
        )
        places = _joined([start + some for start, some in zip(self._starts, rows, strict=True)])
        weights, mean_length = self._weights
        by_seq = np.argsort(seqs)
        rows_of = by_seq[np.searchsorted(seqs, wanted, sorter=by_seq).clip(max=max(0, len(seqs) - 1))]
        return Surroundings(
            seqs,
            at,
            session,
            place,
            speakers,
            roles,
            asks,
            self._cosines_around(places[order], rows_of),
            counts,
            lengths,
            np.array(weights, dtype=np.float32),
            mean_length,
            rows_of,
        )

    def _cosines_around(self, places: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosines at some places, exact for some of them and the ones right before and after each."""
        near = np.zeros(len(places) + 2, dtype=np.bool_)
        for shift in (0, 1, 2):
            near[chosen + shift] = True
        self._nearness.exact(np.sort(places[near[1:-1]]))
        return np.ascontiguousarray(self._nearness.rough(places).T)

    @cached_property
    def _starts(self) -> list[int]:
        """The place of each block's first row."""
        sizes = [len(block.rows.units) for block in self._index.blocks]
        return [sum(sizes[:number]) for number in range(len(sizes))]

    @cached_property
    def _found(self) -> list[list[slice]]:
        """For each block, where each of the question's terms stands."""
        return self._index.find(self._terms)

    @cached_property
    def _weights(self) -> tuple[list[float], float]:
        return self._index.term_weights(self._terms, self._found)

    @cached_property
    def _bm25(self) -> NDArray[np.float32]:
        return self._index.scores(self._found, *self._weights)

    @cached_property
    def _passing(self) -> NDArray[np.bool_] | None:
        """The rows that pass the filter, None where all do."""
        return self._index.passing(self._window)

    @cached_property
    def _anywhere(self) -> NDArray[np.bool_] | None:
        """The rows that pass but for their kind."""
        networks = self._window.networks
        window = replace(self._window, kinds=None if networks is None else codes(None, networks))
        return self._index.passing(window)

    def _among(self, passing: NDArray[np.bool_] | None, who: SaidBy | None) -> NDArray[np.bool_] | None:
        """The rows that pass and were said by some."""
        if who is None or not self._index.blocks:
            return passing
        if who not in self._said:
            rows = [said_by(block.rows.speakers, block.rows.roles, who) for block in self._index.blocks]
            self._said[who] = np.concatenate(rows)
        return self._said[who] if passing is None else passing & self._said[who]

    def _places(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where those of some units stand that the snapshot has, ascending."""
        blocks = zip(self._index.blocks, self._starts, strict=True)
        return np.sort(_joined([start + block.find(units).astype(np.int64) for block, start in blocks]))

    def _part(
        self, block: Block, found: Sequence[slice], rows: NDArray[np.int64]
    ) -> tuple[NDArray[Any], ...]:
        held, looked_up = block.rows, rows.astype(np.int32)
        counts = np.empty((len(rows), len(found)), dtype=np.float32)
        for column, where in enumerate(found):
            counts[:, column] = block.postings.counts(where, looked_up)
        return held.speakers[rows], held.roles[rows], held.asks[rows], counts, block.postings.lengths[rows]


def _rows(
    block: Block, own: NDArray[np.int32], sessions: NDArray[np.int64], passing: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """The rows of some sessions that pass the filter, and some units themselves; ascending."""
    near = block.of_sessions(sessions)
    if passing is not None:
        near = near[passing[near]]
    chosen = np.zeros(len(block.rows.units), dtype=np.bool_)
    chosen[near] = chosen[own] = True
    return np.flatnonzero(chosen)


def _near(chosen: NDArray[np.bool_], sessions: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """The rows at most `reach` places from a chosen one of their session."""
    keep = np.zeros(len(chosen), dtype=np.bool_)
    for row in np.flatnonzero(chosen):
        low, high = max(0, row - reach), row + reach + 1
        keep[low:high] |= sessions[low:high] == sessions[row]
    return np.flatnonzero(keep)


def _cut(
    rows: list[NDArray[np.int64]], order: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Only those of some rows that an order of them (taken one block after the other) names, and it for these."""
    kept = np.zeros(sum(map(len, rows)), dtype=np.bool_)
    kept[order] = True
    bounds = np.cumsum([len(some) for some in rows])[:-1]
    return [some[keep] for some, keep in zip(rows, np.split(kept, bounds), strict=True)], (
        np.cumsum(kept) - 1
    )[order]


def _joined(arrays: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def _nothing(terms: int) -> tuple[NDArray[Any], ...]:
    return (
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=np.int8),
        np.zeros(0, dtype=np.bool_),
        np.zeros((0, terms), dtype=np.float32),
        np.zeros(0, dtype=np.float32),
    )
