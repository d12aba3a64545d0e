"""A cross-encoder of five words, written byte by byte: the `onnx` package is not among the dependencies.

logit = sum over the tokens of the second text of weight[token]
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

WORDS = {"bicycle": 1.5, "boat": -0.5, "rain": -2.0}
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
FLOAT, INT64 = 1, 7


def write_cross_encoder(folder: Path) -> None:
    vocabulary = {word: i for i, word in enumerate([*SPECIALS, *WORDS])}
    weights = [0.0] * len(SPECIALS) + list(WORDS.values())
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(vocabulary)))
    (folder / "model.onnx").write_bytes(_model(weights))


def _tokenizer(vocabulary: dict[str, int]) -> dict[str, object]:
    def sequence(name: str, segment: int) -> dict[str, object]:
        return {"Sequence": {"id": name, "type_id": segment}}

    def special(name: str, segment: int) -> dict[str, object]:
        return {"SpecialToken": {"id": name, "type_id": segment}}

    single = [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, sequence("B", 1), special("[SEP]", 1)],
            "special_tokens": {
                name: {"id": name, "ids": [vocabulary[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }


def _model(weights: list[float]) -> bytes:
    """Gather the weights, silence what is not in the second text, add up."""
    nodes = [
        _node("Gather", ["weights", "input_ids"], "worth"),
        _node("Mul", ["token_type_ids", "attention_mask"], "second"),
        _node("Cast", ["second"], "factor", _text(1, "to") + _number(3, FLOAT) + _number(20, 2)),
        _node("Mul", ["worth", "factor"], "counted"),
        _node("ReduceSum", ["counted", "axes"], "logits"),
    ]
    tensors = [
        _tensor("weights", FLOAT, [len(weights)], struct.pack(f"<{len(weights)}f", *weights)),
        _tensor("axes", INT64, [1], struct.pack("<q", 1)),
    ]
    inputs = [_value(name, INT64, 2) for name in ("input_ids", "attention_mask", "token_type_ids")]
    graph = b"".join(
        [
            *(_block(1, node) for node in nodes),
            _text(2, "tiny"),
            *(_block(5, tensor) for tensor in tensors),
            *(_block(11, one) for one in inputs),
            _block(12, _value("logits", FLOAT, 2)),
        ]
    )
    return _number(1, 8) + _block(7, graph) + _block(8, _text(1, "") + _number(2, 13))


# The messages of onnx.proto, as far as they are needed: field numbers and wire types.


def _node(op: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    named = b"".join(_text(1, name) for name in inputs)
    return named + _text(2, output) + _text(4, op) + (_block(5, attribute) if attribute else b"")


def _tensor(name: str, kind: int, shape: list[int], raw: bytes) -> bytes:
    return b"".join(_number(1, size) for size in shape) + _number(2, kind) + _text(8, name) + _block(9, raw)


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_block(1, _text(2, f"{name}.{i}")) for i in range(rank))
    return _text(1, name) + _block(2, _block(1, _number(1, kind) + _block(2, shape)))


def _text(field: int, text: str) -> bytes:
    return _block(field, text.encode())


def _block(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
