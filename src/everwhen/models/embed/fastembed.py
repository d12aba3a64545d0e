"""Models that the fastembed package runs on the CPU; it downloads them on first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from everwhen.errors import ModelError
from everwhen.models.embed.base import Vectors, normalised
from everwhen.models.embed.chunking import cut, words_by


class FastEmbed:
    """`fastembed:<model>`, such as `fastembed:BAAI/bge-small-en-v1.5`."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"fastembed:{model}"
        self._loading = threading.Lock()
        self._loaded: Any = None

    @cached_property
    def dim(self) -> int:
        return int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        rows = list(self._model().embed(list(texts)))
        return normalised(np.asarray(rows, dtype=np.float32))

    def pieces(self, text: str) -> list[str]:
        tokenizer = self._model().model.tokenizer
        window = int((tokenizer.truncation or {}).get("max_length", 512))

        def count(word: str) -> int:
            return len(tokenizer.encode(word, add_special_tokens=False).ids)

        return cut(text, window - 2, window // 8, words_by(count))

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise ModelError(f"{self.name} needs the fastembed package: pip install fastembed") from error
        try:
            return TextEmbedding(model_name=self.model)
        except Exception as error:
            raise ModelError(f"fastembed cannot load the model {self.model!r}: {error}") from error
