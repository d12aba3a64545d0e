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


def from_packaged(folder: Path) -> Weights:
    """The packaged embedder as floats again, under the names that `quantise.py` takes: what it was trained to, within
    the rounding of its 8 bits."""
    import onnx
    from onnx import numpy_helper

    stored = {
        one.name: numpy_helper.to_array(one)
        for one in onnx.load(str(folder / "model.onnx")).graph.initializer
    }
    found: Weights = {
        "embeddings.word_embeddings.weight": stored["words"].astype(np.float32) * stored["word_scales"],
        "embeddings.position_embeddings.weight": stored["positions"],
        "embeddings.token_type_embeddings.weight": stored["kinds"],
        "project.weight": stored["project.matrix"].T.copy(),
    }
    for name, values in stored.items():
        if name.endswith(".weight") and f"{name.removesuffix('.weight')}.scale" in stored:
            at = name.removesuffix(".weight")
            matrix = values.astype(np.float32) * stored[f"{at}.scale"]
            shrink = stored.get(_shrink_of(at))
            found[name] = (matrix if shrink is None else matrix * shrink[:, None]).T.copy()
            if at.endswith(".output.dense") and ".attention." not in at:  # the zero level was lifted for GELU
                lift = stored["gelu_floor"] * values.sum(axis=0, dtype=np.int32) * stored[f"{at}.scale"]
                found[f"{at}.bias"] = stored[f"{at}.bias"] + lift
        elif name.endswith(".attention.self.bias"):
            at = name.removesuffix(".bias")
            parts = zip(("query", "key", "value"), np.split(values, 3), strict=True)
            found |= {f"{at}.{one}.bias": part for one, part in parts}
        elif name.endswith((".weight", ".bias")) and values.dtype == np.float32:
            found.setdefault(name, values)
    found |= {
        f"compare.{name}": values.astype(np.float32)
        for name, values in np.load(folder / "compare.npz").items()
    }
    return found


def _shrink_of(linear: str) -> str:
    layer, _, rest = (
        linear.partition(".attention.self.") if ".attention.self." in linear else (linear, "", "")
    )
    if rest:
        return f"{layer}.smoothing.query.shrink"
    return f"{linear.removesuffix('.intermediate.dense')}.smoothing.intermediate.shrink"
