"""Loads SQLite's rows into the arrays of the search index, and translates filters into the index's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged
from everwhen.store.index import IndexBatch, IndexFilter, IndexRows, empty_batch
from everwhen.store.kind_codes import code, codes
from everwhen.store.search import Filter
from everwhen.store.sql.session import Rows, Sql
from everwhen.store.terms import PACKED, label_key
from everwhen.store.vectors import sound
from everwhen.types import ROLES
from everwhen.types.instants import to_micros

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
