"""The PostgreSQL store of a bank: its rows in tables that all banks share, and the index of a large bank's vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn, Protocol

import numpy as np
import psycopg
from numpy.typing import NDArray

from everwhen.errors import Refused
from everwhen.store.base import BankInfo, UnitIndex, next_epoch, unit_of
from everwhen.store.postgres.connection import OF_A_BANK, PostgresConnection, term_key
from everwhen.store.postgres.search import Indexed, PostgresSearch, Snapshot, Statement, fragment
from everwhen.store.postgres.server import Lent, Raw, Server, translate
from everwhen.store.postgres.values import HalfVectors
from everwhen.store.rows import NewTurn, Search, SearchQuery, Vectors, Voices
from everwhen.store.sql.checks import check_rows
from everwhen.store.sql.facts import FactStore
from everwhen.store.sql.graph import GraphStore
from everwhen.store.sql.jobs import ExtractionJobs, Jobs
from everwhen.store.sql.maintenance import MaintenanceStore
from everwhen.store.sql.records import Loader
from everwhen.store.sql.store import Store
from everwhen.store.sql.tree import TreeJobs, TreeStore
from everwhen.types import KINDS, NETWORKS, Finding, UnitRow

_WEIGHED = 10_000
"""Units of a bank up to which its rows are weighed one by one; above it is told by its share of the tables."""
_SHARED = """
SELECT sum(pg_total_relation_size(c.oid))::bigint, max(c.reltuples) FILTER (WHERE c.relname = 'units')
FROM pg_class c WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relname = ANY (%(tables)s::text[])
"""
WITH_THE_DATABASE = "banks in PostgreSQL are {done} with their database, by PostgreSQL's own means ({how})"


_MODEL = 0x6D6F646C
"""Makes the number of a bank that of the advisory lock of its model: "modl"."""
_SHARE_MODEL, _CHANGE_MODEL = "pg_advisory_xact_lock_shared", "pg_advisory_xact_lock"
_MODEL_OF_BANK = "SELECT key, value FROM bank WHERE bank_id = %(bank)s AND key IN ('embedder', 'dimension')"


class PostgresStore(Store):
    """The `Store` of one bank of a database."""

    def __init__(
        self, info: BankInfo, parts: Parts, writer: PostgresConnection, reader: PostgresConnection
    ) -> None:
        super().__init__(info, writer, reader)
        self._rows = reader
        self._parts = parts
        self._snapshot: Snapshot | None = None
        self._units = PostgresUnitIndex(writer, lambda: self._last_snapshot().index)
        self.graph = GraphStore(self)
        self.facts = FactStore(self)
        self.tree = TreeStore(self)
        self._whole = self.keep = PostgresMaintenance(self, parts, (writer, reader))
        self.vector_index = VectorIndex(reader, lambda: self._info.dimension)
        scrubbing = PostgresScrubbing(writer)
        self.jobs = Jobs(ExtractionJobs(self), TreeJobs(self), scrubbing, self.vector_index)

    def refresh(self) -> None:
        self._whole.follow()
        super().refresh()

    def size(self) -> int:
        with self._rows.use() as sql:
            return bytes_of(sql.lent, sql.bank)

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        self._snapshot = None
        return super().append(turns)

    def replace_vectors(
        self,
        embedder: str,
        dimension: int,
        vectors: Mapping[str, Vectors],
        codes: Mapping[str, bytes] | None = None,
    ) -> list[str]:
        # Other vectors may have another dimension, and it is faster made anew.
        drop_index(self._rows.server, self._rows.bank)
        missing = super().replace_vectors(embedder, dimension, vectors, codes)
        self.vector_index.run()
        return missing

    @contextmanager
    def reading(self) -> Iterator[None]:
        while True:
            with self.model_lock.reading() as is_outermost, ExitStack() as stack:
                values = stack.enter_context(self._locked(_SHARE_MODEL)) if is_outermost else {}
                if not values or self._info.has_model(values):  # a removed bank says so when it is read
                    yield
                    return
            self.refresh()

    @contextmanager
    def _changing_model(self) -> Iterator[None]:
        with self._locked(_CHANGE_MODEL):
            yield

    @contextmanager
    def _locked(self, lock: str) -> Iterator[dict[str, str]]:
        """Hold a lock of the bank's model by a connection of its own; what the bank says of the model."""
        server = self._parts.locks
        locking = f"SELECT {lock}({self._rows.bank ^ _MODEL})"
        try:
            with server.lent() as lent:
                # A statement of its own after the lock: it sees what was committed by then.
                found: dict[str, str] = dict(
                    lent.begin("BEGIN", locking, _MODEL_OF_BANK, values={"bank": self._rows.bank}).fetchall()
                )
                try:
                    yield found
                finally:
                    lent.roll_back()
        except psycopg.Error as error:
            raise translate(error, self._info.name, server.where, 30.0) from error

    def index(self) -> UnitIndex:
        return self._units

    def search(self, query: SearchQuery) -> Search:
        return PostgresSearch(
            query,
            self._rows,
            self.tokenizer,
            self._last_snapshot(),
            self._refresh_query(),
            self._on_refresh,
            self._with_metadata,
        )

    def voices(self, *, latest: bool = True) -> Voices:
        if latest:
            self._snapshot = None
        return self._last_snapshot().voices

    def _refresh_query(self) -> list[Statement]:
        """The statements whose rows make a `Snapshot`."""
        return [
            ("speakers", (), {}),
            ("names_version", (), {}),
            ("vector_index", {"name": name_of(self._rows.bank)}, {}),
        ]

    def _on_refresh(self, found: Sequence[list[Any]], last: Snapshot) -> Snapshot:
        """The new snapshot, from the rows that a search got. It is kept unless the voices or the index changed: then
        the names must be read anew, which `voices` does."""
        snapshot = self._snapshot_from(found, last.voices.names)
        if snapshot.state == last.state:
            self._snapshot = snapshot
        return snapshot

    def _snapshot_from(self, found: Sequence[list[Any]], names: frozenset[str]) -> Snapshot:
        spoken, [(version,)], [(has_index, derived, units)] = found
        roles, speakers = (frozenset(row[place] for row in spoken) for place in (0, 1))
        index = Indexed(self._rows.bank, self._info.dimension, derived >= LARGE) if has_index else None
        return Snapshot(Voices(speakers, roles, names), index, units, (spoken, version, has_index))

    def _last_snapshot(self) -> Snapshot:
        snapshot = self._snapshot
        if snapshot is None:
            with self._rows.use() as sql:
                found = sql.together(self._refresh_query())
                snapshot = self._snapshot_from(found, self.graph.names_of(sql, found[1][0][0]))
            self._snapshot = snapshot
        return snapshot

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        with self.reader.use() as sql:
            found = {row[0]: unit_of(row) for row in sql.run("units", (list(seqs),), wanted="?::bigint[]")}
        return {seq: found[seq] for seq in sorted(found)}

    def check(self, *, fix: bool = False) -> list[Finding]:
        findings = check_rows(self.writer, self.tokenizer, self._info.dimension, fix=fix)
        findings += self.graph.check()
        findings += self.tree.check()
        findings += self.vector_index.check(fix=fix)
        if any(finding.fixed for finding in findings):
            with self.writer.transaction() as sql:
                next_epoch(sql)
        return findings


