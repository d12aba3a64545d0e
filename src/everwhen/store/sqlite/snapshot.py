"""Whole banks: reading a snapshot, loading rows into a new file, and verified copies.

A bank is loaded or restored into a file of its own beside the bank (`.name.db.part`). When that file is complete, it
replaces the bank page by page in one SQLite transaction: other processes see the old bank or the new one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from everwhen.errors import Damaged, Refused, Unavailable
from everwhen.store.sql.values import bank_values, put_values
from everwhen.store.sqlite.connection import (
    SCHEMA,
    SqliteConnection,
    SqliteSql,
    create_file,
    is_writable,
    migrate,
    translate,
)
from everwhen.store.sqlite.files import remove_file
from everwhen.store.sqlite.statements import migrations
from everwhen.store.terms import Tokenizer

Row = dict[str, Any]

UNTOLD = frozenset({"migrations", "claims", "pending", "names_version"})
"""Not a bank's content: how the schema came about, who is at work, and what follows from other tables."""
MADE_AGAIN = {"units": "terms"}
"""Columns that follow from others."""
_AT_ONCE = 1024


class SqliteSnapshot:
    """A bank at one moment, whatever others write meanwhile."""

    def __init__(self, sql: SqliteSql) -> None:
        self._sql = sql
        self.schema = version(sql)

    def tables(self) -> dict[str, int]:
        """The tables with the number of their rows."""
        names = [row[0] for row in self._sql.run("tables") if row[0] not in UNTOLD]
        return {name: self._sql.raw.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}

    def sequences(self) -> dict[str, int]:
        """The last number given in each table that never gives one twice."""
        return dict(self._sql.raw.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall())

    def values(self) -> dict[str, str]:
        return bank_values(self._sql)

    def rows(self, table: str) -> Iterator[Row]:
        columns = [name for name in _columns(self._sql, table) if name != MADE_AGAIN.get(table)]
        keys = ", ".join(_key(self._sql, table))
        cursor = self._sql.raw.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {keys}")
        while rows := cursor.fetchmany(_AT_ONCE):
            for row in rows:
                yield dict(zip(columns, row, strict=True))


@contextmanager
def snapshot(path: Path, busy_seconds: float) -> Iterator[SqliteSnapshot]:
    """Open a bank's file for reading at one moment."""
    connection = SqliteConnection(path, busy_seconds=busy_seconds, read_only=not is_writable(path))
    try:
        with connection.snapshot() as sql:
            yield SqliteSnapshot(sql)
    finally:
        connection.close()


class SqliteLoader:
    """A bank that is being built from rows. It records its progress: an interrupted load goes on from there."""

    def __init__(self, path: Path, schema: int, source: str) -> None:
        self.path = path
        if schema > SCHEMA:
            raise Refused(
                f"the export was written by a newer everwhen (schema {schema}, this one knows {SCHEMA}); "
                "upgrade with pip install --upgrade everwhen"
            )
        known = {number for number, _, _ in migrations()}
        if schema not in known:
            raise Damaged(f"the export names schema {schema}, which never was; the file is damaged")
        create_file(path)
        self._connection = SqliteConnection(path, busy_seconds=5.0)
        with self._connection.use() as sql:
            sql.raw.execute("PRAGMA foreign_keys = OFF")  # rows come table by table; checked at the end
            sql.raw.execute("PRAGMA journal_mode = WAL")
        found = self._progress()
        if found is None or found[0] != source:
            self._start(schema, source)
            found = (source, 0, "")
        self.offset, self.chain = found[1], found[2]

    def put(self, rows: Sequence[tuple[str, Mapping[str, Any]]], offset: int, chain: str) -> None:
        """Write rows of several tables, and how far this came, in one transaction."""
        with self._connection.transaction() as sql:
            for table, row in rows:
                known = _columns(sql, table) if table in self._known(sql) else []
                if not known or not set(row) <= set(known):
                    raise Damaged(
                        f"the export has a row for '{table}' with columns that are none of its: it is no export "
                        "of this schema"
                    )
                given = {**row, **({MADE_AGAIN[table]: b""} if table in MADE_AGAIN else {})}
                marks = ", ".join("?" * len(given))
                sql.raw.execute(
                    f"INSERT OR REPLACE INTO {table} ({', '.join(given)}) VALUES ({marks})",
                    list(given.values()),
                )
            sql.raw.execute("UPDATE load SET place = ?, chain = ?", (offset, chain))
        self.offset, self.chain = offset, chain

    def finish(self, counts: Mapping[str, int], sequences: Mapping[str, int], name: str) -> None:
        """Make what follows from the rows, bring the schema to the newest, and check that all is there."""
        with self._connection.transaction() as sql:
            found = SqliteSnapshot(sql).tables()
            wrong = {table: count for table, count in counts.items() if found.get(table) != count}
            if wrong:
                table, count = next(iter(wrong.items()))
                raise Damaged(f"the export promises {count} rows of {table}, and {found.get(table, 0)} came")
            _make_terms(sql)
            for table, seq in sequences.items():
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

    def _known(self, sql: SqliteSql) -> set[str]:
        return {row[0] for row in sql.run("tables")} - {"load", *UNTOLD}

    def _progress(self) -> tuple[str, int, str] | None:
        with suppress(Exception), self._connection.use() as sql:
            row: tuple[str, int, str] | None = sql.raw.execute(
                "SELECT source, place, chain FROM load"
            ).fetchone()
            return row
        return None

    def _start(self, schema: int, source: str) -> None:
        self._connection.close()
        remove_file(self.path)
        create_file(self.path)
        self._connection = SqliteConnection(self.path, busy_seconds=5.0)
        migrate(self._connection, to=schema)
        with self._connection.transaction() as sql:
            for table in self._known(sql):
                sql.raw.execute(f"DELETE FROM {table}")  # a migration may have put something there
            sql.raw.execute(
                "CREATE TABLE load (source TEXT NOT NULL, place INTEGER NOT NULL, chain TEXT NOT NULL)"
            )
            sql.raw.execute("INSERT INTO load VALUES (?, 0, '')", (source,))
        with self._connection.use() as sql:
            sql.raw.execute("PRAGMA foreign_keys = OFF")


