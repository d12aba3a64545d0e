"""The candidates by meaning: which lists are asked for, the statement that fills them, and what its rows say.

A list is read exactly, every vector that passes compared with the question's, or from the index of a large bank
(`vector_index`), which finds nearly all of the best. Where the index leads to too few that pass, the list is read
again, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from everwhen.store.as_of import FOREVER
from everwhen.store.base import Voices
from everwhen.store.postgres.filters import Conditions, fragment
from everwhen.store.search import DERIVED, Filter, SaidBy, Scored, SearchQuery, Timed, Wanted
from everwhen.store.sql.rows import interval_of
from everwhen.types.instants import from_text, to_text
from everwhen_time import Interval

Row = tuple[Any, ...]
Among = Callable[[SaidBy | None, int], tuple[str, dict[str, Any]]]
"""The condition that some have said it, with its values."""


class Indexed(NamedTuple):
    """A bank whose vectors have an index."""

    bank: int
    dimension: int
    derived: bool
    """Whether so much was derived that it is worth to look for that in the index too."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a bank was when it was last looked at."""

    voices: Voices
    index: Indexed | None
    units: int
    """The number of the last unit."""
    state: object
    """What the database said of the voices and the index: as long as it is the same, they are."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One list: the conditions that its rows meet, those of the filter and its own; how many units are wanted, and
    whether the index is asked."""

    passes: str
    among: str
    limit: int
    floor: float
    indexed: bool


@dataclass(frozen=True, slots=True)
class Nearest:
    """What is asked of the vectors of a bank."""

    lists: tuple[Listed, ...]
    timed_from: int = 0
    """From which list on they are of units with a time."""
    index: Indexed | None = None
    told: dict[str, Any] = field(default_factory=dict)
    deep: int = 2
    """Rows that are read for each one that is wanted: a unit of several pieces comes as often."""

    @classmethod
    def of(
        cls, query: SearchQuery, wanted: Wanted, among: Among, conditions: Conditions, index: Indexed | None
    ) -> Nearest:
        if query.vector is None:
            return cls(())
        lists: list[Listed] = []
        values: dict[str, Any] = {
            "derived": sorted(DERIVED),
            "believed_at": to_text(query.where.known_at or FOREVER),
        }
        passes, any_kind = (conditions.text("v", "unit", kinds=kinds) for kinds in (True, False))
        for who in wanted.whose if wanted.meaning else ():
            condition, told = among(who, len(lists))
            indexed = index is not None and _worth_it(query.where, index)
            lists.append(Listed(passes, condition, wanted.limit, wanted.floor, indexed))
            values |= told
        timed_from = len(lists)
        for window in wanted.windows:
            own = query.where.between
            between = window if own is None else own.intersection(window)
            if between is not None:
                for side, at in (("start", between.start), ("end", between.end)):
                    values[f"{side}{len(lists)}"] = None if at is None else to_text(at)
                condition = fragment("among_turns_of_window", place=len(lists))
                lists.append(Listed(any_kind, condition, wanted.timed, wanted.timed_floor, False))
        if wanted.windows:
            indexed = index is not None and index.derived and query.where.between is None
            lists.append(
                Listed(any_kind, fragment("among_derived"), wanted.timed, wanted.timed_floor, indexed)
            )
        return cls(tuple(lists), timed_from, index, values)

    @property
    def way(self) -> str:
        """How the vectors are looked through: "exact", or by the index."""
        return "hnsw" if any(one.indexed for one in self.lists) else "exact"

    def asked(self, values: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
        """The statements that fill the lists, beside the values of every statement."""
        limits = {f"limit{place}": one.limit * self.deep for place, one in enumerate(self.lists)}
        parts = list(map(self._part, range(len(self.lists))))
        each = {"nearest": parts[: self.timed_from], "nearest_timed": parts[self.timed_from :]}
        match self.lists[: self.timed_from]:
            case (Listed(among="", indexed=False) as everybody, Listed(indexed=False) as some):
                both = fragment("nearest_lists_of_all_and_some", passes=everybody.passes, among=some.among)
                each["nearest"] = [both]
        return [
            (name, values | self.told | limits, {"lists": "\nUNION ALL\n".join(lists)})
            for name, lists in each.items()
            if lists
        ]

    def _part(self, place: int) -> str:
        one = self.lists[place]
        among = f"{one.passes} {one.among}"
        if self.index is None or not one.indexed:
            return fragment("nearest_list", place=place, among=among)
        return fragment(
            "nearest_list_of_index",
            place=place,
            among=among,
            number=self.index.bank,
            dimension=self.index.dimension,
        )

    def read(self, rows: Iterable[Row]) -> list[list[Row]]:
        """The rows of each list, best first."""
        found: list[list[Row]] = [[] for _ in self.lists]
        for place, *row in rows:
            found[place].append(tuple(row))
        return found

    def again(self, found: Sequence[Sequence[Row]]) -> Nearest | None:
        """What is to be asked instead: deeper where a list is full of pieces of fewer units than are wanted, exactly
        where the index led to too few; None where nothing is missing."""
        short = [
            len({row[0] for row in rows}) < one.limit for one, rows in zip(self.lists, found, strict=True)
        ]
        full = [len(rows) == one.limit * self.deep for one, rows in zip(self.lists, found, strict=True)]
        if any(is_short and is_full for is_short, is_full in zip(short, full, strict=True)):
            return replace(self, deep=4 * self.deep)
        lists = tuple(
            replace(one, indexed=one.indexed and not is_short)
            for one, is_short in zip(self.lists, short, strict=True)
        )
        return None if lists == self.lists else replace(self, lists=lists)

    def ranked(self, found: Sequence[Sequence[Row]]) -> list[list[Scored]]:
        return [
            [Scored(row[0], row[1]) for row in _best(rows, one)]
            for one, rows in zip(self.lists[: self.timed_from], found, strict=False)
        ]

    def timed(self, found: Sequence[Sequence[Row]]) -> list[Timed]:
        times = {
            row[0]: _timed(*row)
            for one, rows in zip(self.lists[self.timed_from :], found[self.timed_from :], strict=True)
            for row in _best(rows, one)
        }
        return [one for one in times.values() if one is not None]


def _worth_it(where: Filter, index: Indexed) -> bool:
    """Whether enough passes a filter for the index. Other indexes find sooner what was said in a while, and what was
    derived, where that is little."""
    if where.between is not None:
        return False
    return index.derived or where.kinds is None or "turn" in where.kinds


def _best(rows: Iterable[Row], wanted: Listed) -> list[Row]:
    """Each unit with its best piece, down to the floor."""
    best: dict[int, Row] = {}
    for row in rows:
        if row[1] >= wanted.floor:
            best.setdefault(row[0], row)
    return list(best.values())[: wanted.limit]


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
