"""Facts: one row for each version; every change is read, decided and written in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import BankRows, R, Rows, Sql, VectorModel, hash_term, index_units, remove_units
from everwhen.store.rows import (
    FOREVER,
    AsOf,
    ConflictRow,
    DeclaredPredicate,
    FactKey,
    FactRow,
    FadingFact,
    Outcome,
    Report,
    ShownFacts,
    TurnForgotten,
)
from everwhen.types.times import from_text, to_text

LAST = "f.valid_from <= :instant ORDER BY f.valid_from DESC LIMIT 1"
NEXT = "f.valid_from > :instant ORDER BY f.valid_from LIMIT 1"
BETWEEN = "f.valid_from BETWEEN :first AND :last ORDER BY f.valid_from"
"""Which versions the statement `started` reads."""


class FactLedger:
    """The facts of a bank inside one write transaction: nobody else writes between a read and a write."""

    def __init__(self, sql: Sql, bank: BankRows, held_at: datetime | None = None) -> None:
        """`held_at` is when the memory came to hold what is written here, where that is not its transaction time."""
        self._sql = sql
        self._bank = bank
        self._held_at = held_at

    def key(self, subject_key: str, predicate_key: str, subject: str, predicate: str) -> FactKey:
        """The key, made when it is new."""
        found = self.find_key(subject_key, predicate_key)
        if found is not None:
            return found
        seq = self._number("insert_fact_key", (subject_key, predicate_key, subject, predicate))
        return FactKey(seq, subject, predicate, None)

    def find_key(self, subject_key: str, predicate_key: str) -> FactKey | None:
        row = self._one("fact_key", (subject_key, predicate_key))
        return to_key(row) if row else None

    def keys_of(self, predicate_keys: Sequence[str]) -> list[tuple[FactKey, str]]:
        """The keys under some predicates, each with the predicate's key."""
        rows = self._do("keys_of_predicates", (list(predicate_keys),)).fetchall()
        return [(to_key(row[:4]), row[4]) for row in rows]

    def touch(self, key: int, at: datetime) -> datetime:
        """Note a transaction time and return the one that counts: that of a key never runs backwards."""
        row = self._one("touch_fact_key", (to_text(at), key))
        return from_text(row[0]) if row else at

    def slot(self, key: int, name: str) -> int:
        row = self._one("fact_slot", (key, name))
        if row:
            return int(row[0])
        return self._number("insert_fact_slot", (key, name))

    def slots(self, key: int) -> list[int]:
        return [row[0] for row in self._do("slots_of_key", (key,))]

    def last_started(self, slot: int, instant: datetime) -> FactRow | None:
        """The believed version that started last, at or before an instant."""
        return next(iter(self._started(LAST, slot, instant=instant)), None)

    def next_started(self, slot: int, instant: datetime) -> FactRow | None:
        """The believed version that starts first after an instant."""
        return next(iter(self._started(NEXT, slot, instant=instant)), None)

    def started_between(self, slot: int, first: datetime, last: datetime) -> list[FactRow]:
        """The believed versions that start from `first` to `last`, both included."""
        return self._started(BETWEEN, slot, first=first, last=last)

    def _started(self, which: str, slot: int, **instants: datetime) -> list[FactRow]:
        values = {"slot": slot, **{name: to_text(instant) for name, instant in instants.items()}}
        return [to_row(row) for row in self._sql.run("started", values, columns="fact_columns", which=which)]

    def disputed(self, slot: int) -> list[FactRow]:
        return self._rows("disputed_in_slot", slot=slot)

    def proposed(self, slot: int) -> list[FactRow]:
        return self._rows("proposed_in_slot", slot=slot)

    def unsettled(self, key: int) -> list[FactRow]:
        """All believed, disputed or proposed versions of a key, in the order in which they were recorded."""
        return self._rows("unsettled_of_key", key=key)

    def fact(self, fact_id: str) -> FactRow | None:
        """The newest version of a fact."""
        return self._first("newest_version", id=fact_id)

    def insert(self, row: FactRow) -> FactRow:
        values = _values(row) | {"held_from": self._held(row.recorded_at)}
        return replace(row, seq=self._number("insert_fact", values))

    def supersede(self, row: FactRow, at: datetime, outcome: Outcome, reason: str | None = None) -> None:
        """End the belief in a version at a transaction time."""
        values = {"seq": row.seq, "at": to_text(at), "outcome": outcome, "reason": reason}
        self._do("supersede_fact", values | {"held_to": self._held(at)})

    def _held(self, at: datetime) -> str | None:
        """When a change of a transaction time was held: not before its turns were recorded. None for that time itself.

        A turn may have been said in the future, by its own clock; the memory held it all the same.
        """
        if self._held_at is None:
            return None
        return to_text(max(self._held_at, at) if at <= datetime.now(UTC) else self._held_at)

    def reinforce(self, row: FactRow, at: datetime, confirmed_at: datetime, support: int) -> None:
        """Log that an equal fact was asserted (support 1) or confirmed (0)."""
        values = {
            "seq": row.seq,
            "fact": row.id,
            "at": to_text(at),
            "confirmed_at": to_text(confirmed_at),
            "support": support,
        }
        self._do("insert_confirmation", values)
        self._do("sum_up_confirmations", values)

    def cite(self, fact_id: str, sources: Iterable[str], at: datetime) -> None:
        for source in sources:
            values = {"fact": fact_id, "source": source, "at": to_text(at)}
            self._do("insert_fact_source", values)
            self._do("insert_fact_unit_turn", values)

    def uncite(self, fact_id: str, sources: Iterable[str]) -> None:
        """Remove sources from a fact that has others."""
        for source in sources:
            values = {"fact": fact_id, "source": source}
            self._do("delete_fact_source", values)
            self._do("delete_fact_unit_turn", values)

    def adopt(self, fact_id: str, other: str) -> None:
        """Give a fact the sources of another one, which turned out to be the same."""
        self._do("adopt_sources", {"fact": fact_id, "other": other})
        self._do("adopt_unit_turns", {"fact": fact_id, "other": other})

    def add_unit(self, row: FactRow, text: str, vectors: NDArray[np.float32], made_with: VectorModel) -> None:
        """Make a fact searchable by its words and its meaning."""
        self._bank.check_model(self._sql, made_with)
        terms = self._bank.tokenizer.packed([text], [""])[0]
        unit = self._number(
            "insert_fact_unit",
            {
                "id": row.id,
                "text": text,
                # The index's time coordinate: `as_of` then finds what had begun to be true by an instant.
                "mentioned_at": to_text(row.valid_from),
                "recorded_at": to_text(row.recorded_at),
                "pieces": len(vectors),
                "terms": terms,
            },
        )
        index_units(self._sql, {unit: vectors}, {unit: terms})

    def open_conflict(self, conflict: ConflictRow, key: int) -> None:
        self._do(
            "insert_conflict",
            (
                conflict.id,
                key,
                conflict.incumbent,
                conflict.challenger,
                conflict.why,
                to_text(conflict.opened_at),
            ),
        )

    def conflict(self, conflict_id: str) -> ConflictRow | None:
        row = self._one("conflict", (conflict_id,))
        return to_conflict(row) if row else None

    def open_conflicts(self, key: int) -> list[ConflictRow]:
        return [to_conflict(row) for row in self._do("open_conflicts_of_key", (key,)).fetchall()]

    def settle(self, conflict_id: str, at: datetime, kept: str | None) -> None:
        self._do("settle_conflict", (to_text(at), kept, conflict_id))

    def predicates(self) -> list[DeclaredPredicate]:
        """What the bank declares, as it is at this moment."""
        return [to_declared(row) for row in self._do("declared_predicates", ()).fetchall()]

    def declare(self, predicate: DeclaredPredicate) -> None:
        synonyms = json.dumps(list(predicate.synonyms), ensure_ascii=False)
        self._do(
            "declare_predicate",
            (predicate.key, predicate.name, int(predicate.multi), predicate.domain, synonyms),
        )

    def report(self, report: Report) -> None:
        self._do("insert_report", (report.kind, report.ref, to_text(report.at)))

    def erase(self, fact_ids: Sequence[str]) -> None:
        """Remove every version, confirmation and unit of some facts: what forgetting asks for."""
        for fact in fact_ids:
            row = self._one("known_unit", (fact,))
            if row:
                remove_units(self._sql, [row[0]])
            for name in ("erase_confirmations", "erase_sources", "erase_fact"):
                self._do(name, (fact,))

    def _do(self, name: str, values: Any) -> Rows:
        return self._sql.run(name, values)

    def _one(self, name: str, values: Any) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._do(name, values).fetchone()
        return row

    def _number(self, name: str, values: Any) -> int:
        """Insert a row; its number."""
        return int(self._do(name, values).fetchone()[0])

    def _rows(self, name: str, **values: Any) -> list[FactRow]:
        return [to_row(row) for row in self._sql.run(name, values, columns="fact_columns")]

    def _first(self, name: str, **values: Any) -> FactRow | None:
        row = self._sql.run(name, values, columns="fact_columns").fetchone()
        return to_row(row) if row else None


