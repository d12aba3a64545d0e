"""Keeps a bank's search index up to date with the commits of every process.

Tree nodes have an index of their own, loaded when it is first needed. So questions that do not use nodes pay nothing
for them, and words that nodes repeat are not counted twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from everwhen.errors import ModelChanged
from everwhen.store.base import BankInfo
from everwhen.store.index import Index
from everwhen.store.sql.values import bank_values, changed_model
from everwhen.store.sqlite import index_loading
from everwhen.store.sqlite.connection import SqliteConnection, SqliteSql
from everwhen.store.sqlite.index_loading import read_again, read_removals, read_rows


class SyncedIndex:
    """The index of a bank's tree nodes, or of all its other units."""

    def __init__(self, reader: SqliteConnection, info: Callable[[], BankInfo], *, nodes: bool) -> None:
        self.nodes = nodes
        self._reader = reader
        self._info = info
        self._index = Index()
        self._lock = threading.Lock()
        self._seen: tuple[int, str] | None = None  # data_version and epoch at the last catch-up

    def current(self) -> Index:
        """The index as of now; only new rows are read."""
        with self._lock:
            with self._reader.use() as sql:
                version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
                if self._seen is not None and self._seen[0] == version:
                    return self._index
            info = self._info()
            with self._reader.snapshot() as sql:  # one snapshot for rows, vectors and epoch
                values = bank_values(sql)
                epoch = values.get("epoch", "0")
                if (values["embedder"], values["dimension"]) != (info.embedder, str(info.dimension)):
                    raise ModelChanged(changed_model(info.name, values["embedder"]))
                version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
                before = self._index if self._seen is not None and self._seen[1] == epoch else Index()
                self._index = self._caught_up(sql, before, info.dimension)
            self._seen = (version, epoch)
            return self._index

    def _caught_up(self, sql: SqliteSql, index: Index, dimension: int) -> Index:
        gone, removed = read_removals(sql, index.removed, holding=bool(len(index)))
        if gone is None:  # it has not followed for so long that nobody knows any more what went
            index, gone = Index(), np.zeros(0, dtype=np.int64)
        changed = gone[gone <= index.seen]
        index = index.without(changed, removed)
        if len(changed):
            batch, speakers = read_again(sql, changed, dimension, self.nodes)
            index = index.extended(batch, index.seen, speakers)
        return self._with_what_is_new(sql, index, dimension)

    def _with_what_is_new(self, sql: SqliteSql, index: Index, dimension: int) -> Index:
        """A block is built on another thread while the rows of the next one are read: SQLite and Python read, NumPy
        builds. The thread ends here, and a small bank has none: a pool starts it with the first block."""
        with ThreadPoolExecutor(1) as pool:
            building: Future[Index] | None = None
            seen = index.seen
            while True:
                batch, seen, speakers = read_rows(sql, seen, dimension, self.nodes)
                index = building.result() if building else index
                if len(batch.rows.units) == index_loading.ROWS_AT_ONCE:
                    building = pool.submit(index.extended, batch, seen, speakers)
                    del batch  # 60 MB that would be kept while the next ones are read
                    continue
                building, index = None, index.extended(batch, seen, speakers)
                if not len(batch.rows.units):
                    return index
