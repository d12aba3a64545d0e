"""The writes of one extracted batch, inside the transaction that `SqlGraph.writing` opens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from everwhen.instants import from_text, to_text
from everwhen.store.graph import EntityRow, Heard, NewUnit
from everwhen.store.maintenance import TurnForgotten
from everwhen.store.sql.identities import new_entity
from everwhen.store.sql.session import Sql
from everwhen.store.sql.units import index_units, remove_units
from everwhen.store.terms import Tokenizer
from everwhen.types import LinkType


class SqlGraphWriter:
    """Implements `GraphWriter` over one open transaction."""

    def __init__(self, sql: Sql, tokenizer: Tokenizer) -> None:
        self._sql = sql
        self._tokenizer = tokenizer
        self._now = to_text(datetime.now(UTC))

    def add_units(self, units: Sequence[NewUnit], extractor: str, version: str) -> dict[str, int]:
        speakers = self._speakers(units)
        packed = self._tokenizer.packed(
            [f"{speakers[unit.turns[0]]} {unit.text}" for unit in units], [unit.context for unit in units]
        )
        seqs: dict[str, int] = {}
        for unit, terms in zip(units, packed, strict=True):
            known = self._sql.run("known_unit", (unit.id,)).fetchone()
            seqs[unit.id] = (
                known[0]
                if known
                else self._add_unit(unit, terms, speakers[unit.turns[0]], extractor, version)
            )
        return seqs

    def _speakers(self, units: Sequence[NewUnit]) -> dict[str, str]:
        ids = sorted({unit.turns[0] for unit in units})
        return dict(self._sql.run("turn_speakers", (ids,)).fetchall())

    def _add_unit(self, unit: NewUnit, terms: bytes, speaker: str, extractor: str, version: str) -> int:
        when = unit.occurred
        row = self._sql.run(
            "insert_derived_unit",
            {
                "id": unit.id,
                "kind": unit.kind,
                "network": unit.network,
                "text": unit.text,
                "context": unit.context,
                "start": to_text(when.start) if when and when.start else None,
                "end": to_text(when.end) if when and when.end else None,
                "grain": when.grain if when else None,
                "turns": list(unit.turns),
                "turn": unit.turns[0],
                "pieces": len(unit.vectors),
                "terms": terms,
            },
        ).fetchone()
        seq = int(row[0])
        turns = dict(self._sql.run("turn_seqs", (list(unit.turns),)).fetchall())
        self._sql.run_many("insert_unit_turn", [(seq, turn) for turn in turns.values()])
        index_units(self._sql, {seq: unit.vectors}, {seq: terms})
        self._sql.run("insert_derived", (seq, extractor, version, unit.confidence, unit.tokens))
        if (event := unit.event) is not None:
            self._sql.run(
                "insert_event",
                (
                    seq,
                    event.subject,
                    event.verb,
                    event.object,
                    event.status,
                    event.polarity,
                    event.quantity,
                    event.expression,
                    int(event.inferred),
                    json.dumps(list(event.aliases), ensure_ascii=False),
                ),
            )
        return seq

    def unit_of_turns(self, turns: Sequence[str]) -> dict[str, int]:
        found = dict(self._sql.run("turn_units", (list(turns),)).fetchall())
        if len(found) < len(set(turns)):
            raise TurnForgotten("a turn was forgotten while it was being read")
        return found

    def drop_superseded(self, kind: str, turns: Sequence[str], but: Sequence[str]) -> None:
        asked = {"kind": kind, "turns": list(turns)}
        found = self._sql.run("superseded_units", asked).fetchall()
        remove_units(self._sql, [seq for seq, id_ in found if id_ not in but])

    # Entities

    def entities(self) -> list[EntityRow]:
        found: dict[int, EntityRow] = {}
        for seq, id_, name, type_, other in self._sql.run("known_entities"):
            before = found.get(seq)
            names = (before.names if before else frozenset({name})) | {other}
            found[seq] = EntityRow(seq, id_, name, type_, names)
        return list(found.values())

    def names_version(self) -> str:
        return str(self._sql.run("names_version").fetchone()[0])

    def last_seen(self, entities: Iterable[int]) -> dict[int, datetime]:
        rows = self._sql.run("last_seen", (list(entities),))
        return {seq: from_text(last) for seq, last in rows}

    def neighbours_of(self, entity: int) -> frozenset[int]:
        return frozenset(row[0] for row in self._sql.run("seen_together", {"entity": entity}))

    def add_entity(self, name: str, type_: str, heard: Heard | None = None) -> int:
        said_at, recorded_at = self._heard(heard)
        return new_entity(self._sql, name, type_, recorded_at, said_at)

    def rename_entity(self, entity: int, name: str, heard: Heard | None = None) -> None:
        self._sql.run("rename_entity", (name, entity))
        self._sql.run("insert_identity_name", (entity, name, *self._heard(heard)))

    def _heard(self, heard: Heard | None) -> tuple[str, str]:
        return ("", self._now) if heard is None else (to_text(heard.said_at), to_text(heard.recorded_at))

    def mention(
        self, unit: int, entity: int, name: str, type_: str, found_at: datetime | None = None
    ) -> None:
        found = to_text(found_at) if found_at is not None else None
        self._sql.run("insert_mention", (unit, entity, name, type_, found))
        self._sql.run("insert_entity_name", (entity, name, 0))
        self._sql.run("seen_entity", (unit, entity))

    # Links

    def place(self, unit: int, kind: str, at: datetime) -> None:
        self._sql.run("insert_moment", (unit, kind, to_text(at)))

    def moment(self, unit: int) -> datetime | None:
        row = self._sql.run("moment", (unit,)).fetchone()
        return from_text(row[1]) if row else None

    def present(self, units: Iterable[int]) -> frozenset[int]:
        return frozenset(row[0] for row in self._sql.run("present_units", (list(units),)))

    def around(self, unit: int, count: int) -> list[tuple[int, datetime]]:
        row = self._sql.run("moment", (unit,)).fetchone()
        if row is None:
            return []
        kind, at = row
        found = []
        for name in ("moments_before", "moments_after"):
            rows = self._sql.run(name, (kind, at, unit, count))
            found += [(other, from_text(when)) for other, when in rows]
        return found

    def relink(self, source: int, type_: LinkType, targets: Sequence[tuple[int, float]]) -> None:
        self._sql.run("drop_links", (source, type_))
        rows = [(source, type_, target, weight) for target, weight in targets]
        self._sql.run_many("insert_link", rows)

    def links_of(self, source: int, type_: LinkType) -> list[tuple[int, float]]:
        return self._sql.run("links_of_type", (source, type_)).fetchall()

    def replaces(self, unit: int, event: str) -> None:
        self._sql.run("insert_replaces", {"unit": unit, "event": event})

    # The to-do list

    def done(self, turns: Sequence[str], extractor: str, version: str) -> None:
        seqs = dict(self._sql.run("turn_seqs", (list(turns),)).fetchall()).values()
        self._sql.run_many("insert_extraction", [(seq, extractor, version, self._now) for seq in seqs])
        self._sql.run_many("drop_claim", [(seq,) for seq in seqs])

    def failed(self, turns: Sequence[str], reason: str) -> None:
        seqs = dict(self._sql.run("turn_seqs", (list(turns),)).fetchall()).values()
        self._sql.run_many("insert_failure", [(seq, self._now, reason) for seq in seqs])

    def used(self, model: str, calls: int, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        row = (self._now, "extraction", model, calls, input_tokens, output_tokens, cost)
        self._sql.run("insert_usage", row)