class PostgresUnitIndex:
    """The `UnitIndex` of a bank, by vectors and postings: what is committed, or inside a transaction what it did."""

    def __init__(self, rows: PostgresConnection, index: Callable[[], Indexed | None]) -> None:
        self._rows = rows
        self._index = index

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        found: list[list[tuple[int, float]]] = [[] for _ in vectors]
        if not len(vectors):
            return found
        wanted = _kinds(kinds)
        asked = {"vectors": HalfVectors(vectors), "kinds": wanted, "floor": floor, "limit": limit}
        index = self._index()
        nearest = "neighbours_exactly"
        if index is not None and (index.derived or "turn" in wanted):
            nearest = fragment("neighbours_of_index", number=index.bank, dimension=index.dimension)
        with self._rows.use() as sql:
            for place, unit, cosine in sql.run("neighbours", asked, nearest=nearest):
                found[place - 1].append((unit, cosine))
        return found

    def holding(
        self, words: Sequence[Sequence[int]], kinds: NDArray[np.int16], limit: int | None = None
    ) -> list[NDArray[np.int64]]:
        found: list[list[int]] = [[] for _ in words]
        asked = [(place, [term_key(term) for term in terms]) for place, terms in enumerate(words) if terms]
        more = [(place, term) for place, (_, terms) in enumerate(asked, start=1) for term in terms[1:]]
        if asked:
            values = {
                "firsts": [terms[0] for _, terms in asked],
                "places": [place for place, _ in more],
                "more": [term for _, term in more],
                "kinds": _kinds(kinds),
                "limit": limit,
            }
            with self._rows.use() as sql:
                for place, unit in sql.run("units_holding", values):
                    found[asked[place - 1][0]].append(unit)
        return [np.array(units, dtype=np.int64) for units in found]