def copy_to(source: Path, target: Path, busy_seconds: float) -> None:
    """A verified copy of a bank in one file, whoever writes meanwhile."""
    part = target.with_name(f".{target.name}.part")
    create_file(part)  # says so where nothing can be written
    remove_file(part)
    create_file(part)
    connection = SqliteConnection(source, busy_seconds=busy_seconds, read_only=not is_writable(source))
    try:
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            with connection.snapshot() as sql:
                counts = SqliteSnapshot(sql).tables()
                sql.raw.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
        checked = SqliteConnection(part, busy_seconds=busy_seconds, read_only=True)
        try:
            verify(checked)
            with checked.use() as sql:
                if (found := SqliteSnapshot(sql).tables()) != counts:
                    raise Damaged(f"the copy of the bank differs from it ({found} and {counts}): try again")
        finally:
            checked.close()
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(target)
    except sqlite3.Error as error:
        raise translate(error, target, busy_seconds) from error
    except OSError as error:
        raise Unavailable(f"cannot write {target}: {error.strerror}") from error
    finally:
        connection.close()
        remove_file(part)


def take_over(path: Path, writer: SqliteConnection) -> None:
    """Put the bank of a file into the place of an open one, in one transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw, writer.use() as sql:
        source = SqliteSql(raw)
        epochs = [int(bank_values(one).get("epoch", "0")) for one in (source, sql)]
        # Every process that has an index of the old bank must read the new one from its beginning.
        put_values(source, {"epoch": str(max(epochs) + 1)})
        raw.backup(sql.raw)


def verify(connection: SqliteConnection) -> None:
    """That a file is whole; raises `Damaged` with what is not."""
    with connection.use() as sql:
        found = [row[0] for row in sql.raw.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
        if found:
            raise Damaged(f"{connection.path} is damaged: {found[0]}")
        row = sql.raw.execute("PRAGMA foreign_key_check").fetchone()
        if row is not None:
            raise Damaged(
                f"{connection.path} is not whole: row {row[1]} of {row[0]} points at a missing {row[2]}"
            )


def check_backup(path: Path) -> dict[str, str]:
    """What a backup says of itself, once it is sure that it can be restored."""
    if not path.is_file():
        raise Refused(f"{path} is no file; name a file that `everwhen backup` wrote")
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            raise Damaged(f"{path} is no backup of a bank; name a file that `everwhen backup` wrote")
    connection = SqliteConnection(path, busy_seconds=5.0, read_only=True)
    try:
        with connection.use() as sql:
            found = version(sql)
            if not found:
                raise Damaged(f"{path} is no backup of a bank; name a file that `everwhen backup` wrote")
            if found > SCHEMA:
                raise Refused(
                    f"{path} was written by a newer everwhen (schema {found}, this one knows {SCHEMA}); upgrade with "
                    "pip install --upgrade everwhen"
                )
            values = bank_values(sql)
        verify(connection)
    finally:
        connection.close()
    return values


def version(sql: SqliteSql) -> int:
    try:
        return int(sql.raw.execute("SELECT coalesce(max(version), 0) FROM migrations").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _make_terms(sql: SqliteSql) -> None:
    tokenizer = Tokenizer()
    cursor = sql.run("unit_terms")
    while rows := cursor.fetchmany(_AT_ONCE):
        fresh = tokenizer.packed([f"{row[1]} {row[2]}" for row in rows], [row[3] for row in rows])
        sql.run_many("set_terms", [(terms, row[0]) for terms, row in zip(fresh, rows, strict=True)])


def _columns(sql: SqliteSql, table: str) -> list[str]:
    return [row[1] for row in sql.raw.execute(f"PRAGMA table_info({table})")]


def _key(sql: SqliteSql, table: str) -> list[str]:
    info = sql.raw.execute(f"PRAGMA table_info({table})").fetchall()
    keys = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
    return keys or ["rowid"]
