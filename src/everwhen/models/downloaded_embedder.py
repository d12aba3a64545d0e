"""Embedders whose model another package runs; it downloads the model on first use."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from everwhen.errors import ModelError
from everwhen.models.embedder import Vectors, cut, normalised, words_by


class DownloadedModel(ABC):
    """`<package>:<model>`. The model is loaded at its first use, once for all threads."""

    package: str
    loader: str
    """The class of the package that loads a model by its name."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"{self.package}:{model}"
        self._loading = threading.Lock()
        self._loaded: Any = None

    @cached_property
    def dim(self) -> int:
        return int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        return normalised(np.asarray(self._rows(list(texts)), dtype=np.float32))

    @abstractmethod
    def pieces(self, text: str) -> list[str]: ...

    @abstractmethod
    def _rows(self, texts: list[str]) -> Any:
        """One vector for each text."""

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        try:
            loader = getattr(import_module(self.package.replace("-", "_")), self.loader)
        except ImportError as error:
            fix = f"pip install {self.package}"
            raise ModelError(f"{self.name} needs the {self.package} package: {fix}") from error
        try:
            return loader(self.model)
        except Exception as error:
            raise ModelError(f"{self.package} cannot load the model {self.model!r}: {error}") from error


class FastEmbed(DownloadedModel):
    """`fastembed:<model>`, such as `fastembed:BAAI/bge-small-en-v1.5`, on the CPU."""

    package = "fastembed"
    loader = "TextEmbedding"

    def pieces(self, text: str) -> list[str]:
        tokenizer = self._model().model.tokenizer
        window = int((tokenizer.truncation or {}).get("max_length", 512))

        def count(word: str) -> int:
            return len(tokenizer.encode(word, add_special_tokens=False).ids)

        return cut(text, window - 2, window // 8, words_by(count))

    def _rows(self, texts: list[str]) -> Any:
        return list(self._model().embed(texts))


class SentenceTransformers(DownloadedModel):
    """`sentence-transformers:<model>`, such as `sentence-transformers:all-mpnet-base-v2` or a folder, with torch."""

    package = "sentence-transformers"
    loader = "SentenceTransformer"

    def pieces(self, text: str) -> list[str]:
        model = self._model()
        window = int(model.max_seq_length or 512)
        return cut(text, window - 2, window // 8, words_by(lambda word: len(model.tokenizer.tokenize(word))))

    def _rows(self, texts: list[str]) -> Any:
        return self._model().encode(texts, convert_to_numpy=True, show_progress_bar=False)