class PostgresScrubbing:
    """The `ScrubJob` of a bank: the server itself clears the room of removed rows (autovacuum)."""

    def __init__(self, writer: PostgresConnection) -> None:
        self._writer = writer

    def waits(self) -> bool:
        with self._writer.use() as sql:
            return sql.run("kept_value", ("erasing",)).fetchone() is not None

    def run(self) -> bool:
        with self._writer.transaction() as sql:
            sql.run("drop_kept_value", ("erasing",))
        return True


def refuse(done: str, how: str) -> NoReturn:
    raise Refused(WITH_THE_DATABASE.format(done=done, how=how))


def _kinds(codes: NDArray[np.int16]) -> list[str]:
    """The kinds of some codes, which are asked for in all networks."""
    return sorted({KINDS[code // len(NETWORKS)] for code in codes.tolist()})


def bytes_of(sql: Lent, bank: int) -> int:
    """What a bank takes: its rows' bytes while they are few, then its units' share of all tables."""
    asked = {"bank": bank, "tables": list(OF_A_BANK)}
    row = sql.execute(
        "SELECT sum(units)::bigint FROM posting_totals WHERE bank_id = %(bank)s", asked
    ).fetchone()
    units = (row and row[0]) or 0
    if units > _WEIGHED:
        share = sql.execute(_SHARED, asked).fetchone()
        assert share is not None
        return int(share[0] * min(1.0, units / max(share[1], 1.0)))
    weighed = " + ".join(
        f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {table} t WHERE t.bank_id = %(bank)s)"
        for table in OF_A_BANK
    )
    row = sql.execute(f"SELECT ({weighed})::bigint", asked).fetchone()
    return row[0] if row else 0


class Parts(Protocol):
    """What one bank asks of the banks of its database."""

    locks: Server
    """Its connections for locks that are waited for."""

    def building(self, bank: str, source: str) -> PostgresConnection:
        """A way to what is built beside a bank: by an earlier attempt from the same source, or empty."""
        ...

    def replace(self, bank: str) -> None:
        """Give the bank's name to what was built beside it."""
        ...

    def number(self, bank: str) -> int | None:
        """The number of a bank; None where there is none."""
        ...


class PostgresMaintenance(MaintenanceStore):
    """The `MaintenanceStore` of a bank."""

    def __init__(self, store: Store, parts: Parts, ways: Sequence[PostgresConnection]) -> None:
        super().__init__(store)
        self._parts = parts
        self._ways = ways

    def loader(self, source: str) -> Loader:
        return Loader(self._parts.building(self._bank.info.name, source), source)

    def take_over(self) -> None:
        self._parts.replace(self._bank.info.name)
        self.follow()

    def follow(self) -> None:
        """Go to the bank that has the name now, where another one took the place of this one."""
        number = self._parts.number(self._bank.info.name)
        for way in self._ways:
            way.bank = way.bank if number is None else number


LARGE = 20_000
"""Units from which a bank has an index: there, both ways take about as long."""
_BREADTH, _EFFORT = 16, 128
"""Neighbours of a vector in the graph, and how many are looked at to choose them."""
_BYTES = 450
"""What the graph takes in memory for each vector, beside twice its dimensions."""
_BUILDING = 0x6E656172
"""Makes the number of a bank that of the advisory lock under which its index is built: "near"."""
_STATE = """
SELECT (SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relname = %s),
       (SELECT sum(t.units)::bigint FROM everwhen.posting_totals t WHERE t.bank_id = %s)
"""
_ROOM = """
SELECT set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')),
    least(%s, pg_size_bytes(current_setting('shared_buffers')))) / 1024 || 'kB', false)
"""
_LARGE_ONES = """
SELECT b.name, b.bank_id, d.value::integer FROM everwhen.banks b
JOIN (SELECT bank_id FROM everwhen.posting_totals GROUP BY bank_id HAVING sum(units) >= %s) t USING (bank_id)
JOIN everwhen.bank d ON d.bank_id = b.bank_id AND d.key = 'dimension' WHERE b.name NOT LIKE '.%%' ORDER BY b.name
"""


def name_of(bank: int) -> str:
    return f"vectors_near_{bank}"


class VectorIndex:
    """The index of one bank, there or not: the `IndexJob` of PostgreSQL."""

    def __init__(self, way: PostgresConnection, dimension: Callable[[], int]) -> None:
        self._way = way
        self._dimension = dimension

    def waits(self) -> bool:
        """Whether the bank is large and has none that can be used."""
        with self._way.use() as sql:
            is_valid, units = _state(sql.raw, sql.bank)
        return not is_valid and units >= LARGE

    def run(self) -> bool:
        return build_index(self._way.server, self._way.bank, self._dimension())

    def check(self, *, fix: bool) -> list[Finding]:
        """That a large bank has its index: without it, as after an interrupted build, every search is slow."""
        if not self.waits():
            return []
        return [
            Finding(
                "index",
                "the bank is large, and its vectors have no index, so that recalls are slow; "
                "`everwhen db index` makes it",
                fixed=fix and self.run(),
            )
        ]


def build_index(server: Server, bank: int, dimension: int) -> bool:
    """Make the index of a bank where it is due; False where it is not, or another process is at it."""
    with server.directly() as raw:
        row = raw.execute("SELECT pg_try_advisory_lock(%s)", (bank ^ _BUILDING,)).fetchone()
        is_valid, units = _state(raw, bank)
        if not row or not row[0] or is_valid or units < LARGE:
            return False
        if is_valid is False:  # an earlier build was interrupted
            _drop(raw, bank)
        raw.execute(_ROOM, (units * (2 * dimension + _BYTES),))
        try:
            _build(raw, bank, dimension)
        except (
            psycopg.errors.DiskFull,
            psycopg.errors.OutOfMemory,
        ):  # no shared memory for several to build it
            _drop(raw, bank)
            raw.execute("SET max_parallel_maintenance_workers = 0")
            _build(raw, bank, dimension)
        return True


def drop_index(server: Server, bank: int) -> None:
    """Nothing happens where there is none."""
    with server.directly() as raw:
        if _state(raw, bank)[0] is not None:
            _drop(raw, bank)


def large_banks(server: Server) -> list[tuple[str, int, int]]:
    """The banks that earn an index: name, number, and the dimension of their vectors."""
    with server.directly() as raw:
        return raw.execute(_LARGE_ONES, (LARGE,)).fetchall()


def _state(raw: Raw, bank: int) -> tuple[bool | None, int]:
    """Whether the index can be used (None where there is none), and how many units the bank has."""
    row = raw.execute(_STATE, (name_of(bank), bank)).fetchone()
    return (row[0], row[1] or 0) if row else (None, 0)


def _build(raw: Raw, bank: int, dimension: int) -> None:
    raw.execute(
        f"CREATE INDEX CONCURRENTLY {name_of(bank)} ON everwhen.vectors "
        f"USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops) "
        f"WITH (m = {_BREADTH}, ef_construction = {_EFFORT}) WHERE bank_id = {bank}".encode()
    )


def _drop(raw: Raw, bank: int) -> None:
    raw.execute(f"DROP INDEX CONCURRENTLY IF EXISTS everwhen.{name_of(bank)}".encode())
