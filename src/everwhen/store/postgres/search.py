"""The search inside PostgreSQL: one question to one bank, each call in one round trip, nothing of the bank in memory.

Candidates by meaning come from the vectors of the bank, those by words from its postings (`search.sql`). What a search
tells of was written before its first call: later units have higher numbers, and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.store.bm25 import K1, B, idf
from everwhen.store.postgres.beside import Beside
from everwhen.store.postgres.connection import PostgresConnection, term_key
from everwhen.store.postgres.filters import Conditions, fragment, said_by, wants_nodes
from everwhen.store.postgres.nearest import Nearest, Seen
from everwhen.store.postgres.values import HalfVector
from everwhen.store.search import (
    ENDING,
    Candidates,
    Evidence,
    Links,
    Near,
    SaidBy,
    Scored,
    SearchQuery,
    Sums,
    Terms,
    Wanted,
)
from everwhen.store.sql.rows import unit_of
from everwhen.store.sql.session import Values
from everwhen.store.terms import Tokenizer
from everwhen.types import LinkType, UnitRow

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
    """A question's view of a bank: the contract of each call is in `everwhen.store.search`."""

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
            among, told = self._among(who, place)
            lists.append(fragment("best_by_words_list", place=place, passes=passes, among=among))
            values |= told
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
        told = list(dict.fromkeys([*self._terms, *(term for several in about for term in several)]))
        among, said = self._among(who, 0)
        values = (
            self._values
            | said
            | {
                "units": wanted,
                "terms": [term_key(term) for term in told],
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
        weights = {term: idf(total, standing.get(term_key(term), 0)) for term in told}
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
