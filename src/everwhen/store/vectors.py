"""The vectors of an index block: plain, or coded so that a large bank is small and fast to scan.

Above: `index` and `nearest`, which ask for approximate cosines of all rows and exact ones of a few. Below: arrays; an
index on disk or on another device can become a third form of `Vectors`.

A coded vector is stored twice:

- 16 bits for each dimension, with a scale of its own. Its cosine is exact to about 0.00001; half the size of float32.
- 8 bits for each of the 128 directions in which the block's vectors differ most (PCA). The product of these with a
  question is approximate (error about 0.01), and takes a sixth of the work and a twelfth of the memory traffic.

`nearest` picks candidates by the approximate cosines and compares them exactly. benchmarks/history/performance.md
has the figures of the alternatives ("The scan").

Their products are made by onnxruntime on the calling thread. NumPy multiplies integers without BLAS, a hundred times
slower. Its float32 products use BLAS, whose threads wait for each other: when another process uses one of two cores,
coding a block takes three times as long. onnxruntime is a dependency already, and its `MatMulInteger` uses the
dot-product instructions of ARM and x86. The graph is a single node, so it is written here as bytes (protobuf, ONNX
opset 13) and `onnx` is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

LARGEST = 63
"""Of the columns' integers. Processors without VNNI add two products in 16 bits: 2 * 255 * 63 still fits."""

_FLOAT, _UINT8, _INT8, _INT32 = 1, 2, 3, 6  # TensorProto.DataType


def integer_product(codes: NDArray[np.uint8], columns: NDArray[np.int8]) -> NDArray[np.int32]:
    """`codes @ columns`, exactly."""
    found: NDArray[np.int32] = _session("MatMulInteger", _UINT8, _INT8, _INT32).run(
        None, {"left": codes, "right": columns}
    )[0]
    return found


def float_product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """`left @ right`."""
    found: NDArray[np.float32] = _session("MatMul", _FLOAT, _FLOAT, _FLOAT).run(
        None, {"left": left, "right": right}
    )[0]
    return found


@cache
def _session(operator: str, left: int, right: int, product: int) -> Any:
    import onnxruntime  # slow to import, and a small bank needs none

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several questions are asked at once; one alone gains little
    options.enable_cpu_mem_arena = False  # its arena would keep the largest answer for ever
    model = _model(operator, left, right, product)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _model(operator: str, left: int, right: int, product: int) -> bytes:
    """ModelProto: IR version 8, opset 13, one node; matrices of these types."""
    node = _text(1, "left") + _text(1, "right") + _text(2, "product") + _text(3, "") + _text(4, operator)
    graph = (
        _message(1, node)
        + _text(2, operator)
        + _message(11, _matrix("left", left, "rows", "inner"))
        + _message(11, _matrix("right", right, "inner", "columns"))
        + _message(12, _matrix("product", product, "rows", "columns"))
    )
    return _number(1, 8) + _message(7, graph) + _message(8, _text(1, "") + _number(2, 13))


def _matrix(name: str, element: int, *sizes: str) -> bytes:
    """ValueInfoProto of a tensor whose sizes have names."""
    shape = b"".join(_message(1, _text(2, size)) for size in sizes)
    return _text(1, name) + _message(2, _message(1, _number(1, element) + _message(2, shape)))


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


PLAIN_UP_TO = 16_384
"""Vectors that stay float32: 25 MB at 384 dimensions, gone through in two milliseconds, and never learnt from."""
DIRECTIONS = 128
"""Of 100,000 vectors 280 candidates hold 99.5 % of the 100 best with 128 directions, 500 with 96, 1,700 with 64."""
SAMPLE = 2048
"""Vectors from which a block's directions are learnt."""
AT_ONCE = 1024
"""Vectors (1.5 MB as float32 at 384 dimensions) that are handled at a time, so that they stay in the cache."""
_ROUNDS = 3  # of subspace iteration: the directions need not be the very best
_HARDLY = 1e-6  # of the longest column: what rounding leaves of one that others make up


