"""Weights as arrays: published ones under BERT's own names, 8-bit ONNX files turned back into floats; saved ones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

Weights = dict[str, np.ndarray]

_LAYER = re.compile(r"/?(?:bert/)?(encoder/layer\.\d+/.+?)/MatMul(?:_quant|_output_0_MatMul|$)")


def published(path: Path) -> Weights:
    """The weights in a file, whichever of the two forms it has."""
    return from_safetensors(path) if path.suffix == ".safetensors" else from_onnx(path)


def from_onnx(path: Path) -> Weights:
    """Matrices from each `MatMulInteger` with its scale and zero point; everything else as it is stored."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found: Weights = {}
    for name, values in stored.items():
        plain = name.removeprefix("bert.").removeprefix("model.")
        if plain.endswith("_quantized"):
            key = plain.removesuffix("_quantized")
            scale = stored[name.removesuffix("_quantized") + "_scale"]
            zero = stored[name.removesuffix("_quantized") + "_zero_point"]
            matrix = (values.astype(np.float32) - zero.astype(np.float32)) * scale.astype(np.float32)
            if not key.startswith("onnx::") and ".weight" in key:
                found[key] = matrix
        elif plain.endswith((".weight", ".bias")):
            found[plain] = values.astype(np.float32)
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        weight = next((one for one in node.input if one in stored and stored[one].ndim == 2), None)
        where = _LAYER.search(node.name)
        if weight is None or where is None:
            continue
        base = weight.removesuffix("_quantized")
        scale, zero = stored[f"{base}_scale"], stored[f"{base}_zero_point"]
        matrix = (stored[weight].astype(np.float32) - zero.astype(np.float32)) * scale.astype(np.float32)
        found[where.group(1).replace("/", ".") + ".weight"] = matrix.T.copy()
    return found


def from_safetensors(path: Path) -> Weights:
    from safetensors.numpy import load_file

    return {name.removeprefix("bert."): values.astype(np.float32) for name, values in load_file(path).items()}


def saved(folder: Path, name: str) -> Weights:
    """What `train.py` saved of a network, in as many pieces as there are."""
    pieces = sorted(folder.glob(f"{name}.*.npz"))
    if not pieces:
        raise SystemExit(f"there is no {name}.0.npz in {folder}: train that network first")
    return {key: values.astype(np.float32) for piece in pieces for key, values in np.load(piece).items()}
