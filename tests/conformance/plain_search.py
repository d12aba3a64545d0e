"""A search as one writes it on a blackboard, plain Python over all units of a bank: what a store's is compared with."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import Tokenizer, hash_term
from everwhen.store.rows import Filter, SaidBy
from everwhen.types import Role
from everwhen_time import Interval

TOKENIZER = Tokenizer()


@dataclass(frozen=True)
class PlainUnit:
    """What was written, and the number that the store gave it; what was derived stands where its first turn does."""

    unit: int
    kind: str
    at: datetime
    text: str
    context: str
    speaker: str
    vectors: NDArray[np.float32]
    session: str
    role: Role
    asks: bool
    occurred: Interval | None = None

    def counts(self) -> dict[int, float]:
        """Each term of the unit; a word of its context is half a word."""
        own, beside = TOKENIZER.counts([f"{self.speaker} {self.text}", self.context])
        found = {hash_term(term): float(count) for term, count in own.items()}
        for term, count in beside.items():
            found[hash_term(term)] = found.get(hash_term(term), 0.0) + count / 2
        return found


class PlainSearch:
    """One question against all units of a bank."""

    def __init__(
        self, units: Sequence[PlainUnit], vector: NDArray[np.float32], words: str, where: Filter
    ) -> None:
        self.units = {unit.unit: unit for unit in units}
        self.where = where
        self.terms = TOKENIZER.query(words)
        self.counts = {unit.unit: unit.counts() for unit in units}
        self.cosines = {unit.unit: float((unit.vectors @ vector).max()) for unit in units}
        self.mean_length = sum(map(self.length, self.units)) / max(1, len(units))

    def passing(self, kinds: Collection[str] | None = None, between: Interval | None = None) -> list[int]:
        between = between or self.where.between
        return [
            one.unit
            for one in self.units.values()
            if (kinds is None or one.kind in kinds) and (between is None or between.contains(one.at))
        ]

    def own(self, who: SaidBy | None = None) -> list[int]:
        """What passes, and was said by some."""
        return [unit for unit in self.passing(self.where.kinds) if who is None or self.said(unit, who)]

    def said(self, unit: int, who: SaidBy) -> bool:
        one = self.units[unit]
        if who.role is not None:
            return one.role == who.role
        return one.speaker.casefold() in {name.casefold() for name in who.speakers}

    def nearest(self, limit: int, floor: float, among: Collection[int]) -> list[int]:
        """By cosine, best first."""
        near = [unit for unit in among if self.cosines[unit] >= floor]
        return sorted(near, key=lambda unit: -self.cosines[unit])[:limit]

    def idf(self, term: int) -> float:
        having = sum(term in counts for counts in self.counts.values())
        return math.log(1 + (len(self.units) - having + 0.5) / (having + 0.5))

    def length(self, unit: int) -> float:
        return sum(self.counts[unit].values())

    def bm25(self, unit: int) -> float:
        norm = 1.2 * (0.25 + 0.75 * self.length(unit) / (self.mean_length or 1.0))
        counts = {term: self.counts[unit].get(term, 0.0) for term in self.terms}
        return sum(self.idf(term) * tf * 2.2 / (tf + norm) for term, tf in counts.items() if tf)

    def session(self, unit: int) -> list[int]:
        """What passes of a unit's session, in order."""
        label = self.units[unit].session
        mine = [one for one in self.own() if self.units[one].session == label]
        return sorted(mine, key=lambda one: (self.units[one].at, one))

    def beside(self, unit: int, distance: int) -> int:
        """The turn so far after it (or before), -1 where there is none."""
        session = self.session(unit)
        place = session.index(unit) + distance
        return session[place] if 0 <= place < len(session) else -1
