"""The graph of a bank: derived units, entities and links, as they are and as they were."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from everwhen.store.base import BankRows, Sql, VectorModel, interval_of
from everwhen.store.index import code
from everwhen.store.rows import NOW, AsOf, TurnForgotten, Vectors
from everwhen.store.sql.graph_writer import GraphWriter, Identities
from everwhen.types import NETWORKS, Entity, Event, Finding, Linked, LinkType, Usage
from everwhen.types.times import from_text, to_text
from everwhen_time import Interval

_AT_ONCE = 512


class GraphStore(Identities):
    """Used by: ingest (writes), recall and `Memory` (reads). Uses: the same database as the turns."""

    def __init__(self, bank: BankRows) -> None:
        super().__init__(bank)
        self._names: tuple[str, frozenset[str]] | None = None

    # What models took

    def note_usage(self, purpose: str, model: str, usage: Usage) -> None:
        """Record what a model call cost; durable when it returns."""
        row = (
            to_text(datetime.now(UTC)),
            purpose,
            model,
            usage.requests,
            usage.input_tokens,
            usage.output_tokens,
            usage.cost,
        )
        with self._bank.writer.transaction() as sql:
            sql.run("insert_usage", row)

    def usage(self) -> Usage:
        """What models took in this bank so far, for whatever purpose."""
        ((calls, read, written, cost),) = self._bank.read("model_usage")
        return Usage(calls, read, written, cost)

    @contextmanager
    def writing(self, made_with: VectorModel) -> Iterator[GraphWriter]:
        """One transaction for all that a batch brings; its vectors, and what was compared, are of the model."""
        with self._bank.writer.transaction() as sql:
            self._bank.check_model(sql, made_with)
            writer = GraphWriter(sql, self._bank.tokenizer)
            yield writer
            writer.write_mentions()

    # Reading

    def similar(self, vectors: Vectors, kind: str, floor: float, limit: int) -> list[list[tuple[int, float]]]:
        """For each vector, the units of a kind with a cosine above the floor, best first."""
        kinds = np.array([code(kind, network) for network in NETWORKS], dtype=np.int16)
        return self._bank.index().neighbours(vectors, kinds, floor, limit)

    def vectors(self, turns: Sequence[str]) -> Vectors:
        """The first vector of each turn, in the order given."""
        found = dict(self._bank.read("first_vectors", (list(turns),)))
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
        moment: AsOf | None = None,
    ) -> list[Event]:
        """The event calendar, in the order of what happened; with `moment`, only the versions that counted then."""
        asked: dict[str, Any] = {
            "then": moment is not None,
            "named": None,
            **(moment or NOW).texts,
            "start": to_text(between.start) if between and between.start else None,
            "end": to_text(between.end) if between and between.end else None,
            "subject": subject,
            "verb": verb,
            "status": status,
            "units": None if units is None else list(units),
        }
        with self._bank.reader.use() as sql:
            if moment is not None and not moment.is_now and subject is not None:
                asked["named"] = json.dumps(subjects_then(sql, moment, subject))
            rows = sql.run("events", asked, event="event_columns").fetchall()
        return [_event(row) for row in rows]

    def events_told(self, turns: Sequence[str], units: Sequence[int] = (), moment: AsOf = NOW) -> list[Event]:
        """The events that came from some turns, and some by their units, in the order in which they were told.

        With `moment`, those that had been told, superseded only where that had been told as well.
        """
        asked = {"turns": list(turns), "units": list(units), **moment.texts}
        return [_event(row) for row in self._bank.read("events_told", asked, event="event_columns")]

    def entities(self, moment: AsOf = NOW) -> list[Entity]:
        """Everyone who has a name, as it was known then: with the names, merges and splits of then."""
        with self._bank.reader.use() as sql:
            if not moment.is_now:
                return entities_then(sql, moment)
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
        """Every name of every entity; held until somebody gets or loses one."""
        with self._bank.reader.use() as sql:
            (version,) = sql.run("names_version").fetchone()
            return self.names_of(sql, version)

    def names_of(self, sql: Sql, version: str) -> frozenset[str]:
        """The names of a version of them, read where it is a new one."""
        held = self._names
        if held is None or held[0] != version:
            held = (version, frozenset(row[0] for row in sql.run("all_names")))
            self._names = held
        return held[1]

    def units_of_entity(self, entity: str, limit: int, as_of: AsOf = NOW) -> list[int]:
        """The units that mention an entity, newest first; those that did then, under who was who then."""
        if not as_of.is_now:
            with self._bank.reader.use() as sql:
                said = {one.unit: one.said_at for one in mentions_as_of(sql, as_of).get(entity, ())}
            return sorted(said, key=lambda unit: (said[unit], unit), reverse=True)[:limit]
        return [row[0] for row in self._bank.read("units_of_entity", (entity, limit))]

    def seen_with(self, entity: str, as_of: AsOf = NOW) -> list[tuple[str, int]]:
        """The names of those who are mentioned with an entity, and in how many units, most first."""
        if not as_of.is_now:
            with self._bank.reader.use() as sql:
                units = {
                    id_: {one.unit for one in several} for id_, several in mentions_as_of(sql, as_of).items()
                }
                names = {one.id: one.name for one in entities_then(sql, as_of)}
            own = units.pop(entity, set())
            counts = ((names[id_], len(own & others)) for id_, others in units.items() if id_ in names)
            return sorted(filter(lambda one: one[1], counts), key=lambda one: (-one[1], one[0]))[
                :MOST_SEEN_WITH
            ]
        return self._bank.read("seen_with", {"entity": entity})

    def links(self, unit: int, types: Sequence[LinkType] | None = None, fan_out: int = 50) -> list[Linked]:
        """A unit's neighbours, best first; entity links are expanded here, the nearest in time first."""
        wanted: Sequence[LinkType] = ("temporal", "semantic", "entity", "causal") if types is None else types
        asked: dict[str, Any] = {"unit": unit, "types": list(wanted), "limit": fan_out}
        with self._bank.reader.use() as sql:
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
        """The links that leave some units, of at least a weight, in one reading.

        Entity links are expanded here; an entity that more than `fan_out` units mention has none, so that what is
        read stays bounded.
        """
        wanted: Sequence[LinkType] = ("temporal", "semantic", "entity", "causal") if types is None else types
        asked = {"units": list(units), "types": list(wanted), "floor": floor}
        with self._bank.reader.use() as sql:
            found = list(map(Linked._make, sql.run("links_of_units", asked)))
            if "entity" in wanted and floor <= 1.0:
                found += _sharing_an_entity(sql, asked["units"], fan_out)
        return found

    def provenance(self, units: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of a derived unit and the raw unit of a turn that it came from, where one of them is asked for."""
        return self._bank.read("provenance", {"units": list(units)})

    def derived_texts(self) -> Iterator[tuple[str, str]]:
        """Id and text of every derived unit, for another embedder."""
        after = 0
        while rows := self._bank.read("derived_texts", (after, _AT_ONCE)):
            yield from ((row[1], row[2]) for row in rows)
            after = rows[-1][0]

    def counts(self) -> tuple[int, int, int, int]:
        """Events, narratives, entities, links."""
        row: tuple[int, int, int, int]
        (row,) = self._bank.read("graph_counts")
        return row

    def check(self) -> list[Finding]:
        questions = {
            "events_without_derivation": "derived units do not say what extracted them",
            "events_without_part": "events have no subject, verb and object",
            "derived_of_pending_turns": "derived units rest on turns that count as not extracted",
        }
        findings = []
        with self._bank.reader.use() as sql:
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


class Mention(NamedTuple):
    """One mention as it was known then."""

    unit: int
    entity: int
    name: str
    type: str
    kind: str
    turn: int | None
    said_at: str


@dataclass(frozen=True, slots=True)
class KnownIdentities:
    """Who was who: the name that each entity was listed under, and what each was merged into."""

    names: dict[int, str]
    into: dict[int, int]

    def root(self, entity: int) -> int:
        """The entity at the end of all merges."""
        while entity in self.into:
            entity = self.into[entity]
        return entity


MOST_SEEN_WITH = 100


def identities_then(sql: Sql, moment: AsOf) -> KnownIdentities:
    names: dict[int, str] = {}
    into: dict[int, int] = {}
    for entity, name, merged_into in sql.run("identity_changes_then", moment.texts):
        if name is not None:
            names[entity] = name
        elif merged_into is not None:
            into[entity] = merged_into
        else:
            into.pop(entity, None)
    return KnownIdentities(names, into)


def entities_then(sql: Sql, moment: AsOf) -> list[Entity]:
    """Those who were known then, those spoken of most first."""
    who = identities_then(sql, moment)
    known = {seq: rest for seq, *rest in sql.run("all_entities")}
    groups: dict[int, list[Mention]] = {}
    for row in sql.run("mentions_then", moment.texts):
        mention = Mention(*row)
        groups.setdefault(who.root(mention.entity), []).append(mention)
    found = [
        _entity(known[root], who.names.get(root), mentions)
        for root, mentions in sorted(groups.items())
        if any(one.kind == "turn" for one in mentions)
    ]
    return sorted(found, key=lambda one: (-one.mentions, one.name))


def mentions_as_of(sql: Sql, as_of: AsOf) -> dict[str, list[Mention]]:
    """Who was mentioned where, by the ids of entities, as it was known then; in turns and events, which are kept."""
    who = identities_then(sql, as_of)
    ids = {seq: id_ for seq, id_, *_ in sql.run("all_entities")}
    found: dict[str, list[Mention]] = {}
    for row in sql.run("mentions_then", as_of.texts):
        mention = Mention(*row)
        if mention.kind not in ("turn", "event"):  # a narrative is written anew, which deletes the one before
            continue
        found.setdefault(ids[who.root(mention.entity)], []).append(mention)
    return found


def subjects_then(sql: Sql, moment: AsOf, subject: str) -> list[tuple[int, str]]:
    """The units that mention those who went by a name then, each with the name it uses."""
    who, wanted = identities_then(sql, moment), subject.casefold()
    rows = (Mention(*row) for row in sql.run("mentions_then", moment.texts))
    return [
        (one.unit, one.name)
        for one in rows
        if who.names.get(who.root(one.entity), "").casefold() == wanted and one.kind == "event"
    ]


def _entity(known: list[Any], listed: str | None, mentions: list[Mention]) -> Entity:
    id_, present, type_ = known
    in_turns = [one for one in mentions if one.kind == "turn"]
    names = {one.name for one in in_turns}
    # A name that was forgotten has no row left: the present one, if it had been said, stands in for it.
    name = listed or (present if present in names else in_turns[0].name)
    types = Counter(one.type for one in mentions if one.type != "OTHER")
    said = [one.said_at for one in in_turns]
    return Entity(
        id=id_,
        name=name,
        type=min(types, key=lambda one: (-types[one], one)) if types else type_,
        aliases=tuple(sorted(names - {name})),
        first=from_text(min(said)),
        last=from_text(max(said)),
        mentions=len({one.turn for one in in_turns}),
    )
