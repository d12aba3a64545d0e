"""What forgetting and moving banks need of a file: snapshots, loading, and taking a bank's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from everwhen.store.index import Index
from everwhen.store.maintenance import Loader, OldExport
from everwhen.store.sql.maintenance import SqlMaintenance
from everwhen.store.sql.session import Sql
from everwhen.store.sql.transfer import SqlSnapshot
from everwhen.store.sqlite.connection import SqliteConnection
from everwhen.store.sqlite.files import part_of, remove_file
from everwhen.store.sqlite.old_exports import OldExportLoader
from everwhen.store.sqlite.scrubbing import truncate_log
from everwhen.store.sqlite.snapshot import SqliteLoader, snapshot, take_over
from everwhen.store.terms import Tokenizer
from everwhen.store.vector_model import VectorModel


class SqliteMaintenance(SqlMaintenance):
    """The `MaintenanceStore` of one bank file. The contract of each method is in `everwhen.store.maintenance`."""

    def __init__(
        self,
        writer: SqliteConnection,
        reader: SqliteConnection,
        tokenizer: Callable[[], Tokenizer],
        index: Callable[[], Index],
        still_ours: Callable[[Sql, VectorModel], None],
        busy_seconds: float,
    ) -> None:
        super().__init__(writer, reader, tokenizer, index, still_ours)
        self._file = writer
        self._busy_seconds = busy_seconds

    @contextmanager
    def snapshot(self) -> Iterator[SqlSnapshot]:
        with snapshot(self._file.path, self._busy_seconds) as found:
            yield found

    def loader(self, source: str, old: OldExport | None = None) -> Loader:
        part = part_of(self._file.path)
        return OldExportLoader(part, source, old) if old else SqliteLoader(part, source)

    def take_over(self) -> None:
        part = part_of(self._file.path)
        take_over(part, self._file)
        remove_file(part)
        truncate_log(self._file)
