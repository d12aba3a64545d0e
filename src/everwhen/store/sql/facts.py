"""Facts: one row for each version; every change is read, decided and written in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import Any, TypeVar

from everwhen.store.as_of import FOREVER, AsOf
from everwhen.store.facts import (
    ConflictRow,
    DeclaredPredicate,
    FactLedger,
    FactRow,
    FadingFact,
    Report,
    ShownFacts,
)
from everwhen.store.maintenance import TurnForgotten
from everwhen.store.sql.ledger import SqlLedger, to_conflict, to_declared, to_row
from everwhen.store.sql.part import SqlPart
from everwhen.store.sql.session import R, Sql
from everwhen.store.terms import hash_term
from everwhen.types.instants import from_text, to_text

T = TypeVar("T")

_PAGE = 2000
_HALF_LIFE = "half_life:"


class SqlFacts(SqlPart):
    """The `FactStore` of one bank. The contract of each method is in `everwhen.store.facts`."""

    def write(self, change: Callable[[FactLedger], R], read: Sequence[str] = ()) -> R:
        def work(sql: Sql) -> R:
            known = sql.run("known_turns", (list(read),)).fetchall()
            if len(known) < len(set(read)):
                raise TurnForgotten("a turn was forgotten while it was being read")
            newest = sql.run("newest_recorded", (list(read),)).fetchone()[0]
            held_at = from_text(newest) if newest else None
            return change(SqlLedger(sql, self._store, held_at))

        return self._writer.retried(work)

    # Reading

    def valid_at(
        self,
        instant: datetime,
        subjects: Set[str] | None,
        predicates: Set[str] | None,
        known_at: datetime | None,
    ) -> list[FactRow]:
        where, values = _keys(subjects, predicates)
        values["instant"] = to_text(instant)
        if known_at is None:
            return self._rows("facts_now", values, where)
        values["known_at"] = to_text(known_at)
        return self._rows("facts_known_at", values, where, then=True)

    def history(self, subject: str, predicate: str | None, *, versions: bool) -> list[FactRow]:
        where, values = _keys({subject}, None if predicate is None else {predicate})
        return self._rows("fact_versions" if versions else "fact_history", values, where)

    def every_version(self) -> Iterator[FactRow]:
        for (key,) in self._read("all_fact_keys"):
            yield from self._rows("fact_versions", {"key": key}, "k.seq = :key")

    def ids(self) -> list[str]:
        return [row[0] for row in self._read("all_fact_ids")]

    def fading(self, instant: datetime) -> Iterator[FadingFact]:
        page: dict[str, Any] = {"after": 0, "instant": to_text(instant), "page": _PAGE}
        while rows := self._read("open_fading_facts", page):
            for seq, valid_from, confirmed_at, confidence, *kind in rows:
                since = max(valid_from, confirmed_at or "")
                yield FadingFact(seq, from_text(since), confidence, *kind)
            page["after"] = rows[-1][0]

    def by_seq(self, seqs: Sequence[int]) -> list[FactRow]:
        return self._rows("facts_by_seq", {"seqs": list(seqs)})

    def by_id(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> list[FactRow]:
        values = {"ids": list(fact_ids), "known_at": to_text(known_at or FOREVER)}
        return self._rows("believed_by_id", values, then=known_at is not None)

    def newest(self, fact_id: str) -> FactRow | None:
        return next(iter(self._rows("newest_version", {"id": fact_id})), None)

    def shown(
        self, turns: Sequence[str], facts: Sequence[str], instant: datetime, known_at: datetime | None = None
    ) -> ShownFacts:
        values = {
            "turns": list(turns),
            "facts": list(facts),
            "instant": to_text(instant),
            "known_at": to_text(known_at or FOREVER),
        }
        found = {"found": "found_facts"}
        shown = {"shown": "versions_shown"} | found
        then, now = (
            {"columns": "fact_columns" if name is None else "fact_columns_then"} for name in (known_at, None)
        )
        with self._reader.use() as sql:
            derived, believed, holding, before, sources, own = sql.together(
                [
                    ("sources_named", {"turns": list(turns)}, {}),
                    ("believed_found", values, found | then),
                    ("holding_in_slots", values, found | now),
                    ("ended_when", values, shown | now),
                    ("sources_shown", values, shown),
                    ("bank_values", (), {}),
                ]
            )
        return ShownFacts(
            _grouped(derived),
            {row.id: row for row in map(to_row, believed)},
            _grouped((fact, to_row(row)) for *row, fact in holding),
            {seq: to_row(row) for *row, seq in before},
            _grouped((fact, source) for fact, source, _ in sources),
            frozenset(source for _, source, is_turn in sources if is_turn),
            _half_lives(own),
        )

    def naming(self, words: str) -> list[FactRow]:
        found: dict[int, FactRow] | None = None
        for term in self._store.tokenizer.counts([words])[0]:
            rows = self._rows("facts_naming", {"term": hash_term(term).to_bytes(8, "little")})
            found = {row.seq: row for row in rows if found is None or row.seq in found}
        return list((found or {}).values())

    def beside_corrected(self) -> list[tuple[FactRow, datetime, bool]]:
        found = []
        for name, own in (("facts_corrected_before", True), ("facts_of_corrected_sources", False)):
            rows = self._read(name, columns="fact_columns")
            found += [(to_row(row[:-1]), from_text(row[-1]), own) for row in rows]
        return found

    def known_turns(self, ids: Sequence[str]) -> set[str]:
        return {id_ for id_, _ in self._read("known_turns", (list(ids),))}

    def sources(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> dict[str, list[str]]:
        values = {"ids": list(fact_ids), "known_at": to_text(known_at or FOREVER)}
        found: dict[str, list[str]] = {}
        for fact, source in self._read("sources_of_facts", values):
            found.setdefault(fact, []).append(source)
        return found

    def believed_then(self, fact_ids: Sequence[str], then: AsOf) -> list[FactRow]:
        return self._rows("believed_then", {"ids": list(fact_ids), **then.texts})

    def sources_then(self, fact_ids: Sequence[str], then: AsOf) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        values = {"ids": list(fact_ids), **then.texts}
        for fact, source in self._read("sources_then", values):
            found.setdefault(fact, []).append(source)
        return found

    def from_sources(self, sources: Sequence[str]) -> list[str]:
        rows = self._read("facts_from_sources", (list(sources),))
        return [row[0] for row in rows]

    def conflicts(self) -> list[ConflictRow]:
        return [to_conflict(row) for row in self._read("open_conflicts")]

    def proposals(self) -> list[FactRow]:
        return self._rows("proposals", {})

    def reports(self, until: datetime) -> list[Report]:
        rows = self._read("reports", (to_text(until),))
        return [Report(kind, ref, from_text(at)) for kind, ref, at in rows]

    def predicates(self) -> list[DeclaredPredicate]:
        return [to_declared(row) for row in self._read("declared_predicates")]

    # What a bank has of its own

    def half_lives(self) -> dict[str, float]:
        return _half_lives(self._read("bank_values"))

    def set_half_life(self, domain: str, days: float) -> None:
        with self._writer.transaction() as sql:
            sql.run("put_bank_value", (f"{_HALF_LIFE}{domain}", repr(days)))

    def texts(self) -> Iterator[tuple[str, str]]:
        yield from self._read("fact_texts")

    def _rows(
        self, name: str, values: dict[str, Any], where: str = "", *, then: bool = False
    ) -> list[FactRow]:
        columns = "fact_columns_then" if then else "fact_columns"
        return [to_row(row) for row in self._read(name, values, columns=columns, where=where)]


def _keys(subjects: Set[str] | None, predicates: Set[str] | None) -> tuple[str, dict[str, Any]]:
    tests: list[str] = []
    values: dict[str, Any] = {}
    for name, keys in (("subject", subjects), ("predicate", predicates)):
        if keys is not None:
            own = {f"{name}{number}": key for number, key in enumerate(sorted(keys))}
            tests.append(f"k.{name}_key IN ({', '.join(f':{one}' for one in own)})" if own else "FALSE")
            values |= own
    return " AND ".join(tests) or "TRUE", values


def _half_lives(values: Iterable[tuple[str, str]]) -> dict[str, float]:
    return {key.removeprefix(_HALF_LIFE): float(value) for key, value in values if key.startswith(_HALF_LIFE)}


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found
