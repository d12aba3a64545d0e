"""The whole way on the CPU: `train.py --small`, then both networks as 8-bit files."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
import torch
from tokenizers import Tokenizer

import networks
import quantise
import train
from corpus import Corpus

from .conftest import TOKENIZER


@pytest.fixture(scope="module")
def trained(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained")
    arguments = {
        "data": "corpus",
        "eval": "corpus",
        "worded": "worded",
        "start": "model",
        "reranker": "reranker",
    }
    given = [part for name, key in arguments.items() for part in (f"--{name}", str(files[key]))]
    with pytest.MonkeyPatch.context() as patch:
        # All of them; one more with what the teacher left; and, judged by it, one that goes on learning.
        again = ("--stage", "reader3", "--again", str(out))
        for stage in ((), ("--stage", "reader3"), ("--stage", "judge"), again):
            patch.setattr(sys, "argv", ["train.py", *given, "--out", str(out), "--small", *stage])
            train.main()
    return out


def quantised(network: str, words: Path, trained: Path, out: Path) -> Path:
    some = quantise.evaluation_texts()[::12]
    given = {"weights": trained, "words": words, "tokenizer": TOKENIZER, "out": out}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantise, "evaluation_texts", lambda: some)
        arguments = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        patch.setattr(sys, "argv", ["quantise.py", network, *arguments])
        quantise.main()
    return out


@pytest.fixture(scope="module")
def embedder(files: dict[str, Path], trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quantised("embedder6", files["model"], trained, tmp_path_factory.mktemp("embedder"))


@pytest.fixture(scope="module")
def reader(files: dict[str, Path], trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quantised("reader3", files["reranker"], trained, tmp_path_factory.mktemp("reader"))


def session(folder: Path) -> Any:
    return ort.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])


def inputs(folder: Path, kind: str) -> list[dict[str, np.ndarray]]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return quantise.example_inputs(kind, tokenizer, quantise.evaluation_texts()[::25])


def batch(several: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Padded to the longest, with the mask."""
    width = max(one["input_ids"].shape[1] for one in several)
    given = {
        name: np.zeros((len(several), width), np.int64)
        for name in ("input_ids", "segments", "attention_mask")
    }
    for row, one in enumerate(several):
        length = one["input_ids"].shape[1]
        given["input_ids"][row, :length] = one["input_ids"][0]
        given["segments"][row, :length] = one["segments"][0]
        given["attention_mask"][row, :length] = 1
    return given


def test_training_writes_every_network_and_a_report(trained: Path) -> None:
    assert {path.name.partition(".")[0] for path in trained.glob("*.npz")} == {
        "embedder6",
        "judged",
        "reader12",
        "reader6",
        "reader3",
    }
    assert all(path.stat().st_size < 16 * 2**20 for path in trained.glob("*.npz"))
    report = json.loads((trained / "embedder6.report.json").read_text())
    assert set(report) == {"cosine", "cosine before", "maxsim of 100", "compare of 100", "all three"}
    assert all(0 <= value <= 1 for values in report.values() for value in values)


def test_a_stage_without_what_the_one_before_leaves_says_so(files: dict[str, Path], tmp_path: Path) -> None:
    corpus = Corpus(files["corpus"])
    run = train.Run(tmp_path, True, corpus, corpus, torch.zeros(1))
    with pytest.raises(SystemExit, match=r"no judged.npz in .*: run --stage teacher first"):
        train.train_student(run, files["reranker"], 3)
    with pytest.raises(SystemExit, match=r"no reader12.0.npz in .*: train that network first"):
        train.load_teacher(run, files["reranker"])
    with pytest.raises(SystemExit, match=r"no embedder12.0.npz in "):
        quantise.load("embedder12", 12, tmp_path, files["model"])


