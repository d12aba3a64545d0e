"""Where some units stand in their sessions, and which turns are beside them; over the index in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.store.index import Block

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
    standing, columns, start = [], [], 0
    for block in blocks:
        rows = np.sort(block.of_sessions(wanted)).astype(np.int64)
        if passing is not None:
            rows = rows[passing[start + rows]]
        held = block.rows
        if len(rows):
            standing.append(start + rows)
            columns.append((held.units[rows], held.at[rows], held.sessions[rows]))
        start += len(held.units)
    if not columns:
        none = np.zeros(0, np.int64)
        return InSessions(none, none, none, np.full(len(places), NOWHERE))
    at_places = np.concatenate(standing)
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
