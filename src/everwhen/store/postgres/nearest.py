"""The candidates by meaning: which lists are asked for, the statement that fills them, and what its rows say.

All vectors of the bank that pass are compared with the question's, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from everwhen.instants import from_text, to_text
from everwhen.store.postgres.filters import Conditions, fragment
from everwhen.store.search import DERIVED, SaidBy, Scored, SearchQuery, Timed, Wanted
from everwhen.store.sql.rows import interval_of
from everwhen.store.then import FOREVER
from everwhen.when import Interval

Row = tuple[Any, ...]
Among = Callable[[SaidBy | None, int], tuple[str, dict[str, Any]]]
"""The condition that some have said it, with its values."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What is asked of the vectors of a bank. A list is the condition that its rows meet."""

    wanted: Wanted
    lists: tuple[str, ...]
    timed_from: int
    """From which list on they are of units with a time."""
    told: dict[str, Any] = field(default_factory=dict)
    deep: int = 2
    """Rows that are read for each one that is wanted: a unit of several pieces comes as often."""

    @classmethod
    def of(cls, query: SearchQuery, wanted: Wanted, among: Among, conditions: Conditions) -> Nearest:
        if query.vector is None:
            return cls(wanted, (), 0)
        lists: list[str] = []
        values: dict[str, Any] = {
            "derived": sorted(DERIVED),
            "believed_at": to_text(query.where.known_at or FOREVER),
        }
        passes, any_kind = (conditions.text("v", "unit", kinds=kinds) for kinds in (True, False))
        for who in wanted.whose if wanted.meaning else ():
            condition, told = among(who, len(lists))
            lists.append(f"{passes} {condition}")
            values |= told
        timed_from = len(lists)
        for window in wanted.windows:
            own = query.where.between
            between = window if own is None else own.intersection(window)
            if between is not None:
                for side, at in (("start", between.start), ("end", between.end)):
                    values[f"{side}{len(lists)}"] = None if at is None else to_text(at)
                lists.append(f"{any_kind} {fragment('among_turns_of_window', place=len(lists))}")
        if wanted.windows:
            lists.append(f"{any_kind} {fragment('among_derived')}")
        return cls(wanted, tuple(lists), timed_from, values)

    @property
    def values(self) -> dict[str, Any]:
        return self.told | {
            "limit": self.wanted.limit * self.deep,
            "floor": self.wanted.floor,
            "timed": self.wanted.timed * self.deep,
            "timed_floor": self.wanted.timed_floor,
            "timed_from": self.timed_from,
        }

    @property
    def parts(self) -> dict[str, str]:
        listed = [
            fragment(
                "nearest_list",
                place=place,
                among=condition,
                limit="limit" if place < self.timed_from else "timed",
            )
            for place, condition in enumerate(self.lists)
        ]
        return {"lists": " UNION ALL ".join(listed)}

    def read(self, rows: Iterable[Row]) -> list[list[Row]]:
        """The rows of each list, best first."""
        found: list[list[Row]] = [[] for _ in self.lists]
        for place, *row in rows:
            found[place].append(tuple(row))
        return found

    def needs_more(self, found: Sequence[Sequence[Row]]) -> bool:
        """Whether a list is full of pieces of fewer units than are wanted."""
        return any(
            len(rows) == self._limit(place) * self.deep and len({row[0] for row in rows}) < self._limit(place)
            for place, rows in enumerate(found)
        )

    def deeper(self) -> Nearest:
        return replace(self, deep=4 * self.deep)

    def ranked(self, found: Sequence[Sequence[Row]]) -> list[list[Scored]]:
        lists = found[: self.timed_from]
        return [[Scored(row[0], row[1]) for row in _once(rows, self.wanted.limit)] for rows in lists]

    def timed(self, found: Sequence[Sequence[Row]]) -> list[Timed]:
        times = {
            row[0]: _timed(*row)
            for rows in found[self.timed_from :]
            for row in _once(rows, self.wanted.timed)
        }
        return [one for one in times.values() if one is not None]

    def _limit(self, place: int) -> int:
        return self.wanted.limit if place < self.timed_from else self.wanted.timed


def _once(rows: Iterable[Row], limit: int) -> list[Row]:
    """Each unit with its best piece."""
    best: dict[int, Row] = {}
    for row in rows:
        best.setdefault(row[0], row)
    return list(best.values())[:limit]


def _timed(unit: int, cosine: float, kind: str, at: str, *times: Any) -> Timed | None:
    """A unit with its own time; None for what has none."""
    start, end, grain, valid_from, valid_to = times
    if kind == "turn":
        when: Interval | None = Interval(from_text(at), from_text(at), "second")
    elif kind == "fact" and valid_from is not None:
        when = Interval(from_text(valid_from), None if valid_to is None else from_text(valid_to))
    else:
        when = interval_of(start, end, grain)
    return None if when is None else Timed(unit, kind, cosine, when)
