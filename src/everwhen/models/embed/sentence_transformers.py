"""Models that the sentence-transformers package runs with torch; it downloads them on first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from everwhen.errors import ModelError
from everwhen.models.embed.base import Vectors, normalised
from everwhen.models.embed.chunking import cut, words_by


class SentenceTransformers:
    """`sentence-transformers:<model>`, such as `sentence-transformers:all-mpnet-base-v2` or a folder."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"sentence-transformers:{model}"
        self._loading = threading.Lock()
        self._loaded: Any = None

    @cached_property
    def dim(self) -> int:
        return int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        rows = self._model().encode(list(texts), convert_to_numpy=True, show_progress_bar=False)
        return normalised(np.asarray(rows, dtype=np.float32))

    def pieces(self, text: str) -> list[str]:
        model = self._model()
        window = int(model.max_seq_length or 512)
        return cut(text, window - 2, window // 8, words_by(lambda word: len(model.tokenizer.tokenize(word))))

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            fix = "pip install sentence-transformers"
            raise ModelError(f"{self.name} needs the sentence-transformers package: {fix}") from error
        try:
            return SentenceTransformer(self.model)
        except Exception as error:
            raise ModelError(
                f"sentence-transformers cannot load the model {self.model!r}: {error}"
            ) from error
