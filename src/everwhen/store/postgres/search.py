"""The search inside PostgreSQL: one question to one bank, each call in one round trip, nothing of the bank in memory.

Candidates by meaning come from the vectors of the bank, those by words from its postings (`search.sql`). What a search
finds was written before its first call: units written after that are ignored, by their number.
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
Statement = tuple[str, Values, dict[str, str]]
"""A statement to run: its name, its values, and the parts that fill its `{…}`."""

_NO_LIMIT = 2**63 - 1
_MANY = 10_000
"""A word in more than this many units produces no candidates of its own; it only adds to the score of others."""
_SLOW = frozenset({"best_by_words", "units_beside"})
"""Slow statements: each takes about as long as all others of its call. They run on a second connection."""
_SECOND_CONNECTION_FROM = 2_000
"""Units of a bank from which on a second connection is worth it."""
_LINKED: tuple[LinkType, ...] = ("temporal", "semantic", "entity", "causal")


class PostgresSearch:
    """A question's view of a bank: the contract of each call is in `everwhen.store.rows`."""

    def __init__(
        self,
        query: SearchQuery,
        reader: PostgresConnection,
        tokenizer: Tokenizer,
        snapshot: Snapshot,
        refresh_query: Sequence[Statement],
        on_refresh: Callable[[Sequence[list[Row]], Snapshot], Snapshot],
        with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]],
    ) -> None:
        """`snapshot` is what the statements of `refresh_query` last said of the bank. They are asked again with the
        first call: `on_refresh` gets their rows and the old snapshot, and returns the new one. `with_metadata` returns
        the units that have some metadata."""
        self._query = query
        self._reader = reader
        self._tokenizer = tokenizer
        self._snapshot = snapshot
        self._refresh_query = refresh_query
        self._on_refresh = on_refresh
        self._with_metadata = with_metadata
        self._terms = tokenizer.query(query.words)
        self._nodes = wants_nodes(query.where)
        self._last_visible_unit: int | None = None  # known from the first call on
        self._way = "exact"
        self.voices_changed = False

    @property
    def way(self) -> str:
        return self._way

    # Candidates

    def candidates(self, wanted: Wanted) -> Candidates:
        near = Nearest.of(self._query, wanted, self._among, self._conditions, self._snapshot.index)
        words = self._by_words(wanted) if wanted.words and self._terms else None
        answers = self._ask([*([words] if words else []), *near.statements(self._values)])
        by_words: list[list[Scored]] = [[] for _ in wanted.whose] if wanted.words else []
        for place, unit, score in answers.pop(0) if words else ():
            by_words[place].append(Scored(unit, score))
        found = near.read(chain(*answers))
        self._way = near.way
        while deeper := near.again(found):
            near = deeper
            found = near.read(chain(*self._ask(near.statements(self._values))))
        return Candidates(near.ranked(found), by_words, near.timed(found))

    def _by_words(self, wanted: Wanted) -> Statement:
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
        return "best_by_words", values, self._counted_units | {"lists": "\nUNION ALL\n".join(lists)}

    def _among(self, who: SaidBy | None, place: int) -> tuple[str, dict[str, Any]]:
        return ("", {}) if who is None else said_by(who, place, self._snapshot.voices.speakers)

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
                "question_terms": self._term_keys,
                "ending": ENDING,
            }
        )
        beside_parts = {
            "passes": self._conditions.text("u", "seq"),
            "cosine": self._cosine,
            "words": "packed_words" if sessions else "no_words",
        }
        passes = self._conditions.text("v", "unit")
        statements_of: dict[str, Statement] = {
            "totals": ("totals", values, self._counted_units),
            "document_frequency": ("document_frequency", values, self._counted_units),
            "said": ("ever_said", values, {"passes": passes, "among": among}),
        }
        if wanted:
            statements_of |= {
                "rows": ("units", values, {"wanted": ":units::bigint[]"}),
                "beside": ("units_beside", values, beside_parts),
            }
            if vectors:
                statements_of["vectors"] = ("vectors_of_units", [wanted], {})
            if codes:
                statements_of["codes"] = ("token_codes", [wanted], {})
        found = dict(zip(statements_of, self._ask(statements_of.values()), strict=True))
        rows = {row[0]: unit_of(row) for row in found.get("rows", ())}
        beside = Beside(found.get("beside", []), self._terms)
        own = np.array([seq for seq in beside.requested if seq in rows], np.int64)
        place = beside.places(own)
        own_turns, before, after = (
            beside.turns(some)
            for some in (place, beside.places(beside.before[place]), beside.places(beside.after[place]))
        )
        document_frequency: dict[int, int] = dict(found["document_frequency"])
        [(total, doubled_length)] = found["totals"]
        weights = {term: idf(total, document_frequency.get(term_key(term), 0)) for term in all_terms}
        return Evidence(
            rows=[rows[seq] for seq in own.tolist()],
            at=beside.at[place],
            sessions=beside.sessions[place],
            places=beside.numbers[place],
            speakers=beside.speakers[place],
            roles=beside.roles[place],
            own=own_turns,
            before=before,
            after=after,
            terms=Terms(
                idf=np.array([weights[term] for term in self._terms], np.float32),
                mean_length=doubled_length / 2 / total if total else 0.0,
                names=self._names(people),
                said=np.isin(self._term_keys, [row[0] for row in found["said"]]),
                telling=np.array(
                    [max((weights[term] for term in several), default=0.0) for several in about], np.float32
                ),
            ),
            said_before=lambda some: beside.endings(before.units[list(some)]),
            session=Sums(beside.session_counts(place), beside.lengths_of_sessions(place))
            if sessions
            else None,
            vectors=_matrix(found.get("vectors", []), own) if vectors else None,
            codes=_objects(dict(found.get("codes", [])), own) if codes else None,
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

    def _ask(self, several: Iterable[Statement]) -> list[list[Row]]:
        """The rows of each of several statements, in one round trip; the first call also refreshes the snapshot.

        In a large bank the slow statements run on a second connection, at the same time.
        """
        wanted = list(several)
        first = self._refresh_query if self._last_visible_unit is None else ()
        if not wanted:
            return []
        slow = {place for place, (name, _, _) in enumerate(wanted) if name in _SLOW}
        if not slow or len(slow) == len(wanted) or self._snapshot.units < _SECOND_CONNECTION_FROM:
            answers = self._together([*first, *wanted])
        else:
            with ThreadPoolExecutor(1) as pool:
                of_slow = pool.submit(self._together, [wanted[place] for place in sorted(slow)])
                fast = [one for place, one in enumerate(wanted) if place not in slow]
                here = self._together([*first, *fast])
                answers, slow_rows = here[: len(first)], iter(of_slow.result())
            fast_rows = iter(here[len(first) :])
            answers += [next(slow_rows if place in slow else fast_rows) for place in range(len(wanted))]
        if first:
            now = self._on_refresh(answers[: len(first)], self._snapshot)
            self.voices_changed = now.state != self._snapshot.state
            self._last_visible_unit = now.units
        return answers[len(first) :]

    def _together(self, several: Iterable[Statement]) -> list[list[Row]]:
        with self._reader.use() as sql:
            return sql.together(several)

    @property
    def _values(self) -> dict[str, Any]:
        last_visible_unit = _NO_LIMIT if self._last_visible_unit is None else self._last_visible_unit
        vector = self._query.vector
        return {
            **self._conditions.values,
            "last_visible_unit": last_visible_unit,
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
    def _counted_units(self) -> dict[str, str]:
        """Which units the statistics count: all, or all but the nodes of the tree."""
        if self._nodes:
            return {"totals": "", "document_frequency": "s.units + s.nodes", "postings": ""}
        return {"totals": "AND NOT t.node", "document_frequency": "s.units", "postings": "AND NOT p.node"}


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
class Snapshot:
    """What a bank last said of itself: who has spoken in it, its index, and how far its units go."""

    voices: Voices
    index: Indexed | None
    units: int
    """The number of the last unit."""
    state: object
    """What the database said of the voices and the index. Two snapshots with an equal state have equal ones."""


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
    """The first of the lists of units with a time; all after it are such lists too."""
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

    def statements(self, values: dict[str, Any]) -> list[Statement]:
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
        """What to ask instead; None if every list has as many units as are wanted, or no more can be found.

        Read 4x more rows if a full page held too few distinct units; if the index returned too few, repeat without the
        index.
        """
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
    """Whether the index of the vectors is worth asking under a filter.

    It is not where a filter leaves few vectors, which are found sooner by another index: those of an interval, or the
    derived units of a bank that has few of them.
    """
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
        return " ".join(fragment(name, row=row, unit=unit) for name in ("passes_snapshot", *names))


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


class BesideColumns(NamedTuple):
    """The rows of the statement `units_beside`, turned into columns that are named as in its SELECT.

    A doubled length counts a word of the text twice and one of the context once, as `base.pack` does: so a word of the
    context weighs half, and the numbers stay whole.
    """

    seq: Sequence[int] = ()
    requested: Sequence[bool] = ()
    """Whether it is one of the units that were asked for, and not only beside one."""
    at: Sequence[int] = ()
    session: Sequence[str | None] = ()
    place: Sequence[int] = ()
    before: Sequence[int | None] = ()
    after: Sequence[int | None] = ()
    speaker: Sequence[str | None] = ()
    role: Sequence[Any] = ()
    is_question: Sequence[bool] = ()
    doubled_length: Sequence[int | None] = ()
    terms: Sequence[bytes | None] = ()
    cosine: Sequence[float] = ()
    doubled_session_length: Sequence[int | None] = ()
    ending: Sequence[str] = ()
    session_terms: Sequence[bytes | None] = ()
    """The terms of the whole session, in the first of its rows and if they were asked for."""


class Beside:
    """Units with the turns right before and after them, in columns; the last entry stands for what is not there."""

    def __init__(self, rows: Sequence[Row], terms: Sequence[int]) -> None:
        of = BesideColumns(*zip(*rows, strict=True))
        keys = {label: label_key(label) for label in {*of.session, *of.speaker} if label is not None}
        self._units = np.array([*of.seq, -1], np.int64)
        self.requested = [seq for seq, is_requested in zip(of.seq, of.requested, strict=True) if is_requested]
        self.at = np.array([*of.at, 0], np.int64)
        self.sessions = np.array(
            [
                *(
                    -seq if label is None else keys[label]
                    for seq, label in zip(of.seq, of.session, strict=True)
                ),
                0,
            ],
            np.int64,
        )
        self.numbers = np.array([*of.place, 0], np.int64)
        self.before, self.after = (
            np.array([*(-1 if one is None else one for one in several), -1], np.int64)
            for several in (of.before, of.after)
        )
        self.speakers = np.array([*(0 if one is None else keys[one] for one in of.speaker), 0], np.int64)
        self.roles = np.array([*(-1 if one is None else ROLES.index(one) for one in of.role), -1], np.int8)
        self._is_question = np.array([*of.is_question, False], np.bool_)
        self._lengths = np.array([*((one or 0) / 2 for one in of.doubled_length), 0.0], np.float32)
        self._session_lengths = np.array(
            [*(np.nan if one is None else one / 2 for one in of.doubled_session_length), np.nan], np.float32
        )
        self._endings = [
            "" if who is None else ending(who, end) for who, end in zip(of.speaker, of.ending, strict=True)
        ]
        self._cosines = np.array([*of.cosine, 0.0], np.float32)
        self._counts = _counts([one or b"" for one in of.terms], terms)
        terms_of_sessions = {
            keys[session]: packed
            for session, packed in zip(of.session, of.session_terms, strict=True)
            if session is not None and packed is not None
        }
        session_counts = _counts(list(terms_of_sessions.values()), terms)
        self._session_counts = dict(zip(terms_of_sessions, session_counts, strict=False))

    def lengths_of_sessions(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The length of the whole session of some units; of what nobody said, its own."""
        lengths = self._session_lengths[places]
        return np.where(np.isnan(lengths), self._lengths[places], lengths)

    def session_counts(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """How often each term stands in the whole session of some units; in what nobody said, in itself."""
        found = self._counts[places].copy()
        for row, session in enumerate(self.sessions[places].tolist()):
            found[row] = self._session_counts.get(session, found[row])
        return found

    def places(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each of some units in the columns; for a unit that is not there, that of the last entry."""
        last = len(self._units) - 1
        found = np.searchsorted(self._units[:last], units)
        return np.where(self._units[found.clip(max=last)] == units, found, last)

    def endings(self, units: NDArray[np.int64]) -> list[str]:
        """The end of what some units say; nothing for what is not there, or nobody said."""
        endings = [*self._endings, ""]
        return [endings[place] for place in self.places(units).tolist()]

    def turns(self, places: NDArray[np.int64]) -> Turns:
        return Turns(
            self._units[places],
            self._cosines[places],
            self._counts[places],
            self._lengths[places],
            self._is_question[places],
        )


def _counts(packed: Sequence[bytes], terms: Sequence[int]) -> NDArray[np.float32]:
    """How often each term occurs in units or sessions, by their packed terms; a row of zeros at the end."""
    found = np.zeros((len(packed) + 1, len(terms)), np.float32)
    every = np.frombuffer(b"".join(packed), dtype=PACKED)
    owners = np.repeat(np.arange(len(packed)), [len(one) // PACKED.itemsize for one in packed])
    term_of_entry = np.ascontiguousarray(every["term"])
    for column, term in enumerate(terms):
        here = np.flatnonzero(term_of_entry == np.uint64(term))
        found[:, column] = np.bincount(owners[here], every["halves"][here], minlength=len(found)) / 2
    return found
