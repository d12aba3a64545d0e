"""Writes of the graph: one extracted batch inside its transaction, and decisions of people about entities."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from everwhen.errors import NotFound, UsageError
from everwhen.store.base import BankRows, Sql, Tokenizer, index_units, remove_units
from everwhen.store.rows import EntityRow, EventPart, Heard, Mention, Moment, NewUnit, TurnForgotten
from everwhen.types import LinkType, Usage
from everwhen.types.times import from_text, to_text


class GraphWriter:
    """The writes of one batch, inside one transaction; methods that take several things send one statement for all.

    Mentions wait in memory. Each method that depends on them writes them first; at the end of the transaction
    `GraphStore.write` calls `write_mentions`.
    """

    def __init__(self, sql: Sql, tokenizer: Tokenizer) -> None:
        self._sql = sql
        self._tokenizer = tokenizer
        self._now = to_text(datetime.now(UTC))
        self._mentions: list[Mention] = []

    def add_units(self, units: Sequence[NewUnit], extractor: str, version: str) -> dict[str, int]:
        """Write units that are not there yet; the seq of each id, new or not."""
        if not units:
            return {}
        seqs = dict(self._sql.run("known_units", ([unit.id for unit in units],)).fetchall())
        new = list({unit.id: unit for unit in units if unit.id not in seqs}.values())
        turn_ids = {id_ for unit in new for id_ in unit.turns}
        turns = {row[0]: _Turn(*row[1:]) for row in self._sql.run("turns_told_of", (sorted(turn_ids),))}
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
        """The raw unit of each turn; raises `TurnForgotten` where one was forgotten."""
        found = dict(self._sql.run("turn_units", (list(turns),)).fetchall())
        if len(found) < len(set(turns)):
            raise TurnForgotten("a turn was forgotten while it was being read")
        return found

    def drop_superseded(self, kind: str, turns: Sequence[str], but: Sequence[str]) -> None:
        """Remove units of a kind all of whose turns are among the given ones, save those with the ids."""
        self.write_mentions()
        found = self._sql.run("superseded_units", {"kind": kind, "turns": list(turns)}).fetchall()
        remove_units(self._sql, [seq for seq, id_ in found if id_ not in but])

    # Entities

    def entities(self) -> list[EntityRow]:
        self.write_mentions()
        found: dict[int, EntityRow] = {}
        for seq, id_, name, type_, other in self._sql.run("known_entities"):
            row = found.get(seq)
            names = (row.names if row else frozenset({name})) | {other}
            found[seq] = EntityRow(seq, id_, name, type_, names)
        return list(found.values())

    def names_version(self) -> str:
        """The same for as long as `entities` would give the same, whoever writes."""
        self.write_mentions()
        return str(self._sql.run("names_version").fetchone()[0])

    def last_seen(self, entities: Iterable[int]) -> dict[int, datetime]:
        """When each of some entities was mentioned last; those that never were are left out."""
        self.write_mentions()
        rows = self._sql.run("last_seen", (list(entities),))
        return {seq: from_text(last) for seq, last in rows}

    def mentioned_with(self, entity: int) -> frozenset[int]:
        """The entities that are mentioned together with one."""
        self.write_mentions()
        return frozenset(row[0] for row in self._sql.run("seen_together", {"entity": entity}))

    def add_entity(self, name: str, type_: str, heard: Heard | None = None) -> int:
        said_at, recorded_at = self._heard(heard)
        return new_entity(self._sql, name, type_, recorded_at, said_at)

    def rename_entity(self, entity: int, name: str, heard: Heard | None = None) -> None:
        """List an entity under a fuller name; it goes on to answer to the other ones."""
        self._sql.run("rename_entity", (name, entity))
        self._sql.run("insert_identity_name", (entity, name, *self._heard(heard)))

    def _heard(self, heard: Heard | None) -> tuple[str, str]:
        return ("", self._now) if heard is None else (to_text(heard.said_at), to_text(heard.recorded_at))

    def mention(self, mentions: Sequence[Mention]) -> None:
        """Note that units name entities; `write_mentions` writes it."""
        self._mentions += mentions

    def write_mentions(self) -> None:
        """Write the mentions noted so far, with one statement for each table."""
        mentions, self._mentions = self._mentions, []
        if not mentions:
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
                    for one in mentions
                ],
            )
            names = dict.fromkeys((one.entity, one.name) for one in mentions)
            self._sql.run_batch("insert_entity_name", [(*one, 0) for one in names])
            self._sql.run_batch("seen_entity", [(one.unit, one.entity) for one in mentions])

    # Links

    def add_to_timeline(self, moments: Sequence[Moment]) -> None:
        """Put units on the timelines of their kinds."""
        rows = {one.unit: (one.unit, one.kind, to_text(one.at)) for one in moments}
        self._sql.run_batch("insert_moment", list(rows.values()))

    def timeline(self, units: Iterable[int], count: int) -> list[Moment]:
        """Each unit and its `count` neighbours before and after it on the timeline of its kind.

        Ordered by kind, time and seq; a unit that is on no timeline is left out.
        """
        rows = self._sql.run("timeline", {"units": list(units), "count": count})
        return [Moment(unit, kind, from_text(at)) for unit, kind, at in rows]

    def present(self, units: Iterable[int]) -> frozenset[int]:
        """Those that still exist: another process may have forgotten some since they were found."""
        return frozenset(row[0] for row in self._sql.run("present_units", (list(units),)))

    def relink(self, type_: LinkType, lists: Mapping[int, Sequence[tuple[int, float]]]) -> None:
        """Replace the lists of neighbours of one type that some units have."""
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
        """The neighbours of one type of each unit, best first; units without any are left out."""
        found: dict[int, list[tuple[int, float]]] = {}
        for source, target, weight in self._sql.run("links_of_type", (list(units), type_)):
            found.setdefault(source, []).append((target, weight))
        return found

    def record_replacement(self, unit: int, event: str) -> None:
        """Note that an event is the next version of another one, given by its id, which stays as it is."""
        self._sql.run("insert_replaces", {"unit": unit, "event": event})

    # The to-do list

    def mark_done(self, turns: Sequence[str], extractor: str, version: str) -> None:
        """Take turns off the list, and release the workers' leases on them."""
        seqs = [row[1] for row in self._sql.run("turn_seqs", (list(turns),))]
        with self._sql.pipeline():
            self._sql.run_batch("insert_extraction", [(seq, extractor, version, self._now) for seq in seqs])
            self._sql.run("release_leases", (seqs,))

    def record_failure(self, turns: Sequence[str], reason: str) -> None:
        """Note for `check` why nothing, or not all, was extracted from turns. `mark_done` takes them off the list."""
        seqs = dict(self._sql.run("turn_seqs", (list(turns),)).fetchall()).values()
        self._sql.run_many("insert_failure", [(seq, self._now, reason) for seq in seqs])

    def record_usage(self, model: str, usage: Usage) -> None:
        """Note what the requests to a model cost."""
        numbers = (usage.requests, usage.input_tokens, usage.output_tokens, usage.cost)
        self._sql.run("insert_usage", (self._now, "extraction", model, *numbers))


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


