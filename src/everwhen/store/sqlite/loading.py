"""From SQLite's rows to the derived index's arrays, and from filters to its windows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
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


def read_rows(sql: sqlite3.Connection, after: int, dimension: int) -> tuple[Rows, int, set[str]]:
    """The units after a seq, as arrays; the last seq among them; and who speaks in them."""
    try:
        return _read_rows(sql, after, dimension)
    except (TypeError, ValueError) as error:
        raise Damaged(f"rows of the bank cannot be read ({error}); `everwhen doctor` tells which") from error


def _read_rows(sql: sqlite3.Connection, after: int, dimension: int) -> tuple[Rows, int, set[str]]:
    rows = sql.execute(statements()["index_rows"], (after,)).fetchall()
    if not rows:
        return empty_rows(dimension), after, set()
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
            vectors=_vectors(sql, after, int(count.sum()), dimension),
        ),
        seqs[-1],
        {speaker for speaker in set(speakers) if speaker is not None},
    )


def read_removals(sql: sqlite3.Connection, after: int) -> tuple[NDArray[np.int64], int]:
    """The units that were taken out after a place in the list of removals, and the last place."""
    rows = sql.execute(statements()["removals_after"], (after,)).fetchall()
    return np.array([unit for _, unit in rows], dtype=np.int64), rows[-1][0] if rows else after


def _vectors(sql: sqlite3.Connection, after: int, total: int, dimension: int) -> NDArray[np.float32]:
    """Filled as it is read: a hundred thousand vectors are 150 MB, and two copies would be twice that."""
    matrix = np.empty((total, dimension), dtype=np.float32)
    cursor, place = sql.execute(statements()["index_vectors"], (after,)), 0
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


def to_window(where: Filter, with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]]) -> Window:
    """A filter in the index's terms; what metadata asks for is looked up in the rows."""
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
    )
