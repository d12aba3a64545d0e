"""The search inside PostgreSQL: one question to one bank, each call in one round trip, nothing of the bank in memory.

Candidates by meaning come from the vectors of the bank, those by words from its postings (`search.sql`). What a search
finds was written before its first call: later units have higher numbers, and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import PACKED, Tokenizer, Values, interval_of, label_key, unit_of
from everwhen.store.index import K1, B, idf
from everwhen.store.postgres.connection import PostgresConnection, term_key
from everwhen.store.postgres.server import statements
from everwhen.store.postgres.values import HalfVector
from everwhen.store.rows import (
    DERIVED,
    ENDING,
    FOREVER,
    Candidates,
    Evidence,
    Filter,
    Links,
    Near,
    SaidBy,
    Scored,
    SearchQuery,
    Sums,
    Terms,
    Timed,
    Turns,
    Voices,
    Wanted,
    ending,
)
from everwhen.types import ROLES, LinkType, UnitRow
from everwhen.types.times import from_text, to_text
from everwhen_time import Interval

Row = tuple[Any, ...]
Asked = tuple[str, Values, dict[str, str]]
"""A statement by its name, its values, and what fills its gaps."""

_UNSEEN = 2**63 - 1
_MANY = 10_000
"""Postings that are read for a question: words that stand in more units than that find none by themselves."""
_APART = frozenset({"best_by_words", "units_beside"})
"""Statements that take about as long as all that is asked with them."""
_SHARED = 2_000
"""Units of a bank from which on that is worth a second connection."""
_LINKED: tuple[LinkType, ...] = ("temporal", "semantic", "entity", "causal")


class PostgresSearch:
    """A question's view of a bank: the contract of each call is in `everwhen.store.rows`."""

    def __init__(
        self,
        query: SearchQuery,
        reader: PostgresConnection,
        tokenizer: Tokenizer,
        seen: Seen,
        look: Sequence[Asked],
        saw: Callable[[Sequence[list[Row]], Seen], Seen],
        with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]],
    ) -> None:
        """`seen` is what the bank was when `look` was last asked, and `saw` keeps what it says now; `with_metadata`
        tells which units have what is asked for."""
        self._query = query
        self._reader = reader
        self._tokenizer = tokenizer
        self._bank = seen
        self._look = look
        self._saw = saw
        self._with_metadata = with_metadata
        self._terms = tokenizer.query(query.words)
        self._nodes = wants_nodes(query.where)
        self._seen: int | None = None
        self._way = "exact"
        self.voices_changed = False

    @property
    def way(self) -> str:
        return self._way

    # Candidates

    def candidates(self, wanted: Wanted) -> Candidates:
        near = Nearest.of(self._query, wanted, self._among, self._conditions, self._bank.index)
        words = self._by_words(wanted) if wanted.words and self._terms else None
        asked: list[Asked] = [words] if words else []
        answers = self._ask([*asked, *near.asked(self._values)])
        by_words: list[list[Scored]] = [[] for _ in wanted.whose] if wanted.words else []
        for place, unit, score in answers.pop(0) if words else ():
            by_words[place].append(Scored(unit, score))
        found = near.read(chain(*answers))
        self._way = near.way
        while deeper := near.again(found):
            near = deeper
            found = near.read(chain(*self._ask(near.asked(self._values))))
        return Candidates(near.ranked(found), by_words, near.timed(found))

    def _by_words(self, wanted: Wanted) -> Asked:
        values = self._values | {
            "limit": wanted.limit,
            "many": _MANY,
            "k1": K1,
            "b": B,
            "terms": self._term_keys,
        }
        lists = []
        passes = self._conditions.text("v", "unit")
        for place, who in enumerate(wanted.whose):
            among, speaker_values = self._among(who, place)
            lists.append(fragment("best_by_words_list", place=place, passes=passes, among=among))
            values |= speaker_values
        return "best_by_words", values, self._counted | {"lists": "\nUNION ALL\n".join(lists)}

    def _among(self, who: SaidBy | None, place: int) -> tuple[str, dict[str, Any]]:
        return ("", {}) if who is None else said_by(who, place, self._bank.voices.speakers)

    # Links

    def links(
        self,
        units: Sequence[int],
        types: Sequence[LinkType] | None = None,
        floor: float = 0.0,
        fan_out: int = 50,
    ) -> Links:
        kinds = _LINKED if types is None else types
        values = self._values | {
            "units": list(units),
            "types": list(kinds),
            "least": floor,
            "by_entity": "entity" in kinds and floor <= 1.0,
            "fan_out": fan_out,
        }
        parts = {
            "provenance": "provenance_of",
            "cosine": self._cosine,
            "passes": self._conditions.text("v", "unit", kinds=False),
        }
        [rows] = self._ask([("links_and_units", values, parts)])
        found: tuple[list[Row], list[Row], list[Row]] = ([], [], [])
        for what, *row in rows:
            found[what].append(tuple(row))
        edges, made, near = found
        return Links(
            [(source, target, weight) for source, target, weight, _ in edges],
            [(unit, turn) for unit, turn, _, _ in made],
            {unit: Near(kind, cosine) for unit, _, cosine, kind in near},
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
        wanted = sorted(set(units))
        about = self._tokenizer.terms(tokens)
        all_terms = list(dict.fromkeys([*self._terms, *(term for several in about for term in several)]))
        among, said = self._among(who, 0)
        values = (
            self._values
            | said
            | {
                "units": wanted,
                "terms": [term_key(term) for term in all_terms],
                "asked": self._term_keys,
                "ending": ENDING,
            }
        )
        beside_parts = {
            "passes": self._conditions.text("u", "seq"),
            "cosine": self._cosine,
            "words": "packed_words" if sessions else "no_words",
        }
        passes = self._conditions.text("v", "unit")
        asked: dict[str, Asked] = {
            "totals": ("totals", values, self._counted),
            "standing": ("standing", values, self._counted),
            "said": ("ever_said", values, {"passes": passes, "among": among}),
        }
        if wanted:
            asked |= {
                "rows": ("units", values, {"wanted": ":units::bigint[]"}),
                "beside": ("units_beside", values, beside_parts),
            }
            if vectors:
                asked["vectors"] = ("vectors_of_units", [wanted], {})
            if codes:
                asked["codes"] = ("token_codes", [wanted], {})
        found = dict(zip(asked, self._ask(asked.values()), strict=True))
        rows = {row[0]: unit_of(row) for row in found.get("rows", ())}
        beside = Beside(found.get("beside", []), self._terms)
        own = np.array([seq for seq in beside.asked if seq in rows], np.int64)
        place = beside.places(own)
        own_turns, before, after = (
            beside.turns(some)
            for some in (place, beside.places(beside.before[place]), beside.places(beside.after[place]))
        )
        standing: dict[int, int] = dict(found["standing"])
        [(total, halves)] = found["totals"]
        weights = {term: idf(total, standing.get(term_key(term), 0)) for term in all_terms}
        return Evidence(
            [rows[seq] for seq in own.tolist()],
            beside.at[place],
            beside.sessions[place],
            beside.numbers[place],
            beside.speakers[place],
            beside.roles[place],
            own_turns,
            before,
            after,
            Terms(
                np.array([weights[term] for term in self._terms], np.float32),
                halves / 2 / total if total else 0.0,
                self._names(people),
                np.isin(self._term_keys, [row[0] for row in found["said"]]),
                np.array(
                    [max((weights[term] for term in several), default=0.0) for several in about], np.float32
                ),
            ),
            lambda some: beside.endings(before.units[list(some)]),
            Sums(beside.session_counts(place), beside.lengths_of_sessions(place)) if sessions else None,
            _matrix(found.get("vectors", []), own) if vectors else None,
            _objects(dict(found.get("codes", [])), own) if codes else None,
        )

    def around(self, units: Sequence[int], reach: int) -> dict[int, list[UnitRow]]:
        values = self._values | {"units": list(units), "reach": reach}
        parts = {"own": "own_units", "around": "around_unit", "passes": self._conditions.text("u", "seq")}
        pairs, rows = self._ask(
            [("units_around", values, parts), ("units", values, {"wanted": "around_units", **parts})]
        )
        held = {row[0]: unit_of(row) for row in rows}
        near: dict[int, list[UnitRow]] = {}
        for unit, other in pairs:
            several = near.setdefault(unit, [])
            if other in held:
                several.append(held[other])
        return near

    def _names(self, people: Iterable[str]) -> NDArray[np.bool_]:
        named = {term for several in self._tokenizer.terms(list(people)) for term in several}
        names = np.array([term in named for term in self._terms], np.bool_)
        return names & ~names.all()

    # Asking

    def _ask(self, asked: Iterable[Asked]) -> list[list[Row]]:
        """The answers to some questions in one round trip; the first time, also what the bank is by now.

        Where there is much to compare, two connections share them.
        """
        questions = list(asked)
        first = self._look if self._seen is None else ()
        if not questions:
            return []
        apart = {place for place, (name, _, _) in enumerate(questions) if name in _APART}
        if not apart or len(apart) == len(questions) or self._bank.units < _SHARED:
            answers = self._together([*first, *questions])
        else:
            with ThreadPoolExecutor(1) as pool:
                other = pool.submit(self._together, [questions[place] for place in sorted(apart)])
                mine = [one for place, one in enumerate(questions) if place not in apart]
                here = self._together([*first, *mine])
                answers, there = here[: len(first)], iter(other.result())
            rest = iter(here[len(first) :])
            answers += [next(there if place in apart else rest) for place in range(len(questions))]
        if first:
            now = self._saw(answers[: len(first)], self._bank)
            self.voices_changed = now.state != self._bank.state
            self._seen = now.units
        return answers[len(first) :]

    def _together(self, asked: Iterable[Asked]) -> list[list[Row]]:
        with self._reader.use() as sql:
            return sql.together(asked)

    @property
    def _values(self) -> dict[str, Any]:
        seen = _UNSEEN if self._seen is None else self._seen
        vector = self._query.vector
        return {
            **self._conditions.values,
            "seen": seen,
            "vector": None if vector is None else HalfVector(vector),
        }

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions.of(self._query.where, self._with_metadata)

    @cached_property
    def _term_keys(self) -> list[int]:
        return [term_key(term) for term in self._terms]

    @property
    def _cosine(self) -> str:
        return "no_cosine" if self._query.vector is None else "cosine_of"

    @property
    def _counted(self) -> dict[str, str]:
        """Which units the statistics count: all, or all but the nodes of the tree."""
        if self._nodes:
            return {"totals": "", "standing": "s.units + s.nodes", "postings": ""}
        return {"totals": "AND NOT t.node", "standing": "s.units", "postings": "AND NOT p.node"}


def _matrix(rows: Iterable[Row], units: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of some units, a row each."""
    held = {unit: np.frombuffer(vector, dtype="<f4") for unit, vector in rows}
    return np.stack([held[unit] for unit in units.tolist()]) if len(units) else np.zeros((0, 0), np.float32)


def _objects(held: dict[int, bytes], units: NDArray[np.int64]) -> NDArray[np.object_]:
    found = np.empty(len(units), object)
    found[:] = [held.get(unit, b"") for unit in units.tolist()]
    return found


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
    speaker_values: dict[str, Any] = field(default_factory=dict)
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
            condition, speaker_values = among(who, len(lists))
            indexed = index is not None and _worth_it(query.where, index)
            lists.append(Listed(passes, condition, wanted.limit, wanted.floor, indexed))
            values |= speaker_values
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
            (name, values | self.speaker_values | limits, {"lists": "\nUNION ALL\n".join(lists)})
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


def fragment(name: str, **parts: object) -> str:
    """A part of a statement, with its own parts filled in."""
    return statements().text(name, tuple((key, str(part)) for key, part in parts.items()))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a row of `units` or `vectors` must meet, and the values that the conditions name."""

    names: tuple[str, ...]
    values: Mapping[str, Any]

    @classmethod
    def of(cls, where: Filter, with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]]) -> Conditions:
        """The conditions of a filter. Which units have the wanted metadata is looked up: only Python can tell."""
        between, nodes = where.between, wants_nodes(where)
        start, end = (between.start, between.end) if between else (None, None)
        values: dict[str, Any] = {
            "start": _text(start),
            "end": _text(end),
            "known_at": _text(where.known_at),
            "kinds": None if where.kinds is None else sorted(where.kinds),
            "networks": None if where.networks is None else sorted(where.networks),
            "allowed": with_metadata(dict(where.metadata)) if where.metadata else None,
        }
        given = {key for key, value in values.items() if value is not None}
        names = {
            "passes_start": "start" in given,
            "passes_end": "end" in given,
            "passes_known": "known_at" in given,
            "passes_kinds": "kinds" in given,
            "passes_networks": "networks" in given,
            "passes_units": "allowed" in given,
            "passes_reach": start is not None and nodes,
            "passes_no_nodes": not nodes,
        }
        return cls(tuple(name for name, wanted in names.items() if wanted), values)

    def text(self, row: str, unit: str, *, kinds: bool = True) -> str:
        """For a table of that alias, whose column says the unit; without `kinds` those of any kind pass."""
        names = [name for name in self.names if kinds or name != "passes_kinds"]
        return " ".join(fragment(name, row=row, unit=unit) for name in ("passes_seen", *names))


def wants_nodes(where: Filter) -> bool:
    """Whether nodes of the tree may be found: most questions are not put to them."""
    return where.kinds is None or "node" in where.kinds


def said_by(who: SaidBy, place: int, speakers: frozenset[str]) -> tuple[str, dict[str, Any]]:
    """The condition that some have said it, with its values. A name is meant in whatever case it was written."""
    if who.role is not None:
        return fragment("said_by_role", row="v", place=place), {f"role{place}": who.role}
    meant = {label_key(name) for name in who.speakers}
    spelled = sorted(name for name in speakers if label_key(name) in meant)
    return fragment("said_by_speakers", row="v", place=place), {f"speakers{place}": spelled}


def _text(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


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
        session_words = {
            keys[session]: one for session, one in zip(sessions, words, strict=True) if one is not None
        }
        self._sums = dict(zip(session_words, _counts(list(session_words.values()), terms), strict=False))

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
