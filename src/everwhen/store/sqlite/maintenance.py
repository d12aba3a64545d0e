"""What forgetting and moving banks need of a file: snapshots, loading, and taking a bank's place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from everwhen.store.sql.maintenance import SqlMaintenance
from everwhen.store.sql.records import SqlSnapshot
from everwhen.store.sql.store import SqlStore
from everwhen.store.sqlite.connection import SqliteConnection
from everwhen.store.sqlite.files import part_of, remove_file
from everwhen.store.sqlite.scrubbing import truncate_log
from everwhen.store.sqlite.snapshot import SqliteLoader, snapshot, take_over


class SqliteMaintenance(SqlMaintenance):
    """The `MaintenanceStore` of one bank file. The contract of each method is in `everwhen.store.maintenance`."""

    def __init__(self, store: SqlStore, file: SqliteConnection, busy_seconds: float) -> None:
        super().__init__(store)
        self._file = file
        self._busy_seconds = busy_seconds

    @contextmanager
    def snapshot(self) -> Iterator[SqlSnapshot]:
        with snapshot(self._file.path, self._busy_seconds) as found:
            yield found

    def loader(self, source: str) -> SqliteLoader:
        return SqliteLoader(part_of(self._file.path), source)

    def take_over(self) -> None:
        part = part_of(self._file.path)
        take_over(part, self._file)
        remove_file(part)
        truncate_log(self._file)
