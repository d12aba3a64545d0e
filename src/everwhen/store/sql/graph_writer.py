"""The writes of one extracted batch, inside the transaction that `SqlGraph.writing` opens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from everwhen.store.graph import EntityRow, EventPart, Heard, Mention, Moment, NewUnit
from everwhen.store.maintenance import TurnForgotten
from everwhen.store.sql.identities import new_entity
from everwhen.store.sql.session import Sql
from everwhen.store.sql.units import index_units, remove_units
from everwhen.store.terms import Tokenizer
from everwhen.types import LinkType, Usage
from everwhen.types.instants import from_text, to_text


class SqlGraphWriter:
    """Implements `GraphWriter` over one open transaction."""

    def __init__(self, sql: Sql, tokenizer: Tokenizer) -> None:
        self._sql = sql
        self._tokenizer = tokenizer
        self._now = to_text(datetime.now(UTC))
        self._mentions: list[Mention] = []

    def add_units(self, units: Sequence[NewUnit], extractor: str, version: str) -> dict[str, int]:
        if not units:
            return {}
        seqs = dict(self._sql.run("known_units", ([unit.id for unit in units],)).fetchall())
        new = list({unit.id: unit for unit in units if unit.id not in seqs}.values())
        told = {id_ for unit in new for id_ in unit.turns}
        turns = {row[0]: _Turn(*row[1:]) for row in self._sql.run("turns_told_of", (sorted(told),))}
        packed = self._tokenizer.packed(
            [f"{turns[unit.turns[0]].speaker} {unit.text}" for unit in new], [unit.context for unit in new]
        )
        numbers = self._sql.numbers("units", len(new))
        numbered = list(zip(numbers, new, strict=True))
        terms = dict(zip(numbers, packed, strict=True))
        with self._sql.pipeline():
            rows = [_unit_row(seq, unit, turns, terms[seq]) for seq, unit in numbered]
            self._sql.run_batch("insert_derived_unit", rows)
            provenance = [
                (seq, turns[id_].seq) for seq, unit in numbered for id_ in dict.fromkeys(unit.turns)
            ]
            self._sql.run_batch("insert_unit_turn", provenance)
            index_units(self._sql, {seq: unit.vectors for seq, unit in numbered}, terms)
            self._sql.run_batch(
                "insert_derived",
                [(seq, extractor, version, unit.confidence, unit.tokens) for seq, unit in numbered],
            )
            events = [_event_row(seq, unit.event) for seq, unit in numbered if unit.event is not None]
            self._sql.run_batch("insert_event", events)
        return seqs | {unit.id: seq for seq, unit in numbered}

    def unit_of_turns(self, turns: Sequence[str]) -> dict[str, int]:
        found = dict(self._sql.run("turn_units", (list(turns),)).fetchall())
        if len(found) < len(set(turns)):
            raise TurnForgotten("a turn was forgotten while it was being read")
        return found

    def drop_superseded(self, kind: str, turns: Sequence[str], but: Sequence[str]) -> None:
        self.write_mentions()
        asked = {"kind": kind, "turns": list(turns)}
        found = self._sql.run("superseded_units", asked).fetchall()
        remove_units(self._sql, [seq for seq, id_ in found if id_ not in but])

    # Entities

    def entities(self) -> list[EntityRow]:
        self.write_mentions()
        found: dict[int, EntityRow] = {}
        for seq, id_, name, type_, other in self._sql.run("known_entities"):
            before = found.get(seq)
            names = (before.names if before else frozenset({name})) | {other}
            found[seq] = EntityRow(seq, id_, name, type_, names)
        return list(found.values())

    def names_version(self) -> str:
        self.write_mentions()
        return str(self._sql.run("names_version").fetchone()[0])

    def last_seen(self, entities: Iterable[int]) -> dict[int, datetime]:
        self.write_mentions()
        rows = self._sql.run("last_seen", (list(entities),))
        return {seq: from_text(last) for seq, last in rows}

    def neighbours_of(self, entity: int) -> frozenset[int]:
        self.write_mentions()
        return frozenset(row[0] for row in self._sql.run("seen_together", {"entity": entity}))

    def add_entity(self, name: str, type_: str, heard: Heard | None = None) -> int:
        said_at, recorded_at = self._heard(heard)
        return new_entity(self._sql, name, type_, recorded_at, said_at)

    def rename_entity(self, entity: int, name: str, heard: Heard | None = None) -> None:
        self._sql.run("rename_entity", (name, entity))
        self._sql.run("insert_identity_name", (entity, name, *self._heard(heard)))

    def _heard(self, heard: Heard | None) -> tuple[str, str]:
        return ("", self._now) if heard is None else (to_text(heard.said_at), to_text(heard.recorded_at))

    def mention(self, mentions: Sequence[Mention]) -> None:
        self._mentions += mentions

    def write_mentions(self) -> None:
        """They are written together, before something is asked that depends on them, and at the end."""
        said, self._mentions = self._mentions, []
        if not said:
            return
        with self._sql.pipeline():
            self._sql.run_batch(
                "insert_mention",
                [
                    (
                        one.unit,
                        one.entity,
                        one.name,
                        one.type,
                        to_text(one.found_at) if one.found_at else None,
                    )
                    for one in said
                ],
            )
            names = dict.fromkeys((one.entity, one.name) for one in said)
            self._sql.run_batch("insert_entity_name", [(*one, 0) for one in names])
            self._sql.run_batch("seen_entity", [(one.unit, one.entity) for one in said])

    # Links

    def place(self, moments: Sequence[Moment]) -> None:
        once = {one.unit: (one.unit, one.kind, to_text(one.at)) for one in moments}
        self._sql.run_batch("insert_moment", list(once.values()))

    def timeline(self, units: Iterable[int], count: int) -> list[Moment]:
        rows = self._sql.run("timeline", {"units": list(units), "count": count})
        return [Moment(unit, kind, from_text(at)) for unit, kind, at in rows]

    def present(self, units: Iterable[int]) -> frozenset[int]:
        return frozenset(row[0] for row in self._sql.run("present_units", (list(units),)))

    def relink(self, type_: LinkType, lists: Mapping[int, Sequence[tuple[int, float]]]) -> None:
        rows = [
            (source, type_, target, weight)
            for source, targets in lists.items()
            for target, weight in dict(targets).items()
        ]
        if lists:
            with self._sql.pipeline():
                self._sql.run("drop_links", (list(lists), type_))
                self._sql.run_batch("insert_link", rows)

    def links_of(self, units: Iterable[int], type_: LinkType) -> dict[int, list[tuple[int, float]]]:
        found: dict[int, list[tuple[int, float]]] = {}
        for source, target, weight in self._sql.run("links_of_type", (list(units), type_)):
            found.setdefault(source, []).append((target, weight))
        return found

    def replaces(self, unit: int, event: str) -> None:
        self._sql.run("insert_replaces", {"unit": unit, "event": event})

    # The to-do list

    def done(self, turns: Sequence[str], extractor: str, version: str) -> None:
        seqs = [row[1] for row in self._sql.run("turn_seqs", (list(turns),))]
        with self._sql.pipeline():
            self._sql.run_batch("insert_extraction", [(seq, extractor, version, self._now) for seq in seqs])
            self._sql.run("drop_claims", (seqs,))

    def failed(self, turns: Sequence[str], reason: str) -> None:
        seqs = dict(self._sql.run("turn_seqs", (list(turns),)).fetchall()).values()
        self._sql.run_many("insert_failure", [(seq, self._now, reason) for seq in seqs])

    def used(self, model: str, usage: Usage) -> None:
        took = (usage.requests, usage.input_tokens, usage.output_tokens, usage.cost)
        self._sql.run("insert_usage", (self._now, "extraction", model, *took))


class _Turn(NamedTuple):
    """What a derived unit takes from a turn; instants as they are stored."""

    seq: int
    speaker: str
    said_at: str
    recorded_at: str


def _unit_row(seq: int, unit: NewUnit, turns: Mapping[str, _Turn], terms: bytes) -> dict[str, Any]:
    when, first = unit.occurred, turns[unit.turns[0]]
    return {
        "seq": seq,
        "id": unit.id,
        "kind": unit.kind,
        "network": unit.network,
        "turn": first.seq,
        "text": unit.text,
        "context": unit.context,
        "start": to_text(when.start) if when and when.start else None,
        "end": to_text(when.end) if when and when.end else None,
        "grain": when.grain if when else None,
        "said_at": first.said_at,
        "recorded_at": max(turns[id_].recorded_at for id_ in unit.turns),
        "pieces": len(unit.vectors),
        "terms": terms,
    }


def _event_row(seq: int, event: EventPart) -> tuple[Any, ...]:
    return (
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
    )