def to_row(row: tuple[Any, ...]) -> FactRow:
    (
        seq, id_, version, slot, key, subject, predicate, object_, object_key, domain, grain, valid_from, claimed_to,
        valid_to, stated_at, recorded_at, superseded_at, confidence, origin, standing, act, outcome, reason, support,
        confirmed_at, tokens, zone,
    ) = row  # fmt: skip
    return FactRow(
        id=id_,
        version=version,
        slot=slot,
        object=object_,
        object_key=object_key,
        domain=domain,
        grain=grain,
        valid_from=from_text(valid_from),
        claimed_to=from_text(claimed_to) if claimed_to else None,
        valid_to=from_text(valid_to) if valid_to else None,
        stated_at=from_text(stated_at),
        recorded_at=from_text(recorded_at),
        confidence=confidence,
        origin=origin,
        act=act,
        standing=standing,
        superseded_at=from_text(superseded_at) if superseded_at else None,
        outcome=outcome,
        reason=reason,
        support=support,
        confirmed_at=from_text(confirmed_at) if confirmed_at else None,
        tokens=tokens,
        seq=seq,
        key=key,
        subject=subject,
        predicate=predicate,
        zone=zone,
    )


def _values(row: FactRow) -> dict[str, Any]:
    """The fields of a version as the values of a statement: instants are texts."""
    values = {one.name: getattr(row, one.name) for one in fields(row)}
    return {name: to_text(value) if isinstance(value, datetime) else value for name, value in values.items()}


