"""Matrix products by onnxruntime on the calling thread: of bytes with small integers, and of float32.

NumPy multiplies integers without BLAS, a hundred times slower. Its float32 products use BLAS, whose threads wait for
each other: when another process uses one of two cores, coding a block takes three times as long. onnxruntime is a
dependency already, and its `MatMulInteger` uses the dot-product instructions of ARM and x86. The graph is a single
node, so it is written here as bytes (protobuf, ONNX opset 13) and `onnx` is not needed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

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
