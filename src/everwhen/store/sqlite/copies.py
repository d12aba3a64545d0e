"""Copies of a bank's file: snapshots, backups, loading, and taking a bank's place."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable
from everwhen.store.base import bank_values, put_values
from everwhen.store.sql.maintenance import MaintenanceStore
from everwhen.store.sql.records import Loader, Snapshot, progress
from everwhen.store.sql.store import Store
from everwhen.store.sqlite.connection import (
    SCHEMA,
    SqliteConnection,
    SqliteSql,
    create_file,
    is_writable,
    migrate,
    part_of,
    remove_file,
    translate,
)
from everwhen.store.sqlite.scrubbing import truncate_log


@contextmanager
def snapshot(path: Path, busy_seconds: float) -> Iterator[Snapshot]:
    """Open a bank's file for reading at one moment, whatever others write meanwhile."""
    connection = SqliteConnection(path, busy_seconds=busy_seconds, read_only=not is_writable(path))
    with closing(connection), connection.snapshot() as sql:
        yield Snapshot(sql)


class SqliteLoader(Loader):
    """A bank that is being built from records in a file of its own."""

    def __init__(self, path: Path, source: str) -> None:
        self._file = _begun(path, source) or _anew(path)
        super().__init__(self._file, source)

    def finish(self, counts: Mapping[str, int], name: str) -> None:
        super().finish(counts, name)
        verify(self._file)
        self.close()


def _begun(path: Path, source: str) -> SqliteConnection | None:
    """The file of an earlier attempt to load the same; None where there is none."""
    if not path.exists():
        return None
    connection = SqliteConnection(path, busy_seconds=5.0)
    try:
        with connection.use() as sql:
            found = progress(sql)
    except EverwhenError:  # of another format, or damaged
        found = None
    if found is not None and found[0] == source:
        return connection
    connection.close()
    return None


def _anew(path: Path) -> SqliteConnection:
    remove_file(path)
    create_file(path)
    connection = SqliteConnection(path, busy_seconds=5.0)
    try:
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


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
                counts = table_counts(sql)
                sql.raw.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
        with closing(SqliteConnection(part, busy_seconds=busy_seconds, read_only=True)) as checked:
            verify(checked)
            with checked.use() as sql:
                if (found := table_counts(sql)) != counts:
                    raise Damaged(f"the copy of the bank differs from it ({found} and {counts}): try again")
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
        raise Refused(f"{path} is no file; name a file that `everwhen bank backup` wrote")
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            raise Damaged(f"{path} is no backup of a bank; name a file that `everwhen bank backup` wrote")
    with closing(SqliteConnection(path, busy_seconds=5.0, read_only=True)) as connection:
        with connection.use() as sql:
            found = version(sql)
            if not found:
                raise Damaged(f"{path} is no backup of a bank; name a file that `everwhen bank backup` wrote")
            if found > SCHEMA:
                raise Refused(
                    f"{path} was written by a newer everwhen (schema {found}, this one knows {SCHEMA}); upgrade with "
                    "pip install --upgrade everwhen"
                )
            values = bank_values(sql)
        verify(connection)
    return values


def version(sql: SqliteSql) -> int:
    try:
        return int(sql.raw.execute("SELECT coalesce(max(version), 0) FROM migrations").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def table_counts(sql: SqliteSql) -> dict[str, int]:
    """How many rows each table has."""
    names = [row[0] for row in sql.run("tables")]
    return {name: sql.raw.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


class SqliteMaintenance(MaintenanceStore):
    """The `MaintenanceStore` of one bank file. The contract of each method is in `everwhen.store.rows`."""

    def __init__(self, store: Store, file: SqliteConnection, busy_seconds: float) -> None:
        super().__init__(store)
        self._file = file
        self._busy_seconds = busy_seconds

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with snapshot(self._file.path, self._busy_seconds) as found:
            yield found

    def loader(self, source: str) -> SqliteLoader:
        return SqliteLoader(part_of(self._file.path), source)

    def take_over(self) -> None:
        part = part_of(self._file.path)
        take_over(part, self._file)
        remove_file(part)
        truncate_log(self._file)
