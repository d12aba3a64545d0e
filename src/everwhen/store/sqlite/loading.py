"""From SQLite's rows to the derived index's arrays, and from filters to its windows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged
from everwhen.store.base import Filter
from everwhen.store.index import Batch, Rows, Window, empty_batch
from everwhen.store.instants import to_micros
from everwhen.store.kinds import code, codes
from everwhen.store.sqlite.statements import statements
from everwhen.store.terms import PACKED, label_key
from everwhen.types import ROLES

_VECTORS_AT_ONCE = 4096
_ROLE_CODES: dict[str | None, int] = {None: -1, **{role: place for place, role in enumerate(ROLES)}}


ROWS_AT_ONCE = 32_768
"""Rows that are read, and make a block of the index, at a time: what is removed costs as much as its block."""


def read_rows(
    sql: sqlite3.Connection, after: int, dimension: int, nodes: bool
) -> tuple[Batch, int, set[str]]:
    """Some units after a seq, nodes or all others, as arrays; how far that reaches; and who speaks in them. There is
    nothing behind it where no rows come."""
    name = "index_node_rows" if nodes else "index_rows"
    rows = sql.execute(statements()[name], (after, ROWS_AT_ONCE)).fetchall()
    if not rows:
        seen = max(after, sql.execute(statements()["last_unit"]).fetchone()[0])
        return empty_batch(dimension), seen, set()
    last = rows[-1][0]
    vectors = sql.execute(statements()["index_node_vectors" if nodes else "index_vectors"], (after, last))
    return _arrays(rows, vectors, dimension), last, _speakers(rows)


def read_again(
    sql: sqlite3.Connection, units: NDArray[np.int64], dimension: int, nodes: bool
) -> tuple[Batch, set[str]]:
    """Those of some units that are there, nodes or all others, as arrays; and who speaks in them."""
    listed = json.dumps(sorted(set(units.tolist())))
    rows = sql.execute(statements()["index_rows_of"], {"units": listed, "nodes": nodes}).fetchall()
    if not rows:
        return empty_batch(dimension), set()
    there = json.dumps([row[0] for row in rows])
    return _arrays(rows, sql.execute(statements()["index_vectors_of"], (there,)), dimension), _speakers(rows)


def _speakers(rows: Sequence[tuple[Any, ...]]) -> set[str]:
    return {row[8] for row in rows if row[8] is not None}


def _arrays(rows: Sequence[tuple[Any, ...]], vectors: sqlite3.Cursor, dimension: int) -> Batch:
    try:
        seqs, at, recorded, kinds, networks, pieces, terms, sessions, speakers, roles, asks = zip(
            *rows, strict=True
        )
        packed = np.frombuffer(b"".join(terms), dtype=PACKED)
        count = np.array(pieces, dtype=np.int64)
        known = {pair: code(*pair) for pair in set(zip(kinds, networks, strict=True))}
        return Batch(
            Rows(
                units=np.array(seqs, dtype=np.int64),
                at=_micros(at),
                recorded=_micros(recorded),
                kinds=np.array([known[pair] for pair in zip(kinds, networks, strict=True)], dtype=np.int16),
                sessions=_keys(sessions),
                speakers=_keys(speakers),
                roles=np.array([_ROLE_CODES[role] for role in roles], dtype=np.int8),
                asks=np.array(asks, dtype=np.bool_),
                pieces=count,
            ),
            sizes=np.array([len(blob) // PACKED.itemsize for blob in terms], dtype=np.int64),
            packed=packed,
            vectors=_vectors(vectors, int(count.sum()), dimension),
        )
    except (TypeError, ValueError) as error:
        raise Damaged(f"rows of the bank cannot be read ({error}); `everwhen doctor` tells which") from error


def read_removals(
    sql: sqlite3.Connection, after: int, *, holding: bool = True
) -> tuple[NDArray[np.int64] | None, int]:
    """The units that were taken out or changed after a place in the list of removals, and the last place; None where
    the list does not reach back so far. One who holds no unit has nothing to take out."""
    before, last = sql.execute(statements()["kept_removals"]).fetchone()
    if not holding:
        return np.zeros(0, dtype=np.int64), last
    if after < before:
        return None, last
    rows = sql.execute(statements()["removals_after"], (after,)).fetchall()
    return np.array([row[0] for row in rows], dtype=np.int64), last


def _vectors(cursor: sqlite3.Cursor, total: int, dimension: int) -> NDArray[np.float32]:
    """Filled as it is read: a block of vectors is 50 MB, and two copies would be twice that."""
    matrix = np.empty((total, dimension), dtype=np.float32)
    place = 0
    while rows := cursor.fetchmany(_VECTORS_AT_ONCE):
        blobs = b"".join(row[1] for row in rows)
        matrix[place : place + len(rows)] = np.frombuffer(blobs, dtype="<f4").reshape(len(rows), dimension)
        place += len(rows)
    if place != total:
        raise Damaged(f"{total} vectors are expected and {place} are there; `everwhen doctor` tells more")
    return matrix


def _keys(labels: tuple[str | None, ...]) -> NDArray[np.int64]:
    return np.array([0 if label is None else label_key(label) for label in labels], dtype=np.int64)


def _micros(texts: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([text[:-1] for text in texts], dtype="datetime64[us]").astype(np.int64)


def to_window(
    where: Filter,
    with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]],
    reaching_back: Callable[[datetime], NDArray[np.int64]],
) -> Window:
    """A filter in the index's terms; what metadata asks for, and which nodes begin too early, is looked up."""
    between = where.between
    return Window(
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