@dataclass(frozen=True, slots=True)
class PlainVectors:
    """Vectors as they are."""

    matrix: NDArray[np.float32]
    exact: bool = True

    def __len__(self) -> int:
        return len(self.matrix)

    def rough(self, queries: NDArray[np.float32], low: int, high: int, out: NDArray[np.float32]) -> None:
        """The matrix is read once, in parts that stay in the cache while each query meets them: a product with a few
        columns at once is slower than one after the other."""
        for start in range(low, high, AT_ONCE):
            end = min(start + AT_ONCE, high)
            _multiply(self.matrix[start:end], queries, out[:, start - low : end - low])

    def cosines(self, queries: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        found = np.empty((len(queries), len(places)), dtype=np.float32)
        for start in range(0, len(places), AT_ONCE):
            part = places[start : start + AT_ONCE]
            _multiply(self.at(_slice(part)), queries, found[:, start : start + len(part)])
        return found

    def at(self, places: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        return self.matrix[places]


@dataclass(frozen=True, slots=True)
class CodedVectors:
    """16-bit codes of whole vectors, and 8-bit codes of their main directions.

    vector = whole * scale                        (a scale for each vector)
    vector @ main[:, i] = (codes[i] - 128) * steps[i]    (a step for each direction)
    """

    whole: NDArray[np.int16]
    scales: NDArray[np.float32]
    codes: NDArray[np.uint8]
    steps: NDArray[np.float32]
    main: NDArray[np.float32]
    exact: bool = False

    @classmethod
    def of(cls, matrix: NDArray[np.float32]) -> CodedVectors:
        count, dimension = matrix.shape
        main = _main_directions(matrix)
        steps = np.zeros(main.shape[1], dtype=np.float32)
        projected = np.empty((count, main.shape[1]), dtype=np.float32)
        whole = np.empty((count, dimension), dtype=np.int16)
        scales = np.empty(count, dtype=np.float32)
        for start in range(0, count, AT_ONCE):
            part = slice(start, min(start + AT_ONCE, count))
            rows = matrix[part]
            scale = np.maximum(rows.max(axis=1), -rows.min(axis=1)) / np.float32(32_767)
            scale[scale == 0.0] = 1.0
            scales[part] = scale
            rounded = rows * (1 / scale)[:, None]
            whole[part] = np.rint(rounded, out=rounded)
            shares = projected[part] = float_product(rows, main)
            steps = np.maximum(steps, np.maximum(shares.max(axis=0), -shares.min(axis=0)))
        steps = np.where(steps > 0.0, steps / np.float32(127), np.float32(1.0))
        projected *= 1 / steps
        codes = np.rint(projected, out=projected)
        codes += 128.0
        return cls(whole, scales, codes.astype(np.uint8), steps, main)

    def __len__(self) -> int:
        return len(self.whole)

    def rough(self, queries: NDArray[np.float32], low: int, high: int, out: NDArray[np.float32]) -> None:
        """The query's share in each direction is written as two digits, since the product takes small integers:

        share = unit * (first + second / (2 * LARGEST))
        """
        shares = (queries @ self.main) * self.steps
        units = np.abs(shares).max(axis=1, keepdims=True) / np.float32(LARGEST)
        units[units == 0.0] = 1.0
        first = np.rint(shares / units)
        second = np.rint((shares / units - first) * (2 * LARGEST))
        digits = np.concatenate([first, second]).astype(np.int8)
        sums = integer_product(self.codes[low:high], np.ascontiguousarray(digits.T))
        middle = 128 * digits.sum(axis=1, dtype=np.int32)
        for place, unit in enumerate(units[:, 0]):
            other = place + len(queries)
            whole = sums[:, place] * np.int32(2 * LARGEST)  # below 2**29 at 128 directions
            whole += sums[:, other]
            whole -= middle[place] * np.int32(2 * LARGEST) + middle[other]
            out[place] = whole
            out[place] *= unit / np.float32(2 * LARGEST)

    def cosines(self, queries: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        found = np.empty((len(queries), len(places)), dtype=np.float32)
        for start in range(0, len(places), AT_ONCE // 2):
            part = places[start : start + AT_ONCE // 2]
            out = found[:, start : start + len(part)]
            _multiply(self.whole[_slice(part)].astype(np.float32), queries, out)
            out *= self.scales[_slice(part)]
        return found

    def at(self, places: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self.whole[places].astype(np.float32)
        found *= self.scales[places][:, None]
        return found


Vectors: TypeAlias = PlainVectors | CodedVectors
"""The vectors of a block, in the order of its rows. Immutable.

- `exact`: whether the approximate cosines are exact.
- `rough` writes the cosines of the vectors from `low` up to `high`, more or less; a row for each query.
- `cosines` are those of the vectors at some places; a row for each query.
- `at` is the vectors at some places.
"""


def make_vectors(matrix: NDArray[np.float32]) -> Vectors:
    """Vectors in the form that suits their number: plain for few, coded for many."""
    if len(matrix) <= PLAIN_UP_TO:
        return PlainVectors(matrix)
    return CodedVectors.of(matrix)


def sound(matrix: NDArray[np.float32], off: float = 1e-3) -> NDArray[np.bool_]:
    """Which vectors have length one, or are `off` by less: a cosine is a product only of those. A damaged one may
    have a length that is no number, and NumPy need not warn of it."""
    with np.errstate(all="ignore"):
        found: NDArray[np.bool_] = np.abs(np.sqrt(np.einsum("ij,ij->i", matrix, matrix)) - 1.0) < off
    return found


def joined(parts: Sequence[Vectors]) -> NDArray[np.float32]:
    """All vectors of some blocks, one block after the other."""
    return np.concatenate([part.at(slice(None)) for part in parts])


def chosen(vectors: Vectors, places: NDArray[np.int64]) -> Vectors:
    """Some of the vectors: coded ones keep their codes, so that it costs a copy."""
    if isinstance(vectors, CodedVectors):
        return CodedVectors(
            vectors.whole[places], vectors.scales[places], vectors.codes[places], vectors.steps, vectors.main
        )
    return PlainVectors(vectors.at(places))


def _main_directions(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """An orthonormal basis, one column each, of the subspace that holds most of a sample's squared length: subspace
    iteration, which costs little at any dimension, where the full decomposition takes seconds at 1,536. The sample is
    gone through once, for its dimensions' products with one another: a round then costs next to nothing."""
    sample = np.ascontiguousarray(matrix[:: max(1, len(matrix) // SAMPLE)])
    dimension = matrix.shape[1]
    count = min(DIRECTIONS, dimension)
    products = float_product(np.ascontiguousarray(sample.T), sample)
    basis = np.random.default_rng(0).standard_normal((dimension, count)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = _orthonormal(float_product(products, basis))
    return basis


def _orthonormal(basis: NDArray[np.float32]) -> NDArray[np.float32]:
    """An orthonormal basis of what some columns span, without directions that they hardly have.

    Gram and Schmidt's, modified, and `einsum`, which works alone: `np.linalg` makes many small calls of BLAS, whose
    threads wait for each other for seconds where the processor is busy.
    """
    columns = np.ascontiguousarray(basis.T)
    longest = np.sqrt(np.einsum("ij,ij->i", columns, columns).max())
    there = []
    for place in range(len(columns)):
        column, rest = columns[place], columns[place + 1 :]
        length = np.sqrt(np.einsum("i,i->", column, column))
        if length <= _HARDLY * longest:
            continue
        column /= length
        rest -= np.einsum("ij,j->i", rest, column)[:, None] * column
        there.append(place)
    return np.ascontiguousarray(columns[there or [0]].T)


def _multiply(vectors: NDArray[np.float32], queries: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """`queries @ vectors.T`; a few queries one after the other, which is faster."""
    if len(queries) > 4:
        out[:] = queries @ vectors.T
        return
    for place, query in enumerate(queries):
        np.vecdot(vectors, query, out=out[place])


def _slice(places: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Neighbours as a slice, which needs no copy."""
    if len(places) and places[-1] - places[0] + 1 == len(places) and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
