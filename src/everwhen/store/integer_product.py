"""A matrix of bytes times a few columns of small integers: onnxruntime's integer product, as NumPy has no fast one.

NumPy multiplies integers without BLAS, a hundred times slower. onnxruntime is a dependency already, and its
`MatMulInteger` uses the dot-product instructions of ARM and x86. The graph is one node, so it is written here byte by
byte (protobuf, ONNX opset 13) and needs no `onnx`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 63
"""Of the columns' values. Processors without VNNI add two products in 16 bits: 2 * 255 * 63 still fits."""

_UINT8, _INT8, _INT32 = 2, 3, 6  # TensorProto.DataType


def product(codes: NDArray[np.uint8], columns: NDArray[np.int8]) -> NDArray[np.int32]:
    """`codes @ columns`, exactly; on the calling thread."""
    found: NDArray[np.int32] = _session().run(None, {"codes": codes, "columns": columns})[0]
    return found


@cache
def _session() -> Any:
    import onnxruntime  # slow to import, and a small bank needs none

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # meaning and words are searched side by side already
    options.enable_cpu_mem_arena = False  # its arena would keep the largest answer for ever
    return onnxruntime.InferenceSession(_model(), options, providers=["CPUExecutionProvider"])


def _model() -> bytes:
    """ModelProto: IR version 8, opset 13, one MatMulInteger node."""
    node = (
        _text(1, "codes")
        + _text(1, "columns")
        + _text(2, "product")
        + _text(3, "")
        + _text(4, "MatMulInteger")
    )
    graph = (
        _message(1, node)
        + _text(2, "integer_product")
        + _message(11, _matrix("codes", _UINT8, "rows", "inner"))
        + _message(11, _matrix("columns", _INT8, "inner", "columns"))
        + _message(12, _matrix("product", _INT32, "rows", "columns"))
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
