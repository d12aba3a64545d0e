"""The SQLite store of a bank: one file, and the search index in memory that is derived from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged, ModelChanged, NotFound
from everwhen.store.base import (
    PACKED,
    BankInfo,
    Rows,
    Sql,
    Tokenizer,
    VectorModel,
    bank_values,
    changed_model,
    label_key,
    next_epoch,
    unit_of,
)
from everwhen.store.index import Index, IndexBatch, IndexFilter, IndexRows, code, codes, empty_batch, sound
from everwhen.store.memory_search import MemorySearch
from everwhen.store.rows import Filter, Search, SearchQuery, Voices
from everwhen.store.sql.checks import check_rows
from everwhen.store.sql.facts import FactStore
from everwhen.store.sql.graph import GraphStore
from everwhen.store.sql.jobs import ExtractionJobs, Jobs
from everwhen.store.sql.store import Store, info_of, introduced
from everwhen.store.sql.tree import TreeJobs, TreeStore
from everwhen.store.sqlite.connection import (
    SCHEMA,
    SqliteConnection,
    SqliteSql,
    bank_bytes,
    create_file,
    is_writable,
    migrate,
    remove_file,
)
from everwhen.store.sqlite.copies import SqliteMaintenance
from everwhen.store.sqlite.scrubbing import SqliteScrubbing
from everwhen.types import ROLES, Finding, UnitRow
from everwhen.types.times import to_micros


class SqliteStore(Store):
    """The `Store` of one bank file."""

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
        self.graph = GraphStore(self)
        self.facts = FactStore(self)
        self.tree = TreeStore(self)
        self.keep = SqliteMaintenance(self, writer, busy_seconds)
        scrubbing = SqliteScrubbing(writer, reader)
        self.jobs = Jobs(ExtractionJobs(self), TreeJobs(self), scrubbing, NoIndexing())
        self._live = SyncedIndex(reader, lambda: self._info, nodes=False)
        self._live_nodes = SyncedIndex(reader, lambda: self._info, nodes=True)

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

    def size(self) -> int:
        return bank_bytes(self.path)

    # Reading

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Another process may commit a change meanwhile: the index in memory stays that of the model until the end."""
        while True:
            with self.model_lock.reading() as is_outermost:
                if not is_outermost or self._live.is_current():
                    yield
                    return
            self.refresh()

    def token_codes(self, seqs: Sequence[int]) -> dict[int, bytes]:
        with self._pages.snapshot() as sql:
            # Those of another model cannot be compared with the question's.
            return (
                dict(sql.run("token_codes", (list(seqs),))) if self._info.has_model(bank_values(sql)) else {}
            )

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
            with self.writer.transaction() as sql:
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


class SyncedIndex:
    """The index of a bank's tree nodes, or of all its other units."""

    def __init__(self, reader: SqliteConnection, info: Callable[[], BankInfo], *, nodes: bool) -> None:
        self.nodes = nodes
        self._reader = reader
        self._info = info
        self._index = Index()
        self._lock = threading.Lock()
        self._held: VectorModel | None = None
        self._seen: tuple[int, str] | None = None  # data_version and epoch at the last catch-up

    def current(self) -> Index:
        """The index as of now; only new rows are read."""
        with self._lock:
            with self._reader.use() as sql:
                version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
                if self._seen is not None and self._seen[0] == version:
                    return self._index
            info = self._info()
            held = self._index if self._held == info.model else None
            with self._reader.snapshot() as sql:  # one snapshot for rows, vectors and epoch
                values = bank_values(sql)
                epoch = values.get("epoch", "0")
                if not info.has_model(values):
                    if held is not None:  # whoever reads goes on with the model that they began with
                        return held
                    raise ModelChanged(changed_model(info.name, values["embedder"]))
                version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
                before = self._index if self._seen is not None and self._seen[1] == epoch else Index()
                self._index = self._caught_up(sql, before, info.dimension)
            self._seen, self._held = (version, epoch), info.model
            return self._index

    def is_current(self) -> bool:
        """Load what is new; False where the bank has another model than it is known to have."""
        with self._reader.use() as sql:
            values = bank_values(sql)
        if not self._info().has_model(values):
            return False
        with suppress(ModelChanged):
            self.current()
            return True
        return False

    def _caught_up(self, sql: SqliteSql, index: Index, dimension: int) -> Index:
        removed_units, removed = read_removals(sql, index.removed, holding=bool(len(index)))
        if removed_units is None:  # it has not followed for so long that nobody knows any more what went
            index, removed_units = Index(), np.zeros(0, dtype=np.int64)
        changed = removed_units[removed_units <= index.seen]
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
                if len(batch.rows.units) == ROWS_AT_ONCE:
                    building = pool.submit(index.extended, batch, seen, speakers)
                    del batch  # 60 MB that would be kept while the next ones are read
                    continue
                building, index = None, index.extended(batch, seen, speakers)
                if not len(batch.rows.units):
                    return index


