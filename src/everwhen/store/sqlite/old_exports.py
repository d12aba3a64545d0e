"""Loads exports of format 1, whose lines are rows of the tables of a SQLite schema.

They were written before exports became records that any database can read. The rows go into tables of their own
schema, which is then brought to the newest.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from everwhen.errors import Damaged, Refused
from everwhen.store.maintenance import OldExport, Record
from everwhen.store.sql.transfer import make_terms
from everwhen.store.sqlite.connection import SCHEMA, SqliteConnection, SqliteSql, create_file, migrate
from everwhen.store.sqlite.files import remove_file
from everwhen.store.sqlite.snapshot import table_counts, verify
from everwhen.store.sqlite.statements import migrations

_UNTOLD = frozenset({"migrations", "claims", "pending", "names_version"})
"""Not in an export: how the schema came about, who is at work, and what follows from other tables."""
_MADE_AGAIN = {"units": "terms"}
"""Columns that follow from others."""


class OldExportLoader:
    """A `Loader` of rows. It records its progress: an interrupted load goes on from there."""

    def __init__(self, path: Path, source: str, old: OldExport) -> None:
        self._path = path
        self._old = old
        if old.schema > SCHEMA:
            raise Refused(
                f"the export was written by a newer everwhen (schema {old.schema}, this one knows {SCHEMA}); "
                "upgrade with pip install --upgrade everwhen"
            )
        if old.schema not in {number for number, _, _ in migrations()}:
            raise Damaged(f"the export names schema {old.schema}, which never was; the file is damaged")
        create_file(path)
        self._connection = SqliteConnection(path, busy_seconds=5.0)
        with self._connection.use() as sql:
            sql.raw.execute("PRAGMA foreign_keys = OFF")  # rows come table by table; checked at the end
            sql.raw.execute("PRAGMA journal_mode = WAL")
        found = self._progress()
        if found is None or found[0] != source:
            self._start(source)
            found = (source, 0, "")
        self.offset, self.chain = found[1], found[2]

    def put(self, records: Sequence[Record], offset: int, chain: str) -> None:
        with self._connection.transaction() as sql:
            for record in records:
                table, row = record.get("table"), record.get("row")
                known = _columns(sql, table) if isinstance(table, str) and table in _known(sql) else []
                if not known or not isinstance(row, dict) or not set(row) <= set(known):
                    raise Damaged(
                        f"the export has a row for '{table}' with columns that are none of its: it is no export "
                        "of this schema"
                    )
                given = {name: _stored(value) for name, value in row.items()}
                given |= {_MADE_AGAIN[table]: b""} if table in _MADE_AGAIN else {}
                marks = ", ".join("?" * len(given))
                sql.raw.execute(
                    f"INSERT OR REPLACE INTO {table} ({', '.join(given)}) VALUES ({marks})",
                    list(given.values()),
                )
            sql.raw.execute("UPDATE load SET place = ?, chain = ?", (offset, chain))
        self.offset, self.chain = offset, chain

    def finish(self, counts: Mapping[str, int], name: str) -> None:
        with self._connection.transaction() as sql:
            found = table_counts(sql)
            wrong = {table: count for table, count in counts.items() if found.get(table) != count}
            if wrong:
                table, count = next(iter(wrong.items()))
                raise Damaged(f"the export promises {count} rows of {table}, and {found.get(table, 0)} came")
            make_terms(sql)
            for table, seq in self._old.sequences.items():
                sql.raw.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (seq, table))
                if not sql.raw.execute("SELECT changes()").fetchone()[0]:
                    sql.raw.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, seq))
            sql.run("put_bank_value", ("name", name))
            sql.raw.execute("DROP TABLE load")
        verify(self._connection)
        migrate(self._connection)
        self._connection.close()

    def close(self) -> None:
        self._connection.close()

    def _progress(self) -> tuple[str, int, str] | None:
        with suppress(Exception), self._connection.use() as sql:
            row: tuple[str, int, str] | None = sql.raw.execute(
                "SELECT source, place, chain FROM load"
            ).fetchone()
            return row
        return None

    def _start(self, source: str) -> None:
        self._connection.close()
        remove_file(self._path)
        create_file(self._path)
        self._connection = SqliteConnection(self._path, busy_seconds=5.0)
        migrate(self._connection, to=self._old.schema)
        with self._connection.transaction() as sql:
            for table in _known(sql):
                sql.raw.execute(f"DELETE FROM {table}")  # a migration may have put something there
            sql.raw.execute(
                "CREATE TABLE load (source TEXT NOT NULL, place INTEGER NOT NULL, chain TEXT NOT NULL)"
            )
            sql.raw.execute("INSERT INTO load VALUES (?, 0, '')", (source,))
        with self._connection.use() as sql:
            sql.raw.execute("PRAGMA foreign_keys = OFF")


def _known(sql: SqliteSql) -> set[str]:
    return {row[0] for row in sql.run("tables")} - {"load", *_UNTOLD}


def _columns(sql: SqliteSql, table: str) -> list[str]:
    return [row[1] for row in sql.raw.execute(f"PRAGMA table_info({table})")]


def _stored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return base64.b64decode(value["base64"])
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"the export has a value that cannot be read ({error})") from error
