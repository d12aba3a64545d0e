"""The graph of a bank: derived units, entities and links."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from everwhen.store.as_of import NOW, AsOf
from everwhen.store.graph import GraphWriter, Vectors
from everwhen.store.kind_codes import code
from everwhen.store.maintenance import TurnForgotten
from everwhen.store.sql.graph_writer import SqlGraphWriter
from everwhen.store.sql.history import entities_then, subjects_then
from everwhen.store.sql.identities import Identities
from everwhen.store.sql.rows import interval_of
from everwhen.store.sql.session import Sql
from everwhen.store.vector_model import VectorModel
from everwhen.types import NETWORKS, Entity, Event, Finding, Linked, LinkType, Usage
from everwhen.types.instants import from_text, to_text
from everwhen_time import Interval

if TYPE_CHECKING:
    from everwhen.store.sql.store import SqlStore

_AT_ONCE = 512


class SqlGraph(Identities):
    """The `GraphStore` of one bank. The contract of each method is in `everwhen.store.graph`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store)
        self._names: tuple[str, frozenset[str]] | None = None

    # What models took

    def note_usage(self, purpose: str, model: str, usage: Usage) -> None:
        row = (
            to_text(datetime.now(UTC)),
            purpose,
            model,
            usage.requests,
            usage.input_tokens,
            usage.output_tokens,
            usage.cost,
        )
        with self._writer.transaction() as sql:
            sql.run("insert_usage", row)

    def usage(self) -> Usage:
        ((calls, read, written, cost),) = self._read("model_usage")
        return Usage(calls, read, written, cost)

    @contextmanager
    def writing(self, made_with: VectorModel) -> Iterator[GraphWriter]:
        with self._writer.transaction() as sql:
            self._store.still_ours(sql, made_with)
            writer = SqlGraphWriter(sql, self._store.tokenizer)
            yield writer
            writer.write_mentions()

    # Reading

    def similar(self, vectors: Vectors, kind: str, floor: float, limit: int) -> list[list[tuple[int, float]]]:
        kinds = np.array([code(kind, network) for network in NETWORKS], dtype=np.int16)
        return self._store.index().neighbours(vectors, kinds, floor, limit)

    def vectors(self, turns: Sequence[str]) -> Vectors:
        found = dict(self._read("first_vectors", (list(turns),)))
        if len(found) < len(set(turns)):
            raise TurnForgotten("a turn was forgotten while it was being read")
        blobs = b"".join(found[turn] for turn in turns)
        return np.frombuffer(blobs, dtype="<f4").reshape(len(turns), -1)

    def events(
        self,
        *,
        between: Interval | None = None,
        subject: str | None = None,
        verb: str | None = None,
        status: str | None = None,
        units: Sequence[int] | None = None,
        then: AsOf | None = None,
    ) -> list[Event]:
        asked: dict[str, Any] = {
            "then": then is not None,
            "named": None,
            **(then or NOW).texts,
            "start": to_text(between.start) if between and between.start else None,
            "end": to_text(between.end) if between and between.end else None,
            "subject": subject,
            "verb": verb,
            "status": status,
            "units": None if units is None else list(units),
        }
        with self._reader.use() as sql:
            if then is not None and not then.is_now and subject is not None:
                asked["named"] = json.dumps(subjects_then(sql, then, subject))
            rows = sql.run("events", asked, event="event_columns").fetchall()
        return [_event(row) for row in rows]

    def events_told(self, turns: Sequence[str], units: Sequence[int] = (), then: AsOf = NOW) -> list[Event]:
        asked = {"turns": list(turns), "units": list(units), **then.texts}
        return [_event(row) for row in self._read("events_told", asked, event="event_columns")]

    def entities(self, then: AsOf = NOW) -> list[Entity]:
        with self._reader.use() as sql:
            if not then.is_now:
                return entities_then(sql, then)
            rows = sql.run("entities").fetchall()
        return [
            Entity(
                id=id_,
                name=name,
                type=type_,
                aliases=tuple(sorted(set(json.loads(names)) - {name})),
                first=from_text(first),
                last=from_text(last),
                mentions=mentions,
            )
            for id_, name, type_, names, first, last, mentions in rows
        ]

    def names(self) -> frozenset[str]:
        with self._reader.use() as sql:
            (version,) = sql.run("names_version").fetchone()
            return self.names_of(sql, version)

    def names_of(self, sql: Sql, version: str) -> frozenset[str]:
        """The names of a version of them, read where it is a new one."""
        held = self._names
        if held is None or held[0] != version:
            held = (version, frozenset(row[0] for row in sql.run("all_names")))
            self._names = held
        return held[1]

    def units_of_entity(self, entity: str, limit: int) -> list[int]:
        return [row[0] for row in self._read("units_of_entity", (entity, limit))]

    def seen_with(self, entity: str) -> list[tuple[str, int]]:
        return self._read("seen_with", {"entity": entity})

    def links(self, unit: int, types: Sequence[LinkType] | None = None, fan_out: int = 50) -> list[Linked]:
        wanted: Sequence[LinkType] = ("temporal", "semantic", "entity", "causal") if types is None else types
        asked: dict[str, Any] = {"unit": unit, "types": list(wanted), "limit": fan_out}
        with self._reader.use() as sql:
            found = [Linked(*row) for row in sql.run("links_of", asked)]
            if "entity" in wanted:
                found += [
                    Linked(unit, other, "entity", 1.0)
                    for other, _ in sql.run("entity_neighbours", {"unit": unit, "limit": fan_out})
                ]
        return sorted(found, key=lambda link: (-link.weight, link.target))

    def neighbours(
        self,
        units: Sequence[int],
        types: Sequence[LinkType] | None = None,
        floor: float = 0.0,
        fan_out: int = 50,
    ) -> list[Linked]:
        wanted: Sequence[LinkType] = ("temporal", "semantic", "entity", "causal") if types is None else types
        asked = {"units": list(units), "types": list(wanted), "floor": floor}
        with self._reader.use() as sql:
            found = list(map(Linked._make, sql.run("links_of_units", asked)))
            if "entity" in wanted and floor <= 1.0:
                found += _sharing_an_entity(sql, asked["units"], fan_out)
        return found

    def provenance(self, units: Sequence[int]) -> list[tuple[int, int]]:
        return self._read("provenance", {"units": list(units)})

    def derived_texts(self) -> Iterator[tuple[str, str]]:
        after = 0
        while rows := self._read("derived_texts", (after, _AT_ONCE)):
            yield from ((row[1], row[2]) for row in rows)
            after = rows[-1][0]

    def counts(self) -> tuple[int, int, int, int]:
        """Events, narratives, entities, links."""
        row: tuple[int, int, int, int]
        (row,) = self._read("graph_counts")
        return row

    def check(self) -> list[Finding]:
        questions = {
            "events_without_derivation": "derived units do not say what extracted them",
            "events_without_part": "events have no subject, verb and object",
            "derived_of_pending_turns": "derived units rest on turns that count as not extracted",
        }
        findings = []
        with self._reader.use() as sql:
            for name, problem in questions.items():
                count = sql.run(name).fetchone()[0]
                if count:
                    findings.append(
                        Finding("graph", f"{count} {problem}; `everwhen bank reextract` makes them again")
                    )
            for reason, turns in sql.run("failures"):
                findings.append(
                    Finding("extraction", f"{turns} turns: {reason}; `everwhen bank reextract` tries again")
                )
        return findings