T = TypeVar("T")
_AT_ONCE = 256  # rows, and vectors of 0.4 MB, that are handled at a time, so that they stay in the cache
_ROLE_CODES: dict[str | None, int] = {None: -1, **{role: place for place, role in enumerate(ROLES)}}


ROWS_AT_ONCE = 32_768
"""Rows that are read, and make a block of the index, at a time: what is removed costs as much as its block."""


def read_rows(sql: Sql, after: int, dimension: int, nodes: bool) -> tuple[IndexBatch, int, set[str]]:
    """Some units after a seq, nodes or all others, as arrays; how far that reaches; and who speaks in them. There is
    nothing behind it where no rows come."""
    name = "index_node_rows" if nodes else "index_rows"
    batch, speakers = _columns(sql.run(name, (after, ROWS_AT_ONCE)), dimension)
    if not len(batch.rows.units):
        return batch, max(after, sql.run("last_unit").fetchone()[0]), speakers
    last = int(batch.rows.units[-1])
    vectors = sql.run("index_node_vectors" if nodes else "index_vectors", (after, last))
    return _with_vectors(batch, vectors, dimension), last, speakers


def read_again(
    sql: Sql, units: NDArray[np.int64], dimension: int, nodes: bool
) -> tuple[IndexBatch, set[str]]:
    """Those of some units that are there, nodes or all others, as arrays; and who speaks in them."""
    listed = sorted(set(units.tolist()))
    batch, speakers = _columns(sql.run("index_rows_of", {"units": listed, "nodes": nodes}), dimension)
    vectors = sql.run("index_vectors_of", (batch.rows.units.tolist(),))
    return _with_vectors(batch, vectors, dimension), speakers


def _columns(cursor: Rows, dimension: int) -> tuple[IndexBatch, set[str]]:
    """Rows as arrays, without their vectors, and who speaks in them. A few at a time become arrays: they are still in
    the cache then, and what Python holds of a whole block's rows would be 30 MB."""
    parts = []
    while some := cursor.fetchmany(_AT_ONCE):
        with _readable():
            parts.append(_part(some))
    nothing = empty_batch(dimension)
    if not parts:
        return nothing, set()
    rows, sizes, terms, speakers = zip(*parts, strict=True)
    with _readable():
        packed = np.frombuffer(b"".join(terms), dtype=PACKED)
    columns = (np.concatenate([getattr(part, one.name) for part in rows]) for one in fields(IndexRows))
    batch = IndexBatch(IndexRows(*columns), np.concatenate(sizes), packed, nothing.vectors)
    return batch, set().union(*speakers)


def _part(rows: Sequence[tuple[Any, ...]]) -> tuple[IndexRows, NDArray[np.int64], bytes, set[str]]:
    seqs, at, recorded, kinds, networks, pieces, terms, sessions, speakers, roles, asks = zip(
        *rows, strict=True
    )
    return (
        IndexRows(
            units=np.array(seqs, dtype=np.int64),
            at=_micros(at),
            recorded=_micros(recorded),
            kinds=_looked_up(list(zip(kinds, networks, strict=True)), lambda pair: code(*pair), np.int16),
            sessions=_looked_up(sessions, _key, np.int64),
            speakers=_looked_up(speakers, _key, np.int64),
            roles=_looked_up(roles, _ROLE_CODES.__getitem__, np.int8),
            asks=np.array(asks, dtype=np.bool_),
            pieces=np.array(pieces, dtype=np.int64),
        ),
        np.fromiter(map(len, terms), dtype=np.int64, count=len(terms)) // PACKED.itemsize,
        b"".join(terms),
        {speaker for speaker in speakers if speaker is not None},
    )


