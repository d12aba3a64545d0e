"""The SQLite store of a bank: one file, and the search index in memory that is derived from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from everwhen.errors import Damaged, NotFound, Unavailable
from everwhen.store.base import BankInfo, Voices
from everwhen.store.index import Index, IndexFilter
from everwhen.store.jobs import Jobs
from everwhen.store.memory_search import MemorySearch
from everwhen.store.search import Filter, Search, SearchQuery
from everwhen.store.sql.facts import SqlFacts
from everwhen.store.sql.graph import SqlGraph
from everwhen.store.sql.jobs import SqlExtractionJobs, SqlTreeJobs
from everwhen.store.sql.session import Sql
from everwhen.store.sql.store import SqlStore, info_of, introduced
from everwhen.store.sql.tree import SqlTree
from everwhen.store.sql.values import next_epoch
from everwhen.store.sqlite.checks import check
from everwhen.store.sqlite.connection import SCHEMA, SqliteConnection, create_file, is_writable, migrate
from everwhen.store.sqlite.files import bank_bytes, remove_file
from everwhen.store.sqlite.index_loading import to_window, wants_nodes
from everwhen.store.sqlite.index_sync import SyncedIndex
from everwhen.store.sqlite.maintenance import SqliteMaintenance
from everwhen.store.sqlite.scrubbing import SqliteScrubbing
from everwhen.store.sqlite.turn_cache import TurnCache
from everwhen.store.vector_model import VectorModel
from everwhen.types import ROLES, Finding, UnitRow


class SqliteStore(SqlStore):
    """The `Store` of one bank file. The contract of each method is in `everwhen.store.base`."""

    def __init__(
        self,
        path: Path,
        info: BankInfo,
        writer: SqliteConnection,
        reader: SqliteConnection,
        busy_seconds: float = 30.0,
    ) -> None:
        super().__init__(info, writer, reader)
        self.path = path
        self._file, self._pages = writer, reader
        self._kept = TurnCache()
        self.graph = SqlGraph(self)
        self.facts = SqlFacts(self)
        self.tree = SqlTree(self)
        self.keep = SqliteMaintenance(self, writer, busy_seconds)
        scrubbing = SqliteScrubbing(writer, reader)
        self.jobs = Jobs(SqlExtractionJobs(self), SqlTreeJobs(self), scrubbing, NoIndexing())
        self._live = SyncedIndex(reader, lambda: self._info, nodes=False)
        self._live_nodes = SyncedIndex(reader, lambda: self._info, nodes=True)
        self._inode = path.stat().st_ino

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        embedder: str,
        dimension: int | Callable[[], int],
        zone: str,
        create: bool = True,
        busy_seconds: float = 30.0,
    ) -> SqliteStore:
        """Open a bank, or make it. Its embedder must be the one it was made with.

        `dimension` is asked for only when the bank is new: a bank can be read without its model. One that
        cannot be written is opened for reading.
        """
        made = not path.exists()
        if made:
            if not create:
                raise NotFound(
                    f"there is no bank '{path.stem}'; `everwhen bank list` lists those that exist, and a first "
                    f"`everwhen add --bank {path.stem} TEXT` makes it"
                )
            create_file(path)
        elif not create and path.stat().st_size == 0:
            raise Damaged(f"bank '{path.stem}' is damaged: {path} is empty; restore a backup in its place")
        read_only = not is_writable(path)
        writer = SqliteConnection(path, busy_seconds=busy_seconds, read_only=read_only)
        try:
            migrate(writer, read_only=read_only)
            values = introduced(writer, path.stem, embedder, dimension, zone)
            reader = SqliteConnection(path, busy_seconds=busy_seconds, read_only=read_only)
        except BaseException:
            writer.close()
            if made:  # a full disk, say: half a bank must not look like one
                remove_file(path)
            raise
        store = cls(path, info_of(path.stem, values, SCHEMA), writer, reader, busy_seconds)
        if not read_only and store.jobs.scrubbing.waits():
            store.jobs.scrubbing.run()  # a crash came between forgetting and the last byte of it
        return store

    def still_ours(self, sql: Sql, made_with: VectorModel) -> None:
        super().still_ours(sql, made_with)
        if not self.path.exists() or self.path.stat().st_ino != self._inode:
            raise Unavailable(f"bank '{self._info.name}' was removed; open it again to make a new one")

    def size(self) -> int:
        return bank_bytes(self.path)

    # Reading

    def search(self, query: SearchQuery) -> Search:
        where = query.where
        return MemorySearch(query, self._index_for(where), self._window(where), self.tokenizer, self)

    def voices(self, *, latest: bool = True) -> Voices:
        index = self.index()
        roles = frozenset(ROLES[role] for block in index.blocks for role in block.roles if role >= 0)
        return Voices(index.speakers, roles, self.graph.names())

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        with self._pages.use() as sql:
            return self._kept.read(sql, seqs)

    def check(self, *, fix: bool = False) -> list[Finding]:
        indexes = [(one.nodes, one.current) for one in (self._live, self._live_nodes)]
        findings = check(self._file, indexes, self.tokenizer, self._info.dimension, fix=fix)
        findings += self.graph.check()
        findings += self.tree.check()
        if any(finding.fixed for finding in findings):
            with self._writer.transaction() as sql:
                next_epoch(sql)
        return findings

    # The derived index

    def index(self) -> Index:
        """The search index of everything but nodes, caught up with every commit of every process."""
        return self._live.current()

    def _index_for(self, where: Filter) -> Index:
        """The rows that a filter may let pass."""
        return self.whole_index() if wants_nodes(where) else self.index()

    def whole_index(self) -> Index:
        return self.index().beside(self._live_nodes.current())

    def _window(self, where: Filter) -> IndexFilter:
        return to_window(where, self._with_metadata, self._reaching_back)


class NoIndexing:
    """The `IndexJob` of a bank in a file: its index is in memory, and always there."""

    def waits(self) -> bool:
        return False

    def run(self) -> bool:
        return False
