"""Published weights as arrays, from safetensors and from 8-bit ONNX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import weights


def test_8_bit_matrices_are_turned_back_into_floats_for_torch(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    codes = chance.integers(0, 255, (4, 6)).astype(np.uint8)
    scale, zero = np.float32(0.5), np.uint8(100)
    words = chance.integers(-128, 127, (10, 4)).astype(np.int8)
    stored = {
        "onnx::MatMul_7_quantized": codes,
        "onnx::MatMul_7_scale": scale,
        "onnx::MatMul_7_zero_point": zero,
        "bert.embeddings.word_embeddings.weight_quantized": words,
        "bert.embeddings.word_embeddings.weight_scale": np.float32(0.25),
        "bert.embeddings.word_embeddings.weight_zero_point": np.int8(3),
        "bert.encoder.layer.3.output.dense.bias": np.arange(6, dtype=np.float32),
    }
    node = helper.make_node(
        "MatMulInteger",
        ["x", "onnx::MatMul_7_quantized"],
        ["y"],
        name="/bert/encoder/layer.3/output/dense/MatMul_quant",
    )
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items()]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "g", [], [], constants)), str(path))

    found = weights.published(path)
    assert set(found) == {
        "encoder.layer.3.output.dense.weight",
        "encoder.layer.3.output.dense.bias",
        "embeddings.word_embeddings.weight",
    }
    expected = (codes.astype(np.float32) - 100).T * 0.5
    assert found["encoder.layer.3.output.dense.weight"] == pytest.approx(expected)
    assert found["embeddings.word_embeddings.weight"] == pytest.approx((words.astype(np.float32) - 3) * 0.25)


def test_a_weight_that_is_missing_is_named(files: dict[str, Path]) -> None:
    import networks

    known = weights.published(files["model"])
    del known["encoder.layer.5.output.dense.bias"]
    with pytest.raises(KeyError, match=r"layer\.5\.output\.dense\.bias"):
        networks.load_bert(networks.bert(6), known, list(range(6)))
