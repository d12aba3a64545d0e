"""The Scan protocol: one question against one bank, the search interface that every store implements.

Above: recall, which decides which rows to ask for and how to weigh their numbers. Below: a store's index. That of
SQLite is in memory (`index_scan`); another store may answer in its own way. All answers of a scan come from one
snapshot of the bank. Filters are exact: the best rows among those that pass are found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from everwhen.store.terms import label_key
from everwhen.types import ROLES, Role
from everwhen.when import Interval


@dataclass(frozen=True, slots=True)
class SaidBy:
    """A selection of speakers: by name, or by role."""

    speakers: frozenset[str] = frozenset()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The turns of the sessions that some units come from, session by session in order of time.

    `rows_of` says where each of those units is. A unit that nobody said has a session of its own.
    """

    units: NDArray[np.int64]
    at: NDArray[np.int64]
    sessions: NDArray[np.int64]
    places: NDArray[np.int64]
    speakers: NDArray[np.int64]
    roles: NDArray[np.int8]
    asks: NDArray[np.bool_]
    cosines: NDArray[np.float32]
    """A row for each turn, a column for each vector of the question. Exact for those units and the turns right before
    and after each of them; for the others a store may give an estimate."""
    counts: NDArray[np.float32]
    """A row for each turn, a column for each word of the question: how often it stands there."""
    lengths: NDArray[np.float32]
    idf: NDArray[np.float32]
    mean_length: float
    rows_of: NDArray[np.int64]

    def said_by(self, who: SaidBy) -> NDArray[np.bool_]:
        """Which of the turns they said."""
        return said_by(self.speakers, self.roles, who)


class Scan(Protocol):
    """A question's view of the bank."""

    def __len__(self) -> int:
        """How many units the bank has."""
        ...

    def telling(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How telling each word is: the idf of its rarest term, 0 for a stop word."""
        ...

    def names(self, people: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the question's terms are somebody's name; none where that would be all of them."""
        ...

    def ever_said(self, who: SaidBy | None) -> NDArray[np.bool_]:
        """Which of the question's terms stand anywhere in what somebody (or anybody) said."""
        ...

    def held(self, units: Iterable[int]) -> list[int]:
        """Those of some units that the snapshot has: what was written since is for the next question."""
        ...

    def vectors_of(self, units: Sequence[int]) -> NDArray[np.float32]:
        """The vector of each unit, of its first piece; zeros for one that is gone."""
        ...

    def by_meaning(
        self, column: int, limit: int, floor: float, who: SaidBy | None = None
    ) -> list[tuple[int, float]]:
        """Units by their cosine with one of the question's vectors, nothing below the floor."""
        ...

    def by_words(self, limit: int, who: SaidBy | None = None) -> list[tuple[int, float]]:
        """Units by BM25."""
        ...

    def near(
        self, column: int, limit: int, floor: float, kinds: Collection[str], between: Interval | None = None
    ) -> list[tuple[int, float]]:
        """The same for units of some kinds, whatever kinds the question's own filter has; `between`, which lies
        inside that filter's own, bounds when."""
        ...

    def cosines_of(
        self, column: int, units: Collection[int], kinds: Collection[str] | None = None
    ) -> dict[int, float]:
        """The cosine of each of some units that pass the filter but for its kinds, and are of `kinds` where given."""
        ...

    def said_at(self, units: Sequence[int]) -> dict[int, int]:
        """When each was said or, where nobody said it, is told of: microseconds."""
        ...

    def has_role(self, role: Role) -> bool:
        """Whether anybody speaks in a role."""
        ...

    def around(self, units: Sequence[int], reach: int) -> Surroundings:
        """The sessions of some units; of long ones at least `reach` turns on each side of every unit."""
        ...


def said_by(speakers: NDArray[np.int64], roles: NDArray[np.int8], who: SaidBy) -> NDArray[np.bool_]:
    if who.role is not None:
        return np.asarray(roles == ROLES.index(who.role))
    said = np.zeros(len(speakers), np.bool_)
    for name in who.speakers:  # one to three of them: faster than `np.isin`
        said |= speakers == label_key(name)
    return said
