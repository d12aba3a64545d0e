"""Decisions of people about entities: merge, split, rename. Each is logged and can be undone."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from everwhen.errors import NotFound, UsageError
from everwhen.instants import to_text
from everwhen.store.sqlite.connection import Connection
from everwhen.store.sqlite.statements import statements


class Identities:
    """The part of `SqliteGraph` that stores these decisions."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer

    def merge(self, kept: str, gone: str, at: datetime) -> None:
        with self._writer.transaction() as sql:
            one, other = _seq(sql, kept), _seq(sql, gone)
            if one == other:
                raise UsageError("an entity cannot be merged with itself")
            sql.execute(statements()["set_merged"], (one, other))
            _log(sql, at, "merge", {"kept": kept, "gone": gone})

    def split(self, entity: str, names: Sequence[str], type_: str | None, at: datetime) -> str:
        ask = statements()
        with self._writer.transaction() as sql:
            root = _seq(sql, entity)
            moved = sql.execute(ask["mentions_under_names"], (root, json.dumps(list(names)))).fetchall()
            if not moved:
                raise NotFound(
                    f"'{entity}' goes by none of the names {', '.join(names)}; see `everwhen entities`"
                )
            kind = type_ or sql.execute(ask["entity_by_id"], (entity,)).fetchone()[2]
            new = new_entity(sql, names[0], kind)
            for unit, old, name, kind_then in moved:
                sql.execute(ask["delete_mention"], (unit, old, name))
                sql.execute(ask["insert_mention"], (unit, new, name, type_ or kind_then))
                sql.execute(ask["seen_entity"], (unit, new))
            for name in names:
                for old in {row[1] for row in moved}:
                    sql.execute(ask["drop_entity_name"], (old, name))
                sql.execute(ask["insert_entity_name"], (new, name, 1))
            id_ = str(sql.execute("SELECT id FROM entities WHERE seq = ?", (new,)).fetchone()[0])
            _log(sql, at, "split", {"entity": entity, "new": id_, "moved": [list(row) for row in moved]})
        return id_

    def rename(self, entity: str, name: str, at: datetime) -> None:
        ask = statements()
        with self._writer.transaction() as sql:
            seq = _seq(sql, entity)
            before = sql.execute(ask["entity_by_id"], (entity,)).fetchone()[1]
            sql.execute(ask["rename_entity"], (name, seq))
            sql.execute(ask["insert_entity_name"], (seq, name, 1))
            sql.execute(ask["insert_entity_name"], (seq, before, 1))
            _log(sql, at, "rename", {"entity": entity, "name": name, "before": before})

    def undo(self) -> dict[str, Any] | None:
        ask = statements()
        with self._writer.transaction() as sql:
            row = sql.execute(ask["last_entity_log"]).fetchone()
            if row is None:
                return None
            seq, action, detail = row[0], row[1], json.loads(row[2])
            if action == "merge":
                sql.execute(ask["set_merged"], (None, _seq(sql, detail["gone"])))
            elif action == "rename":
                sql.execute(ask["rename_entity"], (detail["before"], _seq(sql, detail["entity"])))
            else:
                _undo_split(sql, detail)
            sql.execute(ask["set_undone"], (seq,))
        return {"action": action, **detail}


def new_entity(sql: sqlite3.Connection, name: str, type_: str) -> int:
    """Write an identity; its seq."""
    seq = sql.execute(statements()["insert_entity"], (f"n{os.urandom(6).hex()}", name, type_)).lastrowid
    assert seq is not None
    sql.execute(statements()["insert_entity_name"], (seq, name, 0))
    return seq


def _undo_split(sql: sqlite3.Connection, detail: dict[str, Any]) -> None:
    ask = statements()
    new = _seq(sql, detail["new"])
    home = _seq(sql, detail["entity"])
    back = {(unit, name): old for unit, old, name, _ in detail["moved"]}
    rows = sql.execute("SELECT unit, name, type FROM mentions WHERE entity = ?", (new,)).fetchall()
    for unit, name, type_ in rows:
        sql.execute(ask["delete_mention"], (unit, new, name))
        sql.execute(ask["insert_mention"], (unit, back.get((unit, name), home), name, type_))
        sql.execute(ask["insert_entity_name"], (back.get((unit, name), home), name, 0))
    sql.execute(ask["delete_entity"], (new,))


def _seq(sql: sqlite3.Connection, entity: str) -> int:
    row = sql.execute(statements()["entity_by_id"], (entity,)).fetchone()
    if row is None:
        raise NotFound(f"there is no entity '{entity}'; `everwhen entities` lists them")
    return int(row[0])


def _log(sql: sqlite3.Connection, at: datetime, action: str, detail: dict[str, Any]) -> None:
    row = (to_text(at), action, json.dumps(detail, ensure_ascii=False))
    sql.execute(statements()["insert_entity_log"], row)
