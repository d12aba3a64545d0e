"""Embeddings from any server that speaks the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from everwhen.errors import ModelError, UsageError
from everwhen.models.embedder import Vectors, count_tokens, cut, normalised, words_by
from everwhen.models.model_server import ModelServer, is_address, sendable

DEFAULT_BASE_URL = "https://api.openai.com/v1"
KNOWN_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
WINDOW = 8000  # OpenAI's limit is 8191; counting word by word can be a few tokens off
BATCH_TEXTS = 128
BATCH_CHARACTERS = 200_000  # OpenAI refuses requests of more than 300,000 tokens
ATTEMPTS = 5
LONGEST_PAUSE = 30.0


class OpenAIEmbedder:
    """`openai:<model>`. The address and the key default to OPENAI_BASE_URL and OPENAI_API_KEY.

    `window` is how many tokens the model reads: lower it for a local server's small model.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        window: int = WINDOW,
        timeout: float = 60.0,
        first_pause: float = 0.5,
    ) -> None:
        self.model = model
        self.name = f"openai:{model}"
        self.base_url = (base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL).rstrip("/")
        if not is_address(self.base_url):
            raise UsageError(
                f"{self.base_url!r} is no address of a server; set OPENAI_BASE_URL, such as http://localhost:11434/v1"
            )
        self.window = window
        key_advice = "set OPENAI_API_KEY, or OPENAI_BASE_URL for another server"
        self._server = ModelServer(
            self.base_url,
            api_key or os.environ.get("OPENAI_API_KEY"),
            self.name,
            timeout=timeout,
            attempts=ATTEMPTS,
            first_pause=first_pause,
            longest_pause=LONGEST_PAUSE,
            advice="try again later or use the packaged embedder",
            key_advice=key_advice if self.base_url == DEFAULT_BASE_URL else "",
        )

    @cached_property
    def dim(self) -> int:
        return KNOWN_DIMS.get(self.model) or int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        return normalised(np.concatenate([self._vectors(batch) for batch in _batches(texts)]))

    def pieces(self, text: str) -> list[str]:
        if len(text.encode("utf-8", "replace")) <= self.window:  # a token is at least one byte
            return [text]
        return cut(text, self.window, self.window // 16, words_by(count_tokens))

    def _vectors(self, texts: list[str]) -> Vectors:
        inputs = [sendable(text) or " " for text in texts]  # the protocol has no empty text
        body: dict[str, object] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        response = self._server.post("/embeddings", body)
        status = response.status_code
        if status in (401, 403):
            raise ModelError(f"{self.base_url} refused the key (status {status}); check OPENAI_API_KEY")
        if status == 404:
            raise ModelError(
                f"{self.base_url} has no embedding model {self.model!r}; check OPENAI_BASE_URL and the name"
            )
        answer = self._server.read(response)
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.base_url} did not answer with embeddings; is it the right address?"
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ModelError(f"{self.base_url} gave {len(vectors)} embeddings for {len(texts)} texts")
        return vectors


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or size + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    yield batch
