"""The derived search index: rows in order of time, with their vectors and postings, in NumPy arrays.

The database is the source of truth: the index is built from its rows, knows the last `seq` it has read, and adds what
came after. Rows are in immutable blocks, each sorted by time, so that an interval is a slice of a block. Small blocks
are merged as they accumulate, so that catching up costs as much as the new rows, not as the whole bank. A term is a
64-bit hash: the index needs no dictionary, and the terms of a row load as one array.

The vectors of a block are plain, or coded so that a large bank is small and fast to scan. A coded one is stored twice:

- 16 bits for each dimension, with a scale of its own. Its cosine is exact to about 0.00001; half the size of float32.
- 8 bits for each of the 128 directions in which the block's vectors differ most (PCA). The product of these with a
  question is approximate (error about 0.01), and takes a sixth of the work and a twelfth of the memory traffic.

`memory_search` picks candidates by the approximate cosines and compares them exactly. benchmarks/history/performance.md
has the figures of the alternatives ("The scan").

Their products are made by onnxruntime on the calling thread. NumPy multiplies integers without BLAS, a hundred times
slower. Its float32 products use BLAS, whose threads wait for each other: when another process uses one of two cores,
coding a block takes three times as long. onnxruntime is a dependency already, and its `MatMulInteger` uses the
dot-product instructions of ARM and x86. The graph is a single node, so it is written here as bytes (protobuf, ONNX
opset 13) and `onnx` is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import PACKED, Packed, label_key
from everwhen.types import KINDS, NETWORKS

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


CODES = len(KINDS) * len(NETWORKS)
FEW_KINDS = 8


def code(kind: str, network: str) -> int:
    """The number of one kind in one network."""
    return KINDS.index(kind) * len(NETWORKS) + NETWORKS.index(network)


def kind_of(code: int) -> str:
    """The kind that a number stands for."""
    return KINDS[code // len(NETWORKS)]


def codes(kinds: Collection[str] | None, networks: Collection[str] | None) -> NDArray[np.int16]:
    """The numbers of all that some kinds can be in some networks; None is any."""
    return np.array(
        [
            code(kind, network)
            for kind in KINDS
            for network in NETWORKS
            if (kinds is None or kind in kinds) and (networks is None or network in networks)
        ],
        dtype=np.int16,
    )


def among(kinds: NDArray[np.int16], codes: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which kinds are among the codes: one comparison for each of a few, a look-up in a small table for more."""
    if len(codes) <= FEW_KINDS:
        some: NDArray[np.bool_] = np.zeros(len(kinds), dtype=np.bool_)
        for code in codes:
            some |= kinds == code
        return some
    table = np.zeros(CODES, dtype=np.bool_)
    table[codes] = True
    found: NDArray[np.bool_] = table[kinds]
    return found


