"""How values cross to PostgreSQL and back: instants as our text, vectors as halfvec, arrays as whole buffers.

Everything comes and goes in binary. An instant is read as `to_text` writes it; "no time" ('-infinity') as '', and
'infinity' as '~', which sorts behind every instant.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection, postgres
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.numeric import Int8Dumper

from everwhen.types.times import to_text

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LONG, _INT = struct.Struct(">q"), struct.Struct(">i")
_NULL = _INT.pack(-1)
_FIRST, _LAST = -(2**63), 2**63 - 1
_ELEMENTS = {
    "i8": ("int8", ">i8"),
    "i2": ("int2", ">i2"),
    "f4": ("float4", ">f4"),
    "f8": ("float8", ">f8"),
    "b1": ("bool", "?"),
}


@dataclass(frozen=True, slots=True)
class HalfVector:
    """A vector on its way to a halfvec column."""

    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class HalfVectors:
    """The rows of a matrix as an array of such vectors."""

    values: Sequence[NDArray[np.float32]] | NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Texts:
    """An array of texts; None is NULL."""

    values: Sequence[str | None]


def column(values: Sequence[Any]) -> Any:
    """The values of a column as one array, in the form that is the fastest to send."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return np.array(values, dtype=np.int64)
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds <= {str, NoneType} and str in kinds:
        return Texts(values)
    if kinds == {HalfVector}:
        return HalfVectors([one.values for one in values])
    return list(values)


def register(connection: Connection[Any], halfvec: TypeInfo | None) -> None:
    """Teach a connection our types; `halfvec` is unknown before the extension is there."""
    adapters = connection.adapters
    adapters.register_loader("timestamptz", _InstantLoader)
    adapters.register_dumper(int, Int8Dumper)  # one type for all numbers: a statement is prepared once
    adapters.register_dumper(np.ndarray, _ArrayDumper)
    adapters.register_dumper(Texts, _TextsDumper)
    if halfvec is not None:
        halfvec.register(connection)
        adapters.register_loader(halfvec.oid, _HalfVectorLoader)
        one = {"oid": halfvec.oid}
        many = {"oid": halfvec.array_oid, "element": halfvec.oid}
        adapters.register_dumper(HalfVector, type("_HalfVector", (_HalfVectorDumper,), one))
        adapters.register_dumper(HalfVectors, type("_HalfVectors", (_HalfVectorsDumper,), many))


class _InstantLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        (micros,) = _LONG.unpack(data)
        if micros in (_FIRST, _LAST):
            return "" if micros == _FIRST else "~"
        return to_text(_EPOCH + timedelta(microseconds=micros))


class _HalfVectorLoader(Loader):
    """As the bytes of little-endian 32-bit floats."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return np.frombuffer(data, dtype=">f2", offset=4).astype("<f4").tobytes()


class _HalfVectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: HalfVector) -> Buffer:
        return _half(obj.values)


class _HalfVectorsDumper(Dumper):
    format = Format.BINARY
    element: int

    def dump(self, obj: HalfVectors) -> Buffer:
        parts = [struct.pack(">iiiii", 1, 0, self.element, len(obj.values), 1)]
        for row in obj.values:
            half = _half(row)
            parts += [struct.pack(">i", len(half)), half]
        return b"".join(parts)


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = postgres.types["text"].array_oid

    def dump(self, obj: Texts) -> Buffer:
        raw = [None if one is None else one.encode() for one in obj.values]
        parts = [struct.pack(">iiiii", 1, None in raw, postgres.types["text"].oid, len(raw), 1)]
        for one in raw:
            parts += [_NULL] if one is None else [_INT.pack(len(one)), one]
        return b"".join(parts)


class _ArrayDumper(Dumper):
    """A one-dimensional array of numbers, as PostgreSQL sends arrays: each element with its length before it."""

    format = Format.BINARY

    def dump(self, obj: NDArray[Any]) -> Buffer:
        name, kind = _ELEMENTS[obj.dtype.str[1:]]
        oid = postgres.types[name].oid
        if not len(obj):
            return struct.pack(">iii", 0, 0, oid)
        cells = np.empty(len(obj), dtype=[("size", ">i4"), ("value", kind)])
        cells["size"] = obj.dtype.itemsize
        cells["value"] = obj
        return struct.pack(">iiiii", 1, 0, oid, len(obj), 1) + cells.tobytes()


def _half(vector: NDArray[np.float32]) -> bytes:
    """As pgvector sends a halfvec: how many there are, nothing, and 16 bits for each."""
    return struct.pack(">HH", len(vector), 0) + vector.astype(">f2").tobytes()
