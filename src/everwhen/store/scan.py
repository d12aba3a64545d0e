"""One question against one snapshot of the index: the best rows by meaning and by words, and what lies around them.

Every channel of a recall reads the same snapshot, and the bank is gone through once: cosines for all the question's
vectors in one product, BM25 in one pass. Which rows are asked for, and what their numbers are worth, is recall's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.bm25 import score
from everwhen.store.index import Block, Index, Window, among, best_rows
from everwhen.store.instants import to_micros
from everwhen.store.kinds import codes
from everwhen.store.terms import Tokenizer, label_key
from everwhen.types import ROLES, Role
from everwhen.when import Interval

Masks: TypeAlias = list[NDArray[np.bool_] | None]

MANY_ROWS = 8192
"""Rows around the candidates that are looked at whole; of more, only those near a candidate."""


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Some of the speakers: by name, or by role."""

    speakers: frozenset[str] = frozenset()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The turns of the sessions that some units come from, session by session in the order of time.

    `rows_of` says where each of those units stands. A unit that nobody said has a session of its own.
    """

    units: NDArray[np.int64]
    at: NDArray[np.int64]
    sessions: NDArray[np.int64]
    places: NDArray[np.int64]
    speakers: NDArray[np.int64]
    roles: NDArray[np.int8]
    asks: NDArray[np.bool_]
    cosines: NDArray[np.float32]
    """A row for each turn, a column for each vector of the question."""
    counts: NDArray[np.float32]
    """A row for each turn, a column for each word of the question: how often it stands there."""
    lengths: NDArray[np.float32]
    idf: NDArray[np.float32]
    mean_length: float
    rows_of: NDArray[np.int64]

    def said_by(self, who: SaidBy) -> NDArray[np.bool_]:
        """Which of the turns they said."""
        return _said_by(self.speakers, self.roles, who)


class Scan:
    """A question's view of the bank. Cheap to make: each half of the work is done when it is first asked for."""

    def __init__(
        self,
        index: Index,
        vectors: NDArray[np.float32],
        query: str,
        tokenizer: Tokenizer,
        window: Window,
    ) -> None:
        self._index = index
        self._vectors = np.ascontiguousarray(np.atleast_2d(vectors))
        self._tokenizer = tokenizer
        self._terms = tokenizer.query(query)
        self._window = window
        self._said: dict[SaidBy, list[NDArray[np.bool_]]] = {}

    def __len__(self) -> int:
        return len(self._index)

    @property
    def columns(self) -> int:
        """How many vectors the question has."""
        return len(self._vectors)

    def telling(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How telling each word is: the idf of its rarest term, 0 for a stop word."""
        terms = self._tokenizer.terms(words)
        known = list(dict.fromkeys(term for several in terms for term in several))
        idf = dict(zip(known, self._index.term_weights(known)[0], strict=True))
        return np.array([max((idf[term] for term in several), default=0.0) for several in terms], np.float32)

    def names(self, people: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the question's terms are somebody's name; none where that would be all of them."""
        named = {term for several in self._tokenizer.terms(list(people)) for term in several}
        found = np.array([term in named for term in self._terms], np.bool_)
        return found & ~found.all()

    def ever_said(self, who: SaidBy | None) -> NDArray[np.bool_]:
        """Which of the question's terms stand anywhere in what somebody (or anybody) said."""
        said = np.zeros(len(self._terms), np.bool_)
        for block, counted in zip(self._index.blocks, self._among(self._passing, who), strict=True):
            for place, term in enumerate(self._terms):
                rows = block.postings.rows[block.postings.find(term)]
                said[place] |= len(rows) > 0 if counted is None else bool(counted[rows].any())
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
            out[[place[unit] for unit in block.rows.units[rows].tolist()]] = block.rows.vectors[
                block.firsts[rows]
            ]
        return out

    def by_meaning(
        self, column: int, limit: int, floor: float, who: SaidBy | None = None
    ) -> list[tuple[int, float]]:
        """Units by their cosine with one of the question's vectors, nothing below the floor."""
        counted = self._among(self._passing, who)
        return best_rows(self._above(column, floor, counted), limit, floor=-1.0)

    def by_words(self, limit: int, who: SaidBy | None = None) -> list[tuple[int, float]]:
        """Units by BM25."""
        found = [
            (block, scores if counted is None else np.where(counted, scores, np.float32(0.0)))
            for block, scores, counted in zip(
                self._index.blocks, self._bm25, self._among(self._passing, who), strict=True
            )
        ]
        return best_rows(found, limit, floor=0.0)

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
        counted = [block.mask(narrowed) for block in self._index.blocks]
        return best_rows(self._above(column, floor, counted), limit, floor=-1.0)

    def cosines_of(
        self, column: int, units: Collection[int], kinds: Collection[str] | None = None
    ) -> dict[int, float]:
        """The cosine of each of some units that pass the filter but for its kinds, and are of `kinds` where given."""
        wanted = np.fromiter(units, dtype=np.int64, count=len(units))
        found: dict[int, float] = {}
        for block, cosines, passing in zip(self._index.blocks, self._cosines, self._anywhere, strict=True):
            rows = block.find(wanted)
            rows = rows if passing is None else rows[passing[rows]]
            if kinds is not None:
                rows = rows[among(block.rows.kinds[rows], codes(kinds, self._window.networks))]
            found.update(zip(block.rows.units[rows].tolist(), cosines[column, rows].tolist(), strict=True))
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
        sessions = np.unique(
            _joined([block.rows.sessions[one] for block, one in zip(blocks, own, strict=True)])
        )
        sessions = sessions[sessions > 0]
        rows = [
            _rows(block, one, sessions, passing)
            for block, one, passing in zip(blocks, own, self._passing, strict=True)
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
            self._part(block, cosines, some)
            for block, cosines, some in zip(blocks, self._cosines, rows, strict=True)
        ] or [_nothing(len(self._vectors), len(self._terms))]
        speakers, roles, asks, cosines, counts, lengths = (
            np.concatenate(arrays)[order] for arrays in zip(*parts, strict=True)
        )
        weights, mean_length = self._weights
        by_seq = np.argsort(seqs)
        found = by_seq[np.searchsorted(seqs, wanted, sorter=by_seq).clip(max=max(0, len(seqs) - 1))]
        return Surroundings(
            seqs,
            at,
            session,
            place,
            speakers,
            roles,
            asks,
            cosines,
            counts,
            lengths,
            np.array(weights, dtype=np.float32),
            mean_length,
            found,
        )

    @cached_property
    def _cosines(self) -> list[NDArray[np.float32]]:
        """For each block a row for each vector of the question; only the filter's time is heeded."""
        return [block.cosines(self._vectors, self._window) for block in self._index.blocks]

    @cached_property
    def _weights(self) -> tuple[list[float], float]:
        return self._index.term_weights(self._terms)

    @cached_property
    def _bm25(self) -> list[NDArray[np.float32]]:
        weights, mean_length = self._weights
        return [score(block.postings, self._terms, weights, mean_length) for block in self._index.blocks]

    @cached_property
    def _passing(self) -> Masks:
        """The rows of each block that pass the filter, None where all do."""
        return [block.mask(self._window) for block in self._index.blocks]

    @cached_property
    def _anywhere(self) -> Masks:
        """The rows that pass but for their kind."""
        networks = self._window.networks
        window = replace(self._window, kinds=None if networks is None else codes(None, networks))
        return [block.mask(window) for block in self._index.blocks]

    def _among(self, passing: Masks, who: SaidBy | None) -> Masks:
        """The rows that pass and were said by some."""
        if who is None:
            return passing
        if who not in self._said:
            self._said[who] = [
                _said_by(block.rows.speakers, block.rows.roles, who) for block in self._index.blocks
            ]
        return [
            said if rows is None else rows & said for rows, said in zip(passing, self._said[who], strict=True)
        ]

    def _above(self, column: int, floor: float, counted: Masks) -> list[tuple[Block, NDArray[np.float32]]]:
        """Cosines of the rows that count and are not below the floor; -1 for the others."""
        found = []
        for block, cosines, rows in zip(self._index.blocks, self._cosines, counted, strict=True):
            above = cosines[column] >= np.float32(floor)
            found.append(
                (
                    block,
                    np.where(above if rows is None else above & rows, cosines[column], np.float32(-1.0)),
                )
            )
        return found

    def _part(
        self, block: Block, cosines: NDArray[np.float32], rows: NDArray[np.int64]
    ) -> tuple[NDArray[Any], ...]:
        held = block.rows
        counts = np.zeros((len(rows), len(self._terms)), dtype=np.float32)
        whole = np.zeros(len(held.units), dtype=np.float32)
        for column, term in enumerate(self._terms):
            where = block.postings.find(term)
            if where.start == where.stop:
                continue
            standing = block.postings.rows[where]
            whole[standing] = block.postings.halves[where] * np.float32(0.5)
            counts[:, column] = whole[rows]
            whole[standing] = 0.0
        return (
            held.speakers[rows],
            held.roles[rows],
            held.asks[rows],
            cosines[:, rows].T,
            counts,
            block.postings.lengths[rows],
        )


def _rows(
    block: Block, own: NDArray[np.int32], sessions: NDArray[np.int64], passing: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """The rows of some sessions that pass the filter, and some units themselves."""
    near = np.isin(block.sessions, sessions)[block.session_of]
    if passing is not None:
        near &= passing
    near[own] = True
    return np.flatnonzero(near)


def _said_by(speakers: NDArray[np.int64], roles: NDArray[np.int8], who: SaidBy) -> NDArray[np.bool_]:
    if who.role is not None:
        return np.asarray(roles == ROLES.index(who.role))
    said = np.zeros(len(speakers), np.bool_)
    for name in who.speakers:  # one to three of them: faster than `np.isin`
        said |= speakers == label_key(name)
    return said


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


def _nothing(vectors: int, terms: int) -> tuple[NDArray[Any], ...]:
    return (
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=np.int8),
        np.zeros(0, dtype=np.bool_),
        np.zeros((0, vectors), dtype=np.float32),
        np.zeros((0, terms), dtype=np.float32),
        np.zeros(0, dtype=np.float32),
    )
