"""Units and those beside them in their sessions, in columns, as a search's evidence has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.store.search import Turns, ending
from everwhen.store.terms import PACKED, label_key
from everwhen.types import ROLES


class Beside:
    """Units with those beside them, in columns; the last entry stands for what is not there."""

    def __init__(self, rows: Sequence[tuple[Any, ...]], terms: Sequence[int]) -> None:
        columns: Any = zip(*rows, strict=True) if rows else [[]] * 16
        (
            seqs,
            asked,
            at,
            sessions,
            places,
            before,
            after,
            speakers,
            roles,
            asks,
            halves,
            packed,
            cosines,
            whole,
            ends,
            words,
        ) = columns
        keys = {label: label_key(label) for label in {*sessions, *speakers} if label is not None}
        self._units = np.array([*seqs, -1], np.int64)
        self.asked = [seq for seq, is_asked in zip(seqs, asked, strict=True) if is_asked]
        self.at = np.array([*at, 0], np.int64)
        self.sessions = np.array(
            [
                *(-seq if label is None else keys[label] for seq, label in zip(seqs, sessions, strict=True)),
                0,
            ],
            np.int64,
        )
        self.numbers = np.array([*places, 0], np.int64)
        self.before, self.after = (
            np.array([*(-1 if one is None else one for one in several), -1], np.int64)
            for several in (before, after)
        )
        self.speakers = np.array([*(0 if one is None else keys[one] for one in speakers), 0], np.int64)
        self.roles = np.array([*(-1 if one is None else ROLES.index(one) for one in roles), -1], np.int8)
        self._asks = np.array([*asks, False], np.bool_)
        self._lengths = np.array([*((one or 0) / 2 for one in halves), 0.0], np.float32)
        self._whole = np.array([*(np.nan if one is None else one / 2 for one in whole), np.nan], np.float32)
        self._ends = [
            "" if who is None else ending(who, end) for who, end in zip(speakers, ends, strict=True)
        ]
        self._cosines = np.array([*cosines, 0.0], np.float32)
        self._counts = _counts([one or b"" for one in packed], terms)
        told = {keys[session]: one for session, one in zip(sessions, words, strict=True) if one is not None}
        self._sums = dict(zip(told, _counts(list(told.values()), terms), strict=False))

    def lengths_of_sessions(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The length of the whole session of some units; of what nobody said, its own."""
        whole = self._whole[places]
        return np.where(np.isnan(whole), self._lengths[places], whole)

    def session_counts(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """How often each term stands in the whole session of some units; in what nobody said, in itself."""
        found = self._counts[places].copy()
        for row, session in enumerate(self.sessions[places].tolist()):
            found[row] = self._sums.get(session, found[row])
        return found

    def places(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where some units stand, or nothing does."""
        last = len(self._units) - 1
        found = np.searchsorted(self._units[:last], units)
        return np.where(self._units[found.clip(max=last)] == units, found, last)

    def endings(self, units: NDArray[np.int64]) -> list[str]:
        """The end of what some units say; nothing for what is not there, or nobody said."""
        ends = [*self._ends, ""]
        return [ends[place] for place in self.places(units).tolist()]

    def turns(self, places: NDArray[np.int64]) -> Turns:
        return Turns(
            self._units[places],
            self._cosines[places],
            self._counts[places],
            self._lengths[places],
            self._asks[places],
        )


def _counts(packed: Sequence[bytes], terms: Sequence[int]) -> NDArray[np.float32]:
    """How often each term stands in units or sessions, by their packed terms; a row of nothing at the end."""
    found = np.zeros((len(packed) + 1, len(terms)), np.float32)
    every = np.frombuffer(b"".join(packed), dtype=PACKED)
    owners = np.repeat(np.arange(len(packed)), [len(one) // PACKED.itemsize for one in packed])
    standing = np.ascontiguousarray(every["term"])
    for column, term in enumerate(terms):
        here = np.flatnonzero(standing == np.uint64(term))
        found[:, column] = np.bincount(owners[here], every["halves"][here], minlength=len(found)) / 2
    return found