class Identities:
    """People's decisions about entities: merge, split, rename, undo. Base class of `GraphStore`.

    People give an entity by its id; `entity_seq` is its number in the database.
    """

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    def merge(self, kept: str, merged: str, at: datetime) -> None:
        with self._bank.writer.transaction() as sql:
            kept_seq, merged_seq = _seq(sql, kept), _seq(sql, merged)
            if kept_seq == merged_seq:
                raise UsageError("an entity cannot be merged with itself")
            _set_merged_into(sql, merged_seq, kept_seq, at)
            _log(sql, at, "merge", {"kept": kept, "gone": merged})

    def split(self, entity: str, names: Sequence[str], type_: str | None, at: datetime) -> str:
        """Give some of an entity's names an identity of their own; its id."""
        with self._bank.writer.transaction() as sql:
            entity_seq = _seq(sql, entity)
            moved = sql.run("mentions_under_names", (entity_seq, list(names))).fetchall()
            if not moved:
                raise NotFound(
                    f"'{entity}' goes by none of the names {', '.join(names)}; see `everwhen show entities`"
                )
            kind = type_ or sql.run("entity_by_id", (entity,)).fetchone()[2]
            new_seq = new_entity(sql, names[0], kind, to_text(at))
            for unit, old_seq, name, old_type in moved:
                _move(sql, (unit, old_seq, name), new_seq, type_ or old_type, at)
                sql.run_batch("seen_entity", [(unit, new_seq)])
            for name in names:
                for old_seq in {row[1] for row in moved}:
                    sql.run("drop_entity_name", (old_seq, name))
                sql.run_batch("insert_entity_name", [(new_seq, name, 1)])
            new_id = str(sql.run("entity_id", (new_seq,)).fetchone()[0])
            _log(sql, at, "split", {"entity": entity, "new": new_id, "moved": [list(row) for row in moved]})
        return new_id

    def rename(self, entity: str, name: str, at: datetime) -> None:
        with self._bank.writer.transaction() as sql:
            entity_seq = _seq(sql, entity)
            old_name = sql.run("entity_by_id", (entity,)).fetchone()[1]
            _rename(sql, entity_seq, name, at)
            sql.run_batch("insert_entity_name", [(entity_seq, name, 1), (entity_seq, old_name, 1)])
            _log(sql, at, "rename", {"entity": entity, "name": name, "before": old_name})

    def undo(self, at: datetime | None = None) -> dict[str, Any] | None:
        """Take back the last merge, split or rename that was not taken back yet; what it was."""
        with self._bank.writer.transaction() as sql:
            row = sql.run("last_entity_log").fetchone()
            if row is None:
                return None
            log_seq, action, detail = row[0], row[1], json.loads(row[2])
            at = at or datetime.now(UTC)
            if action == "merge":
                _set_merged_into(sql, _seq(sql, detail["gone"]), None, at)
            elif action == "rename":
                _rename(sql, _seq(sql, detail["entity"]), detail["before"], at)
            else:
                _undo_split(sql, detail, at)
            sql.run("set_undone", (log_seq,))
        return {"action": action, **detail}


