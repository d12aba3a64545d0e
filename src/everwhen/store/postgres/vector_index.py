"""The index of a large bank's vectors: an HNSW graph of its rows alone.

A bank earns it by its size. Below that, comparing all of its vectors takes no longer. An index for every bank, however
small, would cost the server a lock and memory each; one over all banks would be searched through the rows of others.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from everwhen.store.postgres.connection import PostgresConnection
from everwhen.store.postgres.server import Raw, Server
from everwhen.types import Finding

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