@contextmanager
def _readable() -> Iterator[None]:
    """Values of another kind than the store writes are damage."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(
            f"rows of the bank cannot be read ({error}); `everwhen bank doctor` tells which"
        ) from error


def read_removals(sql: Sql, after: int, *, holding: bool = True) -> tuple[NDArray[np.int64] | None, int]:
    """The units that were taken out or changed after a place in the list of removals, and the last place; None where
    the list does not reach back so far. One who holds no unit has nothing to take out."""
    before, last = sql.run("kept_removals").fetchone()
    if not holding:
        return np.zeros(0, dtype=np.int64), last
    if after < before:
        return None, last
    rows = sql.run("removals_after", (after,)).fetchall()
    return np.array([row[0] for row in rows], dtype=np.int64), last


@_readable()
def _with_vectors(batch: IndexBatch, cursor: Rows, dimension: int) -> IndexBatch:
    """Filled as it is read: a block of vectors is 50 MB, and two copies would be twice that."""
    total = int(batch.rows.pieces.sum())
    matrix = np.empty((total, dimension), dtype=np.float32)
    place = 0
    while rows := cursor.fetchmany(_AT_ONCE):
        blobs = b"".join([vector for (vector,) in rows])
        part = matrix[place : place + len(rows)]
        part[:] = np.frombuffer(blobs, dtype="<f4").reshape(len(rows), dimension)
        if not sound(part, off=np.inf).all():
            raise ValueError("a vector holds what is no number")
        place += len(rows)
    if place != total:
        raise Damaged(
            f"{total} vectors are expected and {place} are there; `everwhen bank doctor` tells more"
        )
    return replace(batch, vectors=matrix)


def _looked_up(values: Sequence[T], of: Callable[[T], int], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """A number for each value, asked for once where many are the same."""
    known = {value: of(value) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=dtype, count=len(values))


def _key(label: str | None) -> int:
    return 0 if label is None else label_key(label)


def _micros(texts: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([text[:-1] for text in texts], dtype="datetime64[us]").astype(np.int64)


def to_window(
    where: Filter,
    with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]],
    reaching_back: Callable[[datetime], NDArray[np.int64]],
) -> IndexFilter:
    """A filter in the index's terms; what metadata asks for, and which nodes begin too early, is looked up."""
    between = where.between
    return IndexFilter(
        start=to_micros(between.start) if between and between.start else None,
        end=to_micros(between.end) if between and between.end else None,
        known_at=to_micros(where.known_at) if where.known_at else None,
        kinds=codes(where.kinds, where.networks)
        if where.kinds is not None or where.networks is not None
        else None,
        networks=where.networks,
        units=with_metadata(dict(where.metadata)) if where.metadata else None,
        but=reaching_back(between.start) if between and between.start and wants_nodes(where) else None,
    )


def wants_nodes(where: Filter) -> bool:
    """Whether nodes of the tree may be found: most questions are not put to them."""
    return where.kinds is None or "node" in where.kinds


MOST = 20_000
"""Rows kept, about 1 kB each; when there are more, all go, and those that are wanted come back."""


class TurnCache:
    """The cache of one connection, which only one caller uses at a time."""

    def __init__(self) -> None:
        self._rows: dict[int, UnitRow] = {}
        self._version = -1
        self._removed = 0
        self._epoch = ""

    def read(self, sql: SqliteSql, seqs: Sequence[int]) -> dict[int, UnitRow]:
        """The units with these numbers, in their order."""
        self._catch_up(sql)
        missing = [seq for seq in seqs if seq not in self._rows]
        found = {seq: self._rows[seq] for seq in seqs if seq in self._rows}
        if missing:
            rows = map(unit_of, sql.run("units", (missing,)))
            new = {row.seq: row for row in rows}
            found |= new
            if len(self._rows) + len(new) > MOST:
                self._rows = {}
            # What was derived may be given another source: only a turn is what it is.
            self._rows.update((seq, row) for seq, row in new.items() if row.kind == "turn")
        return {seq: found[seq] for seq in sorted(found)}

    def _catch_up(self, sql: SqliteSql) -> None:
        version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        removed_units, removed = read_removals(sql, self._removed, holding=bool(self._rows))
        epoch = str(sql.raw.execute("SELECT value FROM bank WHERE key = 'epoch'").fetchone())
        if removed_units is None or len(removed_units) or epoch != self._epoch:
            self._rows = {}
        self._version, self._removed, self._epoch = version, removed, epoch


def check(
    connection: SqliteConnection,
    indexes: Sequence[tuple[bool, Callable[[], Index]]],
    tokenizer: Tokenizer,
    dimension: int,
    *,
    fix: bool,
) -> list[Finding]:
    """Every finding in one sentence. `fix` rebuilds terms; turns are never touched."""
    findings: list[Finding] = []
    with connection.use() as sql:
        for row in sql.raw.execute("PRAGMA integrity_check(20)"):
            if row[0] != "ok":
                findings.append(Finding("file", f"SQLite finds the file damaged: {row[0]}", original=True))
        if findings:
            return findings  # nothing else can be believed
        for row in sql.raw.execute("PRAGMA foreign_key_check"):
            findings.append(Finding("rows", f"row {row[1]} of {row[0]} points at a missing {row[2]}"))
    findings += check_rows(connection, tokenizer, dimension, fix=fix)
    if not any(finding.check in ("rows", "vectors") and not finding.fixed for finding in findings):
        for nodes, index in indexes:
            try:
                findings += _index(connection, index(), nodes)
            except Damaged as error:
                findings.append(Finding("index", str(error)))
    return findings


def _index(connection: SqliteConnection, index: Index, nodes: bool) -> list[Finding]:
    """The index against the rows that it has seen (others may be writing)."""
    with connection.use() as sql:
        units, pieces = sql.run("count_units", {"seen": index.seen, "nodes": nodes}).fetchone()
    findings = []
    if (units, pieces) != (len(index), index.vectors):
        findings.append(
            Finding(
                "index",
                f"up to {index.seen} the index holds {len(index)} units and {index.vectors} vectors, "
                f"the rows {units} and {pieces}",
            )
        )
    return findings
