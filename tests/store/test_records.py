"""The description of records holds every table and column of a bank."""

from __future__ import annotations

from pathlib import Path

from everwhen.store.sql.records import KINDS, Field
from everwhen.store.sqlite.connection import SqliteConnection, migrate

DERIVED = {"migrations", "claims", "pending", "names_version", "removals"}
"""Tables that are no content of a bank: they follow from the others, or say who is at work."""


def columns(fields: tuple[Field, ...]) -> set[str]:
    return {one.column for one in fields}


def test_every_table_and_column_is_told(tmp_path: Path) -> None:
    told: dict[str, set[str]] = {}
    for kind in KINDS:
        own = columns(kind.fields) | {kind.key, *kind.given}
        told[kind.table] = told.get(kind.table, set()) | own
        for part in kind.parts:
            told[part.table] = columns(part.fields) | {part.parent} | ({part.place} - {""})
    connection = SqliteConnection(tmp_path / "b.db", busy_seconds=5)
    migrate(connection)
    with connection.use() as sql:
        tables = {row[0] for row in sql.run("tables")} - DERIVED
        held = {table: {row[1] for row in sql.raw.execute(f"PRAGMA table_info({table})")} for table in tables}
    connection.close()
    assert told == held
