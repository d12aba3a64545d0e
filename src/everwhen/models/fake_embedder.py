"""An embedder for tests: instant, deterministic, and texts that share words are alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from everwhen.models.embedder import Vectors, cut, normalised, words_by

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """A hashed bag of words: each word is a fixed random direction, and a text is the sum of its words."""

    name = "fake"

    def __init__(self, dim: int = 64, window: int = 256) -> None:
        self.dim = dim
        self.window = window

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for i, text in enumerate(texts):
            vectors[i] = sum(_direction(word, self.dim) for word in _WORD.findall(text.lower()) or [text])
        return normalised(vectors)

    def pieces(self, text: str) -> list[str]:
        return cut(text, self.window, self.window // 8, words_by(lambda _word: 1))


@lru_cache(maxsize=20_000)  # a generator takes longer to make than all the rest
def _direction(word: str, dim: int) -> Vectors:
    seed = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dim, dtype=np.float32)