def new_entity(sql: Sql, name: str, type_: str, recorded_at: str, said_at: str = "") -> int:
    """Write an entity; its seq. `said_at` is when its name was said; it is empty where a person gave the name."""
    (seq,) = sql.numbers("entities", 1)
    with sql.pipeline():
        sql.run("insert_entity", (seq, f"n{os.urandom(6).hex()}", name, type_))
        sql.run_batch("insert_entity_name", [(seq, name, 0)])
        sql.run("insert_identity_name", (seq, name, said_at, recorded_at))
    return seq


def _set_merged_into(sql: Sql, entity_seq: int, into: int | None, at: datetime) -> None:
    """Merge an entity into another one; with None it stands alone again."""
    sql.run("set_merged", (into, entity_seq))
    sql.run("insert_identity_merge", (entity_seq, into, to_text(at)))


def _rename(sql: Sql, entity_seq: int, name: str, at: datetime) -> None:
    sql.run("rename_entity", (name, entity_seq))
    sql.run("insert_identity_name", (entity_seq, name, "", to_text(at)))


def _move(sql: Sql, mention: tuple[int, int, str], to: int, type_: str, at: datetime) -> None:
    """Give a mention (unit, entity, name) to another entity; the old row is kept among the past mentions."""
    unit, old_seq, name = mention
    sql.run("keep_past_mention", {"unit": unit, "entity": old_seq, "name": name, "until": to_text(at)})
    sql.run("delete_mention", mention)
    sql.run_batch("insert_mention", [(unit, to, name, type_, to_text(at))])


def _undo_split(sql: Sql, detail: dict[str, Any], at: datetime) -> None:
    new_seq, entity_seq = _seq(sql, detail["new"]), _seq(sql, detail["entity"])
    owners = {(unit, name): old_seq for unit, old_seq, name, _ in detail["moved"]}
    for unit, name, type_ in sql.run("mentions_of_entity", (new_seq,)).fetchall():
        owner = owners.get((unit, name), entity_seq)
        _move(sql, (unit, new_seq, name), owner, type_, at)
        sql.run_batch("insert_entity_name", [(owner, name, 0)])
    # The entity stays for questions about the time in between, but no new mention can be resolved to it by name.
    sql.run("drop_names_of", (new_seq,))
    _set_merged_into(sql, new_seq, entity_seq, at)


def _seq(sql: Sql, entity: str) -> int:
    """The number of the entity with this id."""
    row = sql.run("entity_by_id", (entity,)).fetchone()
    if row is None:
        raise NotFound(f"there is no entity '{entity}'; `everwhen show entities` lists them")
    return int(row[0])


def _log(sql: Sql, at: datetime, action: str, detail: dict[str, Any]) -> None:
    row = (to_text(at), action, json.dumps(detail, ensure_ascii=False))
    sql.run("insert_entity_log", row)
