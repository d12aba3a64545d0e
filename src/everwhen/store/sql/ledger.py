"""Facts inside one write transaction: what is read before a decision, and what is written after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from everwhen.store.facts import ConflictRow, DeclaredPredicate, FactKey, FactRow, Outcome, Report
from everwhen.store.sql.session import Rows, Sql
from everwhen.store.sql.units import index_units, remove_units
from everwhen.store.vector_model import VectorModel
from everwhen.types.instants import from_text, to_text

if TYPE_CHECKING:
    from everwhen.store.sql.store import SqlStore


LAST = "f.valid_from <= :instant ORDER BY f.valid_from DESC LIMIT 1"
NEXT = "f.valid_from > :instant ORDER BY f.valid_from LIMIT 1"
BETWEEN = "f.valid_from BETWEEN :first AND :last ORDER BY f.valid_from"
"""Which versions the statement `started` reads."""


class SqlLedger:
    """The `FactLedger` of one open transaction."""

    def __init__(self, sql: Sql, store: SqlStore, held_at: datetime | None = None) -> None:
        """`held_at` is when the memory came to hold what is written here, where that is not its transaction time."""
        self._sql = sql
        self._store = store
        self._held_at = held_at

    def key(self, subject_key: str, predicate_key: str, subject: str, predicate: str) -> FactKey:
        found = self.find_key(subject_key, predicate_key)
        if found is not None:
            return found
        seq = self._number("insert_fact_key", (subject_key, predicate_key, subject, predicate))
        return FactKey(seq, subject, predicate, None)

    def find_key(self, subject_key: str, predicate_key: str) -> FactKey | None:
        row = self._one("fact_key", (subject_key, predicate_key))
        return to_key(row) if row else None

    def keys_of(self, predicate_keys: Sequence[str]) -> list[tuple[FactKey, str]]:
        rows = self._do("keys_of_predicates", (list(predicate_keys),)).fetchall()
        return [(to_key(row[:4]), row[4]) for row in rows]

    def touch(self, key: int, at: datetime) -> datetime:
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
        return next(iter(self._started(LAST, slot, instant=instant)), None)

    def next_started(self, slot: int, instant: datetime) -> FactRow | None:
        return next(iter(self._started(NEXT, slot, instant=instant)), None)

    def started_between(self, slot: int, first: datetime, last: datetime) -> list[FactRow]:
        return self._started(BETWEEN, slot, first=first, last=last)

    def _started(self, which: str, slot: int, **instants: datetime) -> list[FactRow]:
        values = {"slot": slot, **{name: to_text(instant) for name, instant in instants.items()}}
        return [to_row(row) for row in self._sql.run("started", values, columns="fact_columns", which=which)]

    def disputed(self, slot: int) -> list[FactRow]:
        return self._rows("disputed_in_slot", slot=slot)

    def proposed(self, slot: int) -> list[FactRow]:
        return self._rows("proposed_in_slot", slot=slot)

    def unsettled(self, key: int) -> list[FactRow]:
        return self._rows("unsettled_of_key", key=key)

    def fact(self, fact_id: str) -> FactRow | None:
        return self._first("newest_version", id=fact_id)

    def insert(self, row: FactRow) -> FactRow:
        values = _values(row) | {"held_from": self._held(row.recorded_at)}
        return replace(row, seq=self._number("insert_fact", values))

    def supersede(self, row: FactRow, at: datetime, outcome: Outcome, reason: str | None = None) -> None:
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
        for source in sources:
            values = {"fact": fact_id, "source": source}
            self._do("delete_fact_source", values)
            self._do("delete_fact_unit_turn", values)

    def adopt(self, fact_id: str, other: str) -> None:
        self._do("adopt_sources", {"fact": fact_id, "other": other})
        self._do("adopt_unit_turns", {"fact": fact_id, "other": other})

    def add_unit(self, row: FactRow, text: str, vectors: NDArray[np.float32], made_with: VectorModel) -> None:
        self._store.still_ours(self._sql, made_with)
        terms = self._store.tokenizer.packed([text], [""])[0]
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