def to_key(row: tuple[Any, ...]) -> FactKey:
    seq, subject, predicate, last_at = row
    return FactKey(seq, subject, predicate, from_text(last_at) if last_at else None)


def to_conflict(row: tuple[Any, ...]) -> ConflictRow:
    id_, incumbent, challenger, why, opened, resolved, kept = row
    return ConflictRow(
        id_, incumbent, challenger, why, from_text(opened), from_text(resolved) if resolved else None, kept
    )


def to_declared(row: tuple[Any, ...]) -> DeclaredPredicate:
    key, name, multi, domain, synonyms = row
    return DeclaredPredicate(key, name, bool(multi), domain, tuple(json.loads(synonyms)))


T = TypeVar("T")

_PAGE = 2000
_HALF_LIFE = "half_life:"


class FactStore:
    """Facts as versions with valid time and transaction time. Used by: `facts/`. Uses: one database.

    An instant selects what is valid then; `known_at` selects what was believed at that transaction time, None what is
    believed now.
    """

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    def write(self, change: Callable[[FactLedger], R], read: Sequence[str] = ()) -> R:
        """Run a change in one transaction that no other writer can interleave with; what it returns, once committed.

        It may be run again, from the beginning, where the database could not commit it: it has no effect but on the
        ledger. `read` are the turns that were read for it: raises `TurnForgotten` where one of them is gone.
        """

        def work(sql: Sql) -> R:
            known = sql.run("known_turns", (list(read),)).fetchall()
            if len(known) < len(set(read)):
                raise TurnForgotten("a turn was forgotten while it was being read")
            newest = sql.run("newest_recorded", (list(read),)).fetchone()[0]
            held_at = from_text(newest) if newest else None
            return change(FactLedger(sql, self._bank, held_at))

        return self._bank.writer.retried(work)

    # Reading

    def valid_at(
        self,
        instant: datetime,
        subjects: Set[str] | None,
        predicates: Set[str] | None,
        known_at: datetime | None,
    ) -> list[FactRow]:
        """What holds at an instant, of some or all subjects and predicates (their keys)."""
        where, values = _keys(subjects, predicates)
        values["instant"] = to_text(instant)
        if known_at is None:
            return self._rows("facts_now", values, where)
        values["known_at"] = to_text(known_at)
        return self._rows("facts_known_at", values, where, past=True)

    def history(self, subject: str, predicate: str | None, *, versions: bool) -> list[FactRow]:
        """Of a key (or a subject): what is believed, in valid-time order, or every version as recorded."""
        where, values = _keys({subject}, None if predicate is None else {predicate})
        return self._rows("fact_versions" if versions else "fact_history", values, where)

    def every_version(self) -> Iterator[FactRow]:
        for (key,) in self._bank.read("all_fact_keys"):
            yield from self._rows("fact_versions", {"key": key}, "k.seq = :key")

    def ids(self) -> list[str]:
        """Every fact once, whatever became of it."""
        return [row[0] for row in self._bank.read("all_fact_ids")]

    def fading(self, instant: datetime) -> Iterator[FadingFact]:
        """Everything believed and in force at an instant, with only what is needed to compute the age of each."""
        page: dict[str, Any] = {"after": 0, "instant": to_text(instant), "page": _PAGE}
        while rows := self._bank.read("open_fading_facts", page):
            for seq, valid_from, confirmed_at, confidence, *kind in rows:
                since = max(valid_from, confirmed_at or "")
                yield FadingFact(seq, from_text(since), confidence, *kind)
            page["after"] = rows[-1][0]

    def by_seq(self, seqs: Sequence[int]) -> list[FactRow]:
        return self._rows("facts_by_seq", {"seqs": list(seqs)})

    def by_id(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> list[FactRow]:
        """The believed version of each fact that has one."""
        values = {"ids": list(fact_ids), "known_at": to_text(known_at or FOREVER)}
        return self._rows("believed_by_id", values, past=known_at is not None)

    def newest(self, fact_id: str) -> FactRow | None:
        return next(iter(self._rows("newest_version", {"id": fact_id})), None)

    def shown(
        self, turns: Sequence[str], facts: Sequence[str], instant: datetime, known_at: datetime | None = None
    ) -> ShownFacts:
        """The facts that came from some turns, and some by their ids, with all that a recall shows of them: as it was
        known then, and what holds at an instant."""
        values = {
            "turns": list(turns),
            "facts": list(facts),
            "instant": to_text(instant),
            "known_at": to_text(known_at or FOREVER),
        }
        found = {"found": "found_facts"}
        shown = {"shown": "versions_shown"} | found
        moment, now = (
            {"columns": "fact_columns" if name is None else "fact_columns_then"} for name in (known_at, None)
        )
        with self._bank.reader.use() as sql:
            derived, believed, holding, before, sources, own = sql.together(
                [
                    ("sources_named", {"turns": list(turns)}, {}),
                    ("believed_found", values, found | moment),
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
        """Believed facts that contain some words."""
        found: dict[int, FactRow] | None = None
        for term in self._bank.tokenizer.counts([words])[0]:
            rows = self._rows("facts_naming", {"term": hash_term(term).to_bytes(8, "little")})
            found = {row.seq: row for row in rows if found is None or row.seq in found}
        return list((found or {}).values())

    def beside_corrected(self) -> list[tuple[FactRow, datetime, bool]]:
        """Facts that a user's correction casts doubt on, when it was made, and whether the value itself was
        the one corrected (else it shares a source with it)."""
        found = []
        for name, own in (("facts_corrected_before", True), ("facts_of_corrected_sources", False)):
            rows = self._bank.read(name, columns="fact_columns")
            found += [(to_row(row[:-1]), from_text(row[-1]), own) for row in rows]
        return found

    def known_turns(self, ids: Sequence[str]) -> set[str]:
        """Those of some ids that are turns of this bank."""
        return {id_ for id_, _ in self._bank.read("known_turns", (list(ids),))}

    def sources(self, fact_ids: Sequence[str], known_at: datetime | None = None) -> dict[str, list[str]]:
        values = {"ids": list(fact_ids), "known_at": to_text(known_at or FOREVER)}
        found: dict[str, list[str]] = {}
        for fact, source in self._bank.read("sources_of_facts", values):
            found.setdefault(fact, []).append(source)
        return found

    def believed_then(self, fact_ids: Sequence[str], moment: AsOf) -> list[FactRow]:
        """The version of each fact that was believed by what had been stated by `as_of` and was held at `known_at`.

        What was learned from turns was held from when they were recorded on; what a person said, from its transaction
        time on.
        """
        values = {"ids": list(fact_ids), **_bounds(moment)}
        return self._rows("believed_then", values, past=not moment.is_now)

    def versions_then(self, moment: AsOf) -> list[tuple[FactRow, bool]]:
        """Every version that had been stated and was held then, and whether it stood: in the order of recording."""
        rows = self._bank.read("versions_then", _bounds(moment), columns="fact_columns_then")
        return [(to_row(row[:-1]), bool(row[-1])) for row in rows]

    def conflicts_until(self, instant: datetime) -> list[ConflictRow]:
        """Those that were opened by then, whatever became of them."""
        return [to_conflict(row) for row in self._bank.read("conflicts_until", (to_text(instant),))]

    def sources_then(self, fact_ids: Sequence[str], moment: AsOf) -> dict[str, list[str]]:
        """The sources that had been said and recorded by then."""
        found: dict[str, list[str]] = {}
        values = {"ids": list(fact_ids), **moment.texts}
        for fact, source in self._bank.read("sources_then", values):
            found.setdefault(fact, []).append(source)
        return found

    def from_sources(self, sources: Sequence[str]) -> list[str]:
        """Ids of the facts that came from some turns or other sources."""
        rows = self._bank.read("facts_from_sources", (list(sources),))
        return [row[0] for row in rows]

    def conflicts(self) -> list[ConflictRow]:
        """Those that nobody has resolved yet."""
        return [to_conflict(row) for row in self._bank.read("open_conflicts")]

    def proposals(self) -> list[FactRow]:
        """What waits for a person's yes or no."""
        return self._rows("proposals", {})

    def reports(self, until: datetime) -> list[Report]:
        rows = self._bank.read("reports", (to_text(until),))
        return [Report(kind, ref, from_text(at)) for kind, ref, at in rows]

    def predicates(self) -> list[DeclaredPredicate]:
        return [to_declared(row) for row in self._bank.read("declared_predicates")]

    # What a bank has of its own

    def half_lives(self) -> dict[str, float]:
        """Days by domain, where the bank has its own."""
        return _half_lives(self._bank.read("bank_values"))

    def set_half_life(self, domain: str, days: float) -> None:
        with self._bank.writer.transaction() as sql:
            sql.run("put_bank_value", (f"{_HALF_LIFE}{domain}", repr(days)))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Id and searchable text of every fact that is searchable."""
        yield from self._bank.read("fact_texts")

    def _rows(
        self, name: str, values: dict[str, Any], where: str = "", *, past: bool = False
    ) -> list[FactRow]:
        columns = "fact_columns_then" if past else "fact_columns"
        return [to_row(row) for row in self._bank.read(name, values, columns=columns, where=where)]


def _bounds(moment: AsOf) -> dict[str, str]:
    """When versions had been stated and were held; and `known_at` for their confirmations, which have one time only."""
    as_of, held_at = moment.as_of or FOREVER, moment.known_at or FOREVER
    return {"as_of": to_text(as_of), "held_at": to_text(held_at), "known_at": to_text(min(as_of, held_at))}


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
