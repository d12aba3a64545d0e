"""The search over an index in memory: one question against one snapshot of it, with the rows of the database beside it.

The bank is scanned once for a question: approximate cosines in one matrix product, BM25 in one pass; the best rows are
then compared exactly. A filter is applied before the best rows are chosen, so that a row with a low approximate cosine
in the whole bank is not lost under a filter. A place is a row number counted over all blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import Tokenizer
from everwhen.store.index import Block, Index, IndexFilter, IndexRows, distinct, kind_of
from everwhen.store.index import codes as kind_codes
from everwhen.store.rows import (
    DERIVED,
    Candidates,
    Evidence,
    Links,
    Near,
    SaidBy,
    Scored,
    SearchQuery,
    Sums,
    Terms,
    Timed,
    Turns,
    Wanted,
    ending,
)
from everwhen.store.sql.facts import FactStore
from everwhen.store.sql.graph import GraphStore
from everwhen.types import LinkType, UnitRow
from everwhen.types.times import from_micros, to_micros
from everwhen_time import Interval

SOME_ROWS = 256


class Database(Protocol):
    """What the index does not hold."""

    @property
    def graph(self) -> GraphStore: ...

    @property
    def facts(self) -> FactStore: ...

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]: ...

    def token_codes(self, seqs: Sequence[int]) -> dict[int, bytes]: ...


class MemorySearch:
    """A question's view of the bank. Cheap to create: vectors and words are scanned when they are first needed."""

    voices_changed = False

    def __init__(
        self, query: SearchQuery, index: Index, window: IndexFilter, tokenizer: Tokenizer, database: Database
    ) -> None:
        """`window` is the query's filter in the index's terms."""
        self._query = query
        self._index = index
        self._window = window
        self._tokenizer = tokenizer
        self._database = database
        self._question_terms = tokenizer.query(query.words)
        self._said: dict[SaidBy, NDArray[np.bool_]] = {}

    @property
    def way(self) -> str:
        return "exact"

    # Candidates

    def candidates(self, wanted: Wanted) -> Candidates:
        meaning = self._by_meaning(wanted) if wanted.meaning and self._query.vector is not None else []
        words = self._by_words(wanted) if wanted.words else []
        return Candidates(meaning, words, self._timed(wanted) if wanted.windows else ())

    def _by_meaning(self, wanted: Wanted) -> list[list[Scored]]:
        return [self._nearness.best(wanted.limit, wanted.floor, self._among(who)) for who in wanted.whose]

    def _by_words(self, wanted: Wanted) -> list[list[Scored]]:
        out = []
        for passing in map(self._among, wanted.whose):
            scores = self._bm25 if passing is None else np.where(passing, self._bm25, np.float32(0.0))
            places = largest(scores, wanted.limit)
            places = places[scores[places] > 0.0]
            out.append(ranked(self._index.blocks, places, scores[places], wanted.limit))
        return out

    def _timed(self, wanted: Wanted) -> list[Timed]:
        """The nearest turns of each window, and the nearest units that have a time of their own."""
        cosines: dict[int, float] = {}
        for window in wanted.windows:
            own = self._query.where.between
            between = window if own is None else own.intersection(window)
            if between is not None:
                cosines |= dict(self._near(wanted, {"turn"}, between))
        places = self._places(np.fromiter(cosines, dtype=np.int64, count=len(cosines)))
        turns = self._rows(places)
        times = {
            unit: ("turn", Interval(from_micros(at), from_micros(at), "second"))
            for unit, at in zip(turns.units.tolist(), turns.at.tolist(), strict=True)
        }
        derived = dict(self._near(wanted, DERIVED))
        times |= self._times_of(list(derived))
        cosines |= derived
        return [Timed(unit, kind, cosines[unit], when) for unit, (kind, when) in times.items()]

    def _near(self, wanted: Wanted, kinds: Iterable[str], between: Interval | None = None) -> list[Scored]:
        """The nearest units of some kinds, whatever kinds the filter has."""
        narrowed = replace(self._window, kinds=kind_codes(frozenset(kinds), self._window.networks))
        if between is not None:
            start, end = (None if side is None else to_micros(side) for side in (between.start, between.end))
            narrowed = replace(narrowed, start=start, end=end)
        return self._nearness.best(wanted.timed, wanted.timed_floor, self._index.passing(narrowed))

    def _times_of(self, units: Sequence[int]) -> dict[int, tuple[str, Interval]]:
        """When each derived unit was: what occurred, or what a fact says of its validity."""
        rows = self._database.units(units) if units else {}
        times = {seq: (row.kind, row.occurred) for seq, row in rows.items() if row.occurred is not None}
        facts = {row.id: seq for seq, row in rows.items() if row.kind == "fact"}
        if facts:
            for fact in self._database.facts.by_id(list(facts), self._query.where.known_at):
                times[facts[fact.id]] = "fact", Interval(fact.valid_from, fact.valid_to)
        return times

    # Links

    def links(
        self,
        units: Sequence[int],
        types: Sequence[LinkType] | None = None,
        floor: float = 0.0,
        fan_out: int = 50,
    ) -> Links:
        graph = self._database.graph
        linked = [] if types == () else graph.neighbours(units, types, floor, fan_out)
        made_of = graph.provenance(units)
        named = {*units, *(link.target for link in linked), *(unit for pair in made_of for unit in pair)}
        places = self._places(np.fromiter(named, dtype=np.int64, count=len(named)))
        if self._any_kind is not None:
            places = places[self._any_kind[places]]
        rows = self._rows(places)
        kinds = [kind_of(code) for code in rows.kinds.tolist()]
        near = map(Near, kinds, self._cosines(places).tolist())
        return Links(
            [(link.source, link.target, link.weight) for link in linked],
            made_of,
            dict(zip(rows.units.tolist(), near, strict=True)),
        )

    # Evidence

    def evidence(
        self,
        units: Iterable[int],
        *,
        who: SaidBy | None = None,
        people: Iterable[str] = (),
        tokens: Sequence[str] = (),
        sessions: bool = False,
        vectors: bool = False,
        codes: bool = False,
    ) -> Evidence:
        places = self._passing_places(units)
        found = self._rows(places)
        there = self._database.units(found.units.tolist()) if len(places) else {}
        if len(there) < len(places):  # what was removed since is not in the database
            places = self._passing_places(there)
            found = self._rows(places)
        order = np.argsort(found.units)
        found = found.at_places(order)
        beside = in_sessions(self._index.blocks, self._passing, places[order], found.sessions)
        own, before, after = self._turns(places[order], beside.beside(-1), beside.beside(1))
        held = self._database.token_codes(found.units.tolist()) if codes else {}
        return Evidence(
            rows=[there[unit] for unit in found.units.tolist()],
            at=found.at,
            sessions=np.where(found.sessions > 0, found.sessions, -found.units),
            places=beside.numbers,
            speakers=found.speakers,
            roles=found.roles,
            own=own,
            before=before,
            after=after,
            terms=self._terms(who, people, tokens),
            said_before=lambda some: self._endings(before.units[list(some)].tolist()),
            session=self._sums(found, own) if sessions else None,
            vectors=self._first_vectors(places)[order] if vectors else None,
            codes=np.array([held.get(unit, b"") for unit in found.units.tolist()], object) if codes else None,
        )

    def around(self, units: Sequence[int], reach: int) -> dict[int, list[UnitRow]]:
        places = self._passing_places(units)
        found = self._rows(places)
        near = in_sessions(self._index.blocks, self._passing, places, found.sessions).within(reach)
        rows = self._database.units([unit for several in near for unit in several])
        return {
            unit: [rows[other] for other in several if other in rows]
            for unit, several in zip(found.units.tolist(), near, strict=True)
        }

    def _endings(self, units: Sequence[int]) -> list[str]:
        """What evidence shows of the turns before: -1 is none."""
        rows = self._database.units([unit for unit in units if unit >= 0])
        return [ending(rows[unit].speaker, rows[unit].text) if unit in rows else "" for unit in units]

    def _turns(self, *several: NDArray[np.int64]) -> list[Turns]:
        """The turns at some places, in columns; -1 is no place."""
        places = distinct(np.concatenate(several))
        places = places[places >= 0]
        counts = np.zeros((len(places) + 1, len(self._question_terms)), np.float32)
        lengths = np.zeros(len(places) + 1, np.float32)
        start = 0
        slices_of = dict(zip(map(id, self._index.blocks), self._found, strict=True))
        for block, rows in by_block(self._index.blocks, places):
            end = start + len(rows)
            looked_up = rows.astype(np.int32)
            for column, where in enumerate(slices_of[id(block)]):
                counts[start:end, column] = block.postings.counts(where, looked_up)
            lengths[start:end] = block.postings.lengths[rows]
            start = end
        held = self._rows(places)
        # The last entry stands for what is not there.
        units, asks = np.append(held.units, np.int64(-1)), np.append(held.asks, np.False_)
        cosines = np.append(self._cosines(places), np.float32(0.0))
        rows_of = [np.where(some >= 0, np.searchsorted(places, some), len(places)) for some in several]
        return [
            Turns(units[here], cosines[here], counts[here], lengths[here], asks[here]) for here in rows_of
        ]

    def _sums(self, found: IndexRows, own: Turns) -> Sums:
        """The terms of each unit's session; of what nobody said, its own."""
        sessions = distinct(found.sessions[found.sessions > 0])
        counts = np.zeros((len(sessions), len(self._question_terms)))
        lengths = np.zeros(len(sessions))
        for block, start, where in zip(self._index.blocks, self._starts, self._found, strict=True):
            rows = np.sort(block.of_sessions(sessions))
            if self._passing is not None:
                rows = rows[self._passing[start + rows.astype(np.int64)]]
            if not len(rows):
                continue
            place = np.searchsorted(sessions, block.rows.sessions[rows])
            lengths += np.bincount(place, block.postings.lengths[rows], len(sessions))
            for column, postings in enumerate(where):
                said = block.postings.counts(postings, rows)
                counts[:, column] += np.bincount(place, said, len(sessions))
        has = found.sessions > 0
        here = np.searchsorted(sessions, found.sessions[has])
        whole = Sums(own.counts.copy(), own.lengths.copy())
        whole.counts[has], whole.lengths[has] = counts[here], lengths[here]
        return whole

    def _first_vectors(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        parts = [block.vectors.at(block.firsts[rows]) for block, rows in by_block(self._index.blocks, places)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    # The question's terms

    def _terms(self, who: SaidBy | None, people: Iterable[str], tokens: Sequence[str]) -> Terms:
        weights, mean_length = self._weights
        named = {term for several in self._tokenizer.terms(list(people)) for term in several}
        names = np.array([term in named for term in self._question_terms], np.bool_)
        return Terms(
            idf=np.array(weights, np.float32),
            mean_length=mean_length,
            names=names & ~names.all(),
            said=self._ever_said(who),
            telling=self._telling(tokens),
        )

    def _telling(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        terms = self._tokenizer.terms(tokens)
        known = list(dict.fromkeys(term for several in terms for term in several))
        idf = dict(zip(known, self._index.term_weights(known, self._index.find(known))[0], strict=True))
        return np.array([max((idf[term] for term in several), default=0.0) for several in terms], np.float32)

    def _ever_said(self, who: SaidBy | None) -> NDArray[np.bool_]:
        said = np.zeros(len(self._question_terms), np.bool_)
        counted = self._among(who)
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

    @cached_property
    def _found(self) -> list[list[slice]]:
        """For each block, the slice of its postings for each of the question's terms."""
        return self._index.find(self._question_terms)

    @cached_property
    def _weights(self) -> tuple[list[float], float]:
        return self._index.term_weights(self._question_terms, self._found)

    @cached_property
    def _bm25(self) -> NDArray[np.float32]:
        return self._index.scores(self._found, *self._weights)

    # The index

    @cached_property
    def _nearness(self) -> Nearness:
        assert self._query.vector is not None
        return Nearness(self._index.blocks, self._query.vector, self._window)

    def _cosines(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        if self._query.vector is None:
            return np.zeros(len(places), np.float32)
        return self._nearness.exact(places)

    @cached_property
    def _starts(self) -> list[int]:
        """The place of each block's first row."""
        sizes = [len(block.rows.units) for block in self._index.blocks]
        return [sum(sizes[:number]) for number in range(len(sizes))]

    @cached_property
    def _passing(self) -> NDArray[np.bool_] | None:
        """The rows that pass the filter, None where all do."""
        return self._index.passing(self._window)

    @cached_property
    def _any_kind(self) -> NDArray[np.bool_] | None:
        """The rows that pass but for their kind."""
        networks = self._window.networks
        kinds = None if networks is None else kind_codes(None, networks)
        return self._index.passing(replace(self._window, kinds=kinds))

    def _among(self, who: SaidBy | None) -> NDArray[np.bool_] | None:
        """The rows that pass and were said by some."""
        if who is None or not self._index.blocks:
            return self._passing
        if who not in self._said:
            rows = [who.among(block.rows.speakers, block.rows.roles) for block in self._index.blocks]
            self._said[who] = np.concatenate(rows)
        return self._said[who] if self._passing is None else self._passing & self._said[who]

    def _places(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where those of some units stand that the snapshot has, ascending."""
        blocks = zip(self._index.blocks, self._starts, strict=True)
        found = [start + block.find(units).astype(np.int64) for block, start in blocks]
        return np.sort(np.concatenate([*found, np.zeros(0, np.int64)]))

    def _passing_places(self, units: Iterable[int]) -> NDArray[np.int64]:
        places = self._places(np.array(sorted(set(units)), dtype=np.int64))
        return places if self._passing is None else places[self._passing[places]]

    def _rows(self, places: NDArray[np.int64]) -> IndexRows:
        """What the index holds of the rows at some places, which ascend."""
        return IndexRows.joined(
            [block.rows.at_places(rows) for block, rows in by_block(self._index.blocks, places)]
        )


Whole = NDArray[np.int64]
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class InSessions:
    """The turns of the sessions of some units, session by session in the order of time, and the row of each unit among
    them; -1 for a unit that nobody said."""

    units: Whole
    places: Whole
    """Where each turn stands in the index."""
    starts: Whole
    """The row of the first turn of each turn's session."""
    own: Whole

    @property
    def numbers(self) -> Whole:
        """The place of each unit in its session; 0 for one that nobody said."""
        return np.where(self.own >= 0, self.own - self._taken(self.starts, self.own), 0)

    def beside(self, distance: int) -> Whole:
        """Where the turn so far before (or after) each unit stands in the index; -1 where there is none."""
        other = self.own + distance
        there = (self.own >= 0) & (other >= 0) & (other < len(self.units))
        same = self._taken(self.starts, np.where(there, other, 0)) == self._taken(self.starts, self.own)
        return np.where(there & same, self._taken(self.places, np.where(there, other, 0)), NOWHERE)

    def within(self, reach: int) -> list[list[int]]:
        """For each unit those at most so far from it, in order."""
        out = []
        for row in self.own.tolist():
            near = range(max(0, row - reach), min(len(self.units), row + reach + 1)) if row >= 0 else range(0)
            out.append(
                [
                    int(self.units[other])
                    for other in near
                    if other != row and self.starts[other] == self.starts[row]
                ]
            )
        return out

    @staticmethod
    def _taken(values: Whole, rows: Whole) -> Whole:
        return values[rows] if len(values) else np.zeros(len(rows), np.int64)


def in_sessions(
    blocks: Sequence[Block], passing: NDArray[np.bool_] | None, places: Whole, sessions: Whole
) -> InSessions:
    """The units at some places, with the session of each (0 for none), among the turns that pass."""
    wanted = np.sort(sessions)
    wanted = wanted[(wanted > 0) & (np.diff(wanted, prepend=0) != 0)]  # `np.unique` is slower
    places_of_turns, columns, start = [], [], 0
    for block in blocks:
        rows = np.sort(block.of_sessions(wanted)).astype(np.int64)
        if passing is not None:
            rows = rows[passing[start + rows]]
        held = block.rows
        if len(rows):
            places_of_turns.append(start + rows)
            columns.append((held.units[rows], held.at[rows], held.sessions[rows]))
        start += len(held.units)
    if not columns:
        none = np.zeros(0, np.int64)
        return InSessions(none, none, none, np.full(len(places), NOWHERE))
    at_places = np.concatenate(places_of_turns)
    units, at, session = (np.concatenate(several) for several in zip(*columns, strict=True))
    order = np.lexsort((units, at, session))
    rows_of = np.empty(len(order), np.int64)
    rows_of[order] = np.arange(len(order))
    own = np.full(len(places), NOWHERE)
    said = sessions > 0
    own[said] = rows_of[np.searchsorted(at_places, places[said])]
    session = session[order]
    first = np.append(True, session[1:] != session[:-1]) if len(session) else np.zeros(0, np.bool_)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    return InSessions(units[order], at_places[order], starts, own)


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