def first_places(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Where each value of a sorted array stands first."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Each value once, sorted."""
    ordered = np.sort(values)
    return ordered[first_places(ordered)]


K1 = 1.2  # both as in FTS5
B = 0.75


@dataclass(frozen=True, slots=True)
class Postings:
    """For each term the rows that contain it, in ascending order, and how often; for each row its length in terms.

    `halves` are the counts, doubled as `base.pack` has them.
    """

    vocabulary: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    halves: NDArray[np.uint16]
    lengths: NDArray[np.float32]

    @classmethod
    def build(cls, packed: Packed, sizes: NDArray[np.int64]) -> Postings:
        """From all rows' packed terms, one after the other, and how many terms each row has."""
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        lengths = np.bincount(owners, packed["halves"] * 0.5, minlength=len(sizes)).astype(np.float32)
        terms, order = _sorted(
            np.ascontiguousarray(packed["term"])
        )  # stable: rows stay ascending inside a term
        starts = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if len(terms) else order
        offsets = np.append(starts, len(order)).astype(np.int64)
        return cls(terms[starts], offsets, owners[order], packed["halves"][order], lengths)

    def only(self, stays: NDArray[np.bool_]) -> Postings:
        """The postings of some of the rows, renumbered."""
        kept = stays[self.rows]
        left = (
            np.add.reduceat(kept, self.offsets[:-1], dtype=np.int64) if len(kept) else np.zeros(0, np.int64)
        )
        places = (np.cumsum(stays) - 1).astype(np.int32)
        return Postings(
            self.vocabulary[left > 0],
            np.append(0, np.cumsum(left[left > 0])).astype(np.int64),
            places[self.rows[kept]],
            self.halves[kept],
            self.lengths[stays],
        )

    def packed(self) -> tuple[Packed, NDArray[np.int64]]:
        """What it was built from: all rows' packed terms, one after the other, and how many terms each row has."""
        order = np.argsort(self.rows, kind="stable")
        packed = np.empty(len(order), dtype=PACKED)
        packed["term"] = np.repeat(self.vocabulary, np.diff(self.offsets))[order]
        packed["halves"] = self.halves[order]
        return packed, np.bincount(self.rows, minlength=len(self.lengths))

    def find(self, terms: Sequence[int]) -> list[slice]:
        """Each term's slice of the postings; an empty one for a term that no row contains."""
        if not len(self.vocabulary):
            return [slice(0, 0)] * len(terms)
        wanted = np.array(terms, dtype=np.uint64)
        places = np.minimum(np.searchsorted(self.vocabulary, wanted), len(self.vocabulary) - 1)
        used = self.vocabulary[places] == wanted
        starts, ends = self.offsets[places], self.offsets[places + used]
        return [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def counts(self, where: slice, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """How often a term occurs in each of some rows, which ascend. `where` is the term's slice of the postings, from
        `find`. The shorter list is looked up in the longer one."""
        containing, halves = self.rows[where], self.halves[where]
        found = np.zeros(len(rows), dtype=np.float32)
        if not len(containing) or not len(rows):
            return found
        if len(containing) < len(rows):
            places = np.minimum(np.searchsorted(rows, containing), len(rows) - 1)
            here = rows[places] == containing
            found[places[here]] = halves[here]
        else:
            places = np.minimum(np.searchsorted(containing, rows), len(containing) - 1)
            here = containing[places] == rows
            found[here] = halves[places[here]]
        found *= np.float32(0.5)
        return found


def _sorted(terms: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Terms in their order, and the place of each before; of equal ones the first place comes first.

    NumPy sorts numbers with vector instructions, but not numbers with their places: a term's first bits and its place,
    sorted as one number, take half the time. Only terms with the same first bits can come out in a wrong order.
    """
    bits = np.uint64(len(terms).bit_length())
    keys = terms >> bits << bits
    keys |= np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    keys &= (np.uint64(1) << bits) - np.uint64(1)
    order = keys.view(np.int64)
    ordered = terms[order]
    if (ordered[1:] < ordered[:-1]).any():
        order = np.argsort(terms, kind="stable")
        ordered = terms[order]
    return ordered, order


def idf(rows: int, containing: int) -> float:
    """How much a term says: its inverse document frequency."""
    return math.log(1.0 + (rows - containing + 0.5) / (containing + 0.5))


def score(
    postings: Postings, found: Sequence[slice], weights: Sequence[float], mean_length: float
) -> NDArray[np.float32]:
    """Every row's BM25 for a query. For each of its terms, `found` has its slice of the postings and `weights` its idf.

    Numerator and denominator are both doubled, as the counts in `halves` are. Rows become machine words once for each
    term: NumPy would turn them into these again at every step.
    """
    scores = np.zeros(len(postings.lengths), dtype=np.float32)
    norms = np.float32(2 * K1 * B / mean_length) * postings.lengths if mean_length else scores.copy()
    norms += np.float32(2 * K1 * (1 - B))
    for where, weight in zip(found, weights, strict=True):
        rows = postings.rows[where].astype(np.intp)
        gain = postings.halves[where].astype(np.float32)
        gain /= norms.take(rows) + gain
        gain *= np.float32(weight * (K1 + 1.0))
        gain += scores.take(rows)
        scores[rows] = gain  # a term's rows are distinct
    return scores


MERGE_UP_TO = 32_768
"""Vectors in a merged block (48 MB at 384 dimensions while it is made): a merge copies, so it must stay small."""


@dataclass(frozen=True, slots=True)
class IndexRows:
    """What the index holds of some units, one entry each.

    Sessions and speakers are keys (`label_key`); roles are positions in `types.ROLES`. For a unit that nobody
    said these are 0, 0 and -1. `asks` says whether the text ends as a question.
    """

    units: NDArray[np.int64]
    at: NDArray[np.int64]
    recorded: NDArray[np.int64]
    kinds: NDArray[np.int16]
    sessions: NDArray[np.int64]
    speakers: NDArray[np.int64]
    roles: NDArray[np.int8]
    asks: NDArray[np.bool_]
    pieces: NDArray[np.int64]

    def at_places(self, places: NDArray[np.int64]) -> IndexRows:
        """Some of them, in another order."""
        return IndexRows(*(getattr(self, name)[places] for name in IndexRows.__slots__))

    @classmethod
    def joined(cls, parts: Sequence[IndexRows]) -> IndexRows:
        """Several, one after the other."""
        if not parts:
            return empty_batch(0).rows
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """Units as they are added to the index: their rows, the packed terms of all rows in one array with the number per
    row, and all vectors in one array."""

    rows: IndexRows
    sizes: NDArray[np.int64]
    packed: Packed
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """A hard filter in the index's terms: microseconds, kind codes, and a list of allowed units if there is one.

    `networks` are those that `kinds` was made with, for a caller that needs other kinds of the same networks. `but`
    are units that never pass.
    """

    start: int | None = None
    end: int | None = None
    known_at: int | None = None
    kinds: NDArray[np.int16] | None = None
    units: NDArray[np.int64] | None = None
    networks: frozenset[str] | None = None
    but: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Units in order of time.

    `firsts` says where each row's vectors begin. `by_session` has the rows ordered by session and time; those of
    `sessions[i]` start at `session_starts[i]`. `by_unit` has the rows ordered by unit. `roles` are the roles that
    occur.
    """

    rows: IndexRows
    firsts: NDArray[np.int64]
    vectors: Vectors
    postings: Postings
    sessions: NDArray[np.int64]
    session_starts: NDArray[np.int64]
    by_session: NDArray[np.int32]
    by_unit: NDArray[np.int32]
    roles: frozenset[int]

    @classmethod
    def build(cls, batch: IndexBatch) -> Block:
        batch = _in_time_order(batch)
        return cls._of(batch.rows, make_vectors(batch.vectors), Postings.build(batch.packed, batch.sizes))

    @classmethod
    def _of(cls, rows: IndexRows, vectors: Vectors, postings: Postings) -> Block:
        by_session = np.argsort(rows.sessions, kind="stable").astype(np.int32)
        in_order = rows.sessions[by_session]
        starts = first_places(in_order)
        return cls(
            rows,
            np.cumsum(rows.pieces) - rows.pieces,
            vectors,
            postings,
            in_order[starts],
            np.append(starts, len(in_order)),
            by_session,
            np.argsort(rows.units, kind="stable").astype(np.int32),
            frozenset(distinct(rows.roles).tolist()),
        )

    def only(self, stays: NDArray[np.bool_]) -> Block:
        """With some of its rows: what is sorted stays sorted, so that it costs a copy."""
        places = np.flatnonzero(stays)
        return self._of(
            self.rows.at_places(places),
            chosen(self.vectors, _spread(self.rows.pieces, places)),
            self.postings.only(stays),
        )

    def find(self, units: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of those of some units that are here."""
        low, high = self.rows.units[self.by_unit[0]], self.rows.units[self.by_unit[-1]]
        units = units[(units >= low) & (units <= high)]  # most blocks hold none of them
        if not len(units):
            return self.by_unit[:0]
        rows = self.by_unit[np.searchsorted(self.rows.units, units, sorter=self.by_unit)]
        here: NDArray[np.int32] = rows[self.rows.units[rows] == units]
        return here

    def of_sessions(self, sessions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of some sessions."""
        places = np.minimum(np.searchsorted(self.sessions, sessions), len(self.sessions) - 1)
        places = places[self.sessions[places] == sessions]
        starts = self.session_starts[places]
        return self.by_session[_runs(starts, self.session_starts[places + 1] - starts)]

    def mask(self, window: IndexFilter) -> NDArray[np.bool_] | None:
        """The rows that pass, or None when all do."""
        low, high = self.slice(window)
        tests: list[NDArray[np.bool_]] = []
        if window.known_at is not None:
            tests.append(self.rows.recorded <= window.known_at)
        if window.kinds is not None:
            tests.append(among(self.rows.kinds, window.kinds))
        if window.units is not None:
            tests.append(np.isin(self.rows.units, window.units))
        if window.but is not None and len(window.but):
            tests.append(~np.isin(self.rows.units, window.but))
        if low == 0 and high == len(self.rows.units) and not tests:
            return None
        passing = np.zeros(len(self.rows.units), dtype=np.bool_)
        passing[low:high] = True
        for test in tests:
            passing &= test
        return passing

    def rough_cosines(
        self, queries: NDArray[np.float32], low: int, high: int, out: NDArray[np.float32]
    ) -> None:
        """Write the best cosine, more or less, over its pieces of each row from `low` up to `high`; a row for each
        query."""
        if len(self.vectors) == len(self.rows.units):
            self.vectors.rough(queries, low, high, out)
            return
        first = int(self.firsts[low])
        last = int(self.firsts[high]) if high < len(self.firsts) else len(self.vectors)
        pieces = np.empty((len(queries), last - first), dtype=np.float32)
        self.vectors.rough(queries, first, last, pieces)
        np.maximum.reduceat(pieces, self.firsts[low:high] - first, axis=1, out=out)

    def cosines(self, queries: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The best cosine of each of some rows over its pieces, a row of the result for each query."""
        if len(self.vectors) == len(self.rows.units):
            return self.vectors.cosines(queries, rows)
        pieces = self.rows.pieces[rows]
        cosines = self.vectors.cosines(queries, _runs(self.firsts[rows], pieces))
        best: NDArray[np.float32] = np.maximum.reduceat(cosines, np.cumsum(pieces) - pieces, axis=1)
        return best

    def slice(self, window: IndexFilter) -> tuple[int, int]:
        """The rows that the window's time holds: from one up to another."""
        low = 0 if window.start is None else int(np.searchsorted(self.rows.at, window.start))
        high = len(self.rows.at) if window.end is None else int(np.searchsorted(self.rows.at, window.end))
        return low, max(low, high)

    def batch(self) -> IndexBatch:
        """What it can be built from again."""
        packed, sizes = self.postings.packed()
        return IndexBatch(self.rows, sizes, packed, joined([self.vectors]))


@dataclass(frozen=True, slots=True)
class Index:
    """An immutable snapshot that readers share; `extended` makes the next one."""

    blocks: tuple[Block, ...] = ()
    seen: int = 0
    removed: int = 0  # the last removal that was followed
    speakers: frozenset[str] = frozenset()

    def extended(self, batch: IndexBatch, seen: int, speakers: Iterable[str] = ()) -> Index:
        """With more units, merging small neighbours on the way."""
        speakers = self.speakers.union(speakers)
        if not len(batch.rows.units):
            return Index(self.blocks, seen, self.removed, speakers)
        blocks = list(self.blocks)
        while blocks and _worth_merging(len(blocks[-1].vectors), len(batch.vectors)):
            batch = _joined(blocks.pop().batch(), batch)
        blocks.append(Block.build(batch))
        return Index(tuple(blocks), seen, self.removed, speakers)

    def without(self, units: NDArray[np.int64], removed: int) -> Index:
        """With units taken out; only the blocks that hold one of them are copied."""
        if not len(units):
            return self if removed == self.removed else Index(self.blocks, self.seen, removed, self.speakers)
        blocks = []
        for block in self.blocks:
            stays = ~np.isin(block.rows.units, units)
            if stays.all():
                blocks.append(block)
            elif stays.any():
                blocks.append(block.only(stays))
        speaking = {key for block in blocks for key in distinct(block.rows.speakers).tolist()}
        speakers = frozenset(name for name in self.speakers if label_key(name) in speaking)
        return Index(tuple(blocks), self.seen, removed, speakers)

    def beside(self, other: Index) -> Index:
        """The rows of both as one snapshot to search in; it is not extended."""
        return Index(
            self.blocks + other.blocks,
            max(self.seen, other.seen),
            max(self.removed, other.removed),
            self.speakers | other.speakers,
        )

    def __len__(self) -> int:
        return sum(len(block.rows.units) for block in self.blocks)

    @property
    def vectors(self) -> int:
        return sum(len(block.vectors) for block in self.blocks)

    def passing(self, window: IndexFilter) -> NDArray[np.bool_] | None:
        """The rows of all blocks that pass, one block after the other; None when all do."""
        masks = [block.mask(window) for block in self.blocks]
        if all(mask is None for mask in masks):
            return None
        return np.concatenate(
            [
                np.ones(len(block.rows.units), dtype=np.bool_) if mask is None else mask
                for block, mask in zip(self.blocks, masks, strict=True)
            ]
        )

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        """For each vector the units of some kinds with a cosine above the floor, best first; one product a block.

        A unit counts by its nearest piece. Of a thousand equal ones only the first `limit` are ever looked at one by
        one: what a batch costs beyond the product does not grow with the bank.
        """
        found: list[dict[int, float]] = [{} for _ in vectors]
        for block in self.blocks:
            rows = np.flatnonzero(among(block.rows.kinds, kinds))
            if not len(rows):
                continue
            best = np.concatenate(
                [block.cosines(vectors, rows[i : i + AT_ONCE]) for i in range(0, len(rows), AT_ONCE)], axis=1
            )
            for near, cosines in zip(found, best, strict=True):
                places = np.flatnonzero(cosines > floor)
                if len(places) > limit:  # ties go to the unit that was written first, as in the sort below
                    units = block.rows.units[rows[places]]
                    places = places[np.lexsort((units, -cosines[places]))[:limit]]
                units = block.rows.units[rows[places]]
                near.update(zip(units.tolist(), cosines[places].tolist(), strict=True))
        return [sorted(one.items(), key=lambda item: (-item[1], item[0]))[:limit] for one in found]

    def find(self, terms: Sequence[int]) -> list[list[slice]]:
        """For each block, the slice of its postings for each of some terms."""
        return [block.postings.find(terms) for block in self.blocks]

    def scores(
        self, found: Sequence[Sequence[slice]], weights: Sequence[float], mean_length: float
    ) -> NDArray[np.float32]:
        """Every row's BM25, one block after the other."""
        parts = [
            score(block.postings, where, weights, mean_length)
            for block, where in zip(self.blocks, found, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def holding(
        self, words: Sequence[Sequence[int]], kinds: NDArray[np.int16], limit: int | None = None
    ) -> list[NDArray[np.int64]]:
        """For each word, given by its terms, the units of some kinds that have all of them, so many at the most; first
        those that have them in their own words, as far as counts can tell, and not in their context alone."""
        return [self._holding(terms, kinds)[:limit] for terms in words]

    def _holding(self, terms: Sequence[int], kinds: NDArray[np.int16]) -> NDArray[np.int64]:
        own, other = [], []
        for block in self.blocks if terms else ():
            where, *more = block.postings.find(terms)
            rows, halves = block.postings.rows[where], block.postings.halves[where]
            stays = among(block.rows.kinds[rows], kinds)
            for also in more:
                stays &= np.isin(rows, block.postings.rows[also])
            own.append(block.rows.units[rows[stays & (halves >= 2)]])
            other.append(block.rows.units[rows[stays & (halves < 2)]])
        return np.concatenate([*own, *other, np.zeros(0, dtype=np.int64)])

    def term_weights(
        self, terms: Sequence[int], found: Sequence[Sequence[slice]]
    ) -> tuple[list[float], float]:
        """The idf of each term, by where each block has it (`find`), and the mean length of a row: both of the
        whole bank, whatever the window."""
        total = len(self)
        length = sum(float(block.postings.lengths.sum(dtype=np.float64)) for block in self.blocks)
        containing = [sum(one[i].stop - one[i].start for one in found) for i in range(len(terms))]
        return [idf(total, count) for count in containing], length / max(1, total)


def _worth_merging(older: int, newer: int) -> bool:
    return older < 2 * newer and older + newer <= MERGE_UP_TO


def _joined(a: IndexBatch, b: IndexBatch) -> IndexBatch:
    return IndexBatch(
        IndexRows.joined([a.rows, b.rows]),
        np.concatenate([a.sizes, b.sizes]),
        np.concatenate([a.packed, b.packed]),
        np.concatenate([a.vectors, b.vectors]),
    )


def _in_time_order(batch: IndexBatch) -> IndexBatch:
    at = batch.rows.at
    if np.all(at[1:] >= at[:-1]):
        return batch  # the usual case: turns come in the order of time
    order = np.argsort(at, kind="stable")
    return IndexBatch(
        batch.rows.at_places(order),
        batch.sizes[order],
        batch.packed[_spread(batch.sizes, order)],
        batch.vectors[_spread(batch.rows.pieces, order)],
    )


def _spread(sizes: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of all elements when groups of the given sizes are put in another order."""
    return _runs((np.cumsum(sizes) - sizes)[order], sizes[order])


def _runs(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """So many whole numbers from each start on, one run after the other."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))


def empty_batch(dimension: int) -> IndexBatch:
    whole = np.zeros(0, dtype=np.int64)
    return IndexBatch(
        IndexRows(
            units=whole,
            at=whole,
            recorded=whole,
            kinds=np.zeros(0, dtype=np.int16),
            sessions=whole,
            speakers=whole,
            roles=np.zeros(0, dtype=np.int8),
            asks=np.zeros(0, dtype=np.bool_),
            pieces=whole,
        ),
        sizes=whole,
        packed=np.zeros(0, dtype=PACKED),
        vectors=np.zeros((0, dimension), dtype=np.float32),
    )
