"""What the parts of a bank's SQL store have in common: they work over the store's connections, with its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everwhen.store.sql.store import SqlStore


class SqlPart:
    """One part of a bank's store: facts, graph, tree, maintenance or the lists of work."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._writer, self._reader = store._writer, store._reader
        self._read = store.read
