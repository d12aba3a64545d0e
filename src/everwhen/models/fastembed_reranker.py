"""Cross-encoders: question and memory are read together by one model. Slower than late interaction, and surer.

`fastembed:<model>`, such as `fastembed:Xenova/ms-marco-MiniLM-L-6-v2`, is run by the fastembed package, which
downloads it on first use. `fastembed:<folder>` with a `model.onnx` and a `tokenizer.json` needs no package.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError
from everwhen.models.comparison import Candidate, RerankQuery, Scores, dated_line

WINDOW = 512
BATCH = 16


class Logits(Protocol):
    """What fastembed's `TextCrossEncoder` offers: a raw score for each document."""

    def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]: ...


class CrossEncoder:
    """Reads `[Date: November 06, 2025 (2025-11-06)] context: text` beside the question."""

    reads = frozenset({"text"})

    def __init__(self, model: str, threads: int | None = None) -> None:
        self.model = model
        self.name = f"fastembed:{model}"
        self.threads = threads
        self._loading = threading.Lock()
        self._loaded: Logits | None = None

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        """`sigmoid(logit)`, from 0 to 1."""
        if not candidates:
            return {"cross_encoder": np.zeros(0, np.float32)}
        lines = [dated_line(candidate) for candidate in candidates]
        logits = np.fromiter(self._model().rerank(question.text, lines), np.float64, len(lines))
        # A logit beyond 60 is 0 or 1 anyway, and would overflow.
        return {"cross_encoder": (1 / (1 + np.exp(-np.clip(logits, -60, 60)))).astype(np.float32)}

    def _model(self) -> Logits:
        with self._loading:
            if self._loaded is None:
                folder = Path(self.model)
                self._loaded = LocalCrossEncoder(folder, self.threads) if folder.is_dir() else self._load()
        return self._loaded

    def _load(self) -> Logits:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError as error:
            raise ModelError(f"{self.name} needs the fastembed package: pip install fastembed") from error
        try:
            loaded: Logits = TextCrossEncoder(model_name=self.model, threads=self.threads)
        except Exception as error:
            raise ModelError(f"fastembed cannot load the cross-encoder {self.model!r}: {error}") from error
        return loaded


class LocalCrossEncoder:
    """An exported cross-encoder in a folder, run with onnxruntime and tokenizers."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        import onnxruntime

        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ModelError(
                "a cross-encoder in a folder needs the tokenizers package: pip install tokenizers"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0
        options.log_severity_level = 3
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session = onnxruntime.InferenceSession(
                folder / "model.onnx", options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ModelError(
                f"{folder} is no cross-encoder: it needs a model.onnx and a tokenizer.json ({error})"
            ) from error
        self._tokenizer.enable_truncation(WINDOW, strategy="longest_first")
        self._tokenizer.enable_padding()
        self._inputs = [one.name for one in self._session.get_inputs()]

    def rerank(self, query: str, documents: Iterable[str]) -> list[float]:
        # What the window cannot hold is not worth tokenizing for every pair.
        pairs = [(query[: 4 * WINDOW], document[: 16 * WINDOW]) for document in documents]
        return [
            logit
            for start in range(0, len(pairs), BATCH)
            for logit in self._logits(pairs[start : start + BATCH])
        ]

    def _logits(self, pairs: list[tuple[str, str]]) -> list[float]:
        encoded = self._tokenizer.encode_batch(pairs)
        known: dict[str, NDArray[np.int64]] = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], np.int64),
            "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
        }
        outputs: list[Any] = self._session.run(None, {name: known[name] for name in self._inputs})
        return [float(row) for row in np.asarray(outputs[0], np.float64).reshape(len(pairs), -1)[:, 0]]