def test_a_saved_network_comes_back_with_the_words_it_started_from(
    trained: Path, files: dict[str, Path]
) -> None:
    network = quantise.load("embedder6", 6, trained, files["model"]).state_dict()
    start = train.start_embedder(files["model"], list(range(6)), "first").state_dict()
    words, first = "bert.embeddings.word_embeddings.weight", "bert.encoder.layer.0.output.dense.weight"
    assert bool((network[words] == start[words]).all())
    assert not bool((network[first] == start[first]).all()), "nothing was learned"
    assert float((network[first] - start[first]).abs().max()) < 0.05


def test_the_quantised_sentence_vector_is_near_to_full_precision(
    embedder: Path, trained: Path, files: dict[str, Path]
) -> None:
    network, run = quantise.load("embedder6", 6, trained, files["model"]), session(embedder)
    for one in inputs(embedder, "embedder"):
        vector = run.run(["sentence"], batch([one]))[0][0]
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
        assert vector @ quantise.exact(network, one)[0][0] > 0.98


def test_a_vector_does_not_depend_on_its_batch_mates(embedder: Path) -> None:
    several, run = inputs(embedder, "embedder"), session(embedder)
    together = run.run(["sentence", "token_vectors"], batch(several))
    for row, one in enumerate(several):
        sentence, tokens = run.run(["sentence", "token_vectors"], batch([one]))
        # Padding changes the last bit of a sum, and that may change what a number is rounded to in 8 bits.
        assert together[0][row] @ sentence[0] > 0.999
        assert (together[1][row, : tokens.shape[1]] * tokens[0]).sum(axis=-1).min() > 0.995


def test_the_quantised_reader_is_near_to_full_precision_alone_and_in_a_batch(
    reader: Path, trained: Path, files: dict[str, Path]
) -> None:
    network, run = quantise.load("reader3", 3, trained, files["reranker"]), session(reader)
    several, heads = inputs(reader, "reader"), ["relevance", "kind", "status", "span", "renews", "tells"]
    together = run.run(heads, batch(several))
    for row, one in enumerate(several):
        length = one["input_ids"].shape[1]
        for number, exact in enumerate(quantise.exact(network, one)):
            by_token = heads[number] in ("span", "tells")
            made = together[number][row, :length] if by_token else together[number][row]
            assert made.reshape(exact[0].shape) == pytest.approx(exact[0], abs=0.1)


def test_the_folder_has_sums_a_comparison_and_reference_vectors(embedder: Path) -> None:
    sums = dict(reversed(line.split()) for line in (embedder / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {"compare.npz", "model.onnx", "reference.json", "tokenizer.json"}
    for name, value in sums.items():
        assert hashlib.sha256((embedder / name).read_bytes()).hexdigest() == value
    compare = np.load(embedder / "compare.npz")
    parts = ("inner", "worth", "outer", "score")
    assert set(compare) == {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}
    assert {value.dtype for value in compare.values()} == {np.dtype(np.float16)}
    reference = json.loads((embedder / "reference.json").read_text())
    assert [one["text"] for one in reference] == list(quantise.REFERENCE_TEXTS)


def test_the_package_compares_as_the_trained_network_does(
    embedder: Path, trained: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """numpy and half precision against torch."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "src")
    from everwhen.models import comparison

    monkeypatch.setattr(comparison, "CONVERSATION_FOLDER", embedder)
    monkeypatch.setattr(comparison, "comparison_weights", comparison.comparison_weights.__wrapped__)
    network = quantise.load("embedder6", 6, trained, files["model"])
    torch.manual_seed(1)
    asked, told = (torch.nn.functional.normalize(torch.randn(n, networks.WIDTH), dim=-1) for n in (5, 9))
    counts = [4, 3, 2]
    with torch.no_grad():
        exact = [
            float(network.compare(asked[None], torch.ones(1, 5, dtype=torch.bool), part[None, None],
                                  torch.ones(1, 1, len(part), dtype=torch.bool)))
            for part in told.split(counts)
        ]  # fmt: skip
    made = comparison.compare(asked.numpy(), told.numpy(), np.array(counts))
    assert made == pytest.approx(exact, abs=5e-3)