def _sharing_an_entity(sql: Sql, units: Any, fan_out: int) -> list[Linked]:
    """Entity by entity rather than in one join, so that a frequent one costs no more than `fan_out` rows."""
    group = _groups(sql)
    mentioned: dict[tuple[int, ...], set[int]] = {}
    for unit, entity in sql.run("mentioned_by", (units,)):
        mentioned.setdefault(group.get(entity, (entity,)), set()).add(unit)
    found = []
    for entities, sources in mentioned.items():
        targets = {row[0] for entity in entities for row in sql.run("mentioning", (entity, fan_out + 1))}
        if len(targets) <= fan_out:
            found += [
                Linked(one, other, "entity", 1.0) for one in sources for other in targets if one != other
            ]
    return list(dict.fromkeys(found))


def _groups(sql: Sql) -> dict[int, tuple[int, ...]]:
    """Entities that were found to be the same, each with all of its identity; the others are their own."""
    up = dict(sql.run("merged_entities").fetchall())
    whole: dict[int, list[int]] = {}
    for entity in up:
        root = entity
        while root in up:
            root = up[root]
        whole.setdefault(root, [root]).append(entity)
    return {entity: tuple(sorted(group)) for group in whole.values() for entity in group}


def _event(row: tuple[Any, ...]) -> Event:
    return Event(
        id=row[0],
        subject=row[1],
        verb=row[2],
        object=row[3],
        occurred=interval_of(row[4], row[5], row[6]),
        status=row[7],
        aliases=() if row[8] == "[]" else tuple(json.loads(row[8])),
        confidence=row[9],
        turns=tuple(json.loads(row[10])),
        text=row[11],
        expression=row[12],
        inferred=bool(row[13]),
        polarity=row[14],
        quantity=row[15],
        said_at=from_text(row[16]),
        zone=row[17],
        extractor=row[18],
        network=row[20],
        replaces=row[21],
        superseded_at=from_text(row[22]) if row[22] else None,
    )
