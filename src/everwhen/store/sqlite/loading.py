"""From SQLite's rows to the derived index's arrays, and from filters to its windows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged
from everwhen.store.base import Filter
from everwhen.store.index import Rows, Window, empty_rows
from everwhen.store.instants import to_micros
from everwhen.store.kinds import code, codes
from everwhen.store.sqlite.statements import statements
from everwhen.store.terms import PACKED, label_key
from everwhen.types import ROLES

_VECTORS_AT_ONCE = 4096
_ROLE_CODES: dict[str | None, int] = {None: -1, **{role: place for place, role in enumerate(ROLES)}}


def read_rows(sql: sqlite3.Connection, after: int, dimension: int, nodes: bool) -> tuple[Rows, int, set[str]]:
    """The units after a seq, nodes or all others, as arrays; the last seq of any unit; and who speaks in them."""
    try:
        return _read_rows(sql, after, dimension, nodes)
    except (TypeError, ValueError) as error:
        raise Damaged(f"rows of the bank cannot be read ({error}); `everwhen doctor` tells which") from error


def _read_rows(
    sql: sqlite3.Connection, after: int, dimension: int, nodes: bool
) -> tuple[Rows, int, set[str]]:
    rows = sql.execute(statements()["index_node_rows" if nodes else "index_rows"], (after,)).fetchall()
    seen = max(after, sql.execute(statements()["last_unit"]).fetchone()[0])
    if not rows:
        return empty_rows(dimension), seen, set()
    seqs, at, recorded, kinds, networks, pieces, terms, sessions, speakers, roles, asks = zip(
        *rows, strict=True
    )
    packed = np.frombuffer(b"".join(terms), dtype=PACKED)
    count = np.array(pieces, dtype=np.int64)
    return (
        Rows(
            units=np.array(seqs, dtype=np.int64),
            at=_micros(at),
            recorded=_micros(recorded),
            kinds=np.array([code(k, n) for k, n in zip(kinds, networks, strict=True)], dtype=np.int16),
            sessions=_keys(sessions),
            speakers=_keys(speakers),
            roles=np.array([_ROLE_CODES[role] for role in roles], dtype=np.int8),
            asks=np.array(asks, dtype=np.bool_),
            pieces=count,
            sizes=np.array([len(blob) // PACKED.itemsize for blob in terms], dtype=np.int64),
            packed=packed,
            vectors=_vectors(sql, after, int(count.sum()), dimension, nodes),
        ),
        seen,
        {speaker for speaker in set(speakers) if speaker is not None},
    )


def read_removals(
    sql: sqlite3.Connection, after: int, *, holding: bool = True
) -> tuple[NDArray[np.int64], int]:
    """The units that were taken out after a place in the list of removals, and the last place. One who holds no unit
    has nothing to take out, however long the list has grown."""
    if not holding:
        return np.zeros(0, dtype=np.int64), int(sql.execute(statements()["last_removal"]).fetchone()[0])
    rows = sql.execute(statements()["removals_after"], (after,)).fetchall()
    return np.array([unit for _, unit in rows], dtype=np.int64), rows[-1][0] if rows else after


def _vectors(
    sql: sqlite3.Connection, after: int, total: int, dimension: int, nodes: bool
) -> NDArray[np.float32]:
    """Filled as it is read: a hundred thousand vectors are 150 MB, and two copies would be twice that."""
    matrix = np.empty((total, dimension), dtype=np.float32)
    statement = statements()["index_node_vectors" if nodes else "index_vectors"]
    cursor, place = sql.execute(statement, (after,)), 0
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
