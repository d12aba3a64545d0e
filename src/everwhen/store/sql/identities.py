"""Decisions of people about entities: merge, split, rename. Each is logged and can be undone."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from everwhen.errors import NotFound, UsageError
from everwhen.store.sql.part import SqlPart
from everwhen.store.sql.session import Sql
from everwhen.types.instants import to_text


class Identities(SqlPart):
    """The part of `SqlGraph` that stores these decisions."""

    def merge(self, kept: str, gone: str, at: datetime) -> None:
        with self._writer.transaction() as sql:
            one, other = _seq(sql, kept), _seq(sql, gone)
            if one == other:
                raise UsageError("an entity cannot be merged with itself")
            _merge(sql, other, one, at)
            _log(sql, at, "merge", {"kept": kept, "gone": gone})

    def split(self, entity: str, names: Sequence[str], type_: str | None, at: datetime) -> str:
        with self._writer.transaction() as sql:
            root = _seq(sql, entity)
            moved = sql.run("mentions_under_names", (root, list(names))).fetchall()
            if not moved:
                raise NotFound(
                    f"'{entity}' goes by none of the names {', '.join(names)}; see `everwhen show entities`"
                )
            kind = type_ or sql.run("entity_by_id", (entity,)).fetchone()[2]
            new = new_entity(sql, names[0], kind, to_text(at))
            for unit, old, name, kind_then in moved:
                _move(sql, (unit, old, name), new, type_ or kind_then, at)
                sql.run_batch("seen_entity", [(unit, new)])
            for name in names:
                for old in {row[1] for row in moved}:
                    sql.run("drop_entity_name", (old, name))
                sql.run_batch("insert_entity_name", [(new, name, 1)])
            id_ = str(sql.run("entity_id", (new,)).fetchone()[0])
            _log(sql, at, "split", {"entity": entity, "new": id_, "moved": [list(row) for row in moved]})
        return id_

    def rename(self, entity: str, name: str, at: datetime) -> None:
        with self._writer.transaction() as sql:
            seq = _seq(sql, entity)
            before = sql.run("entity_by_id", (entity,)).fetchone()[1]
            _rename(sql, seq, name, at)
            sql.run_batch("insert_entity_name", [(seq, name, 1), (seq, before, 1)])
            _log(sql, at, "rename", {"entity": entity, "name": name, "before": before})

    def undo(self, at: datetime | None = None) -> dict[str, Any] | None:
        with self._writer.transaction() as sql:
            row = sql.run("last_entity_log").fetchone()
            if row is None:
                return None
            seq, action, detail = row[0], row[1], json.loads(row[2])
            at = at or datetime.now(UTC)
            if action == "merge":
                _merge(sql, _seq(sql, detail["gone"]), None, at)
            elif action == "rename":
                _rename(sql, _seq(sql, detail["entity"]), detail["before"], at)
            else:
                _undo_split(sql, detail, at)
            sql.run("set_undone", (seq,))
        return {"action": action, **detail}


def new_entity(sql: Sql, name: str, type_: str, recorded_at: str, said_at: str = "") -> int:
    """Write an identity; its seq. `said_at` is when its name was said, nothing where a person gave it."""
    (seq,) = sql.numbers("entities", 1)
    with sql.pipeline():
        sql.run("insert_entity", (seq, f"n{os.urandom(6).hex()}", name, type_))
        sql.run_batch("insert_entity_name", [(seq, name, 0)])
        sql.run("insert_identity_name", (seq, name, said_at, recorded_at))
    return seq


def _merge(sql: Sql, entity: int, into: int | None, at: datetime) -> None:
    sql.run("set_merged", (into, entity))
    sql.run("insert_identity_merge", (entity, into, to_text(at)))


def _rename(sql: Sql, entity: int, name: str, at: datetime) -> None:
    sql.run("rename_entity", (name, entity))
    sql.run("insert_identity_name", (entity, name, "", to_text(at)))


def _move(sql: Sql, mention: tuple[int, int, str], to: int, type_: str, at: datetime) -> None:
    """Give a mention to another identity; as it was it stays among the past ones."""
    unit, old, name = mention
    sql.run("keep_past_mention", {"unit": unit, "entity": old, "name": name, "until": to_text(at)})
    sql.run("delete_mention", mention)
    sql.run_batch("insert_mention", [(unit, to, name, type_, to_text(at))])


def _undo_split(sql: Sql, detail: dict[str, Any], at: datetime) -> None:
    new = _seq(sql, detail["new"])
    home = _seq(sql, detail["entity"])
    back = {(unit, name): old for unit, old, name, _ in detail["moved"]}
    rows = sql.run("mentions_of_entity", (new,)).fetchall()
    for unit, name, type_ in rows:
        _move(sql, (unit, new, name), back.get((unit, name), home), type_, at)
        sql.run_batch("insert_entity_name", [(back.get((unit, name), home), name, 0)])
    # It stays for those who ask for the time in between, without a name that anybody goes by.
    sql.run("drop_names_of", (new,))
    _merge(sql, new, home, at)


def _seq(sql: Sql, entity: str) -> int:
    row = sql.run("entity_by_id", (entity,)).fetchone()
    if row is None:
        raise NotFound(f"there is no entity '{entity}'; `everwhen show entities` lists them")
    return int(row[0])


def _log(sql: Sql, at: datetime, action: str, detail: dict[str, Any]) -> None:
    row = (to_text(at), action, json.dumps(detail, ensure_ascii=False))
    sql.run("insert_entity_log", row)
