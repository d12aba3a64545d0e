"""What embedders share whose model another package downloads and runs."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from everwhen.models.embed.base import Vectors, normalised


class DownloadedModel(ABC):
    """`<package>:<model>`. The model is loaded at its first use, once for all threads."""

    package: str

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

    @abstractmethod
    def _load(self) -> Any: ...

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded
