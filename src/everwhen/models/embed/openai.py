"""Embeddings from any server that speaks the OpenAI protocol."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from everwhen.errors import ModelError
from everwhen.models.embed.base import Vectors, normalised
from everwhen.models.embed.pieces import cut, words_by
from everwhen.models.tokens import count_tokens

if TYPE_CHECKING:
    import httpx

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
        self.window = window
        self.timeout = timeout
        self.first_pause = first_pause
        self._key = api_key or os.environ.get("OPENAI_API_KEY")
        self._opening = threading.Lock()
        self._opened: httpx.Client | None = None

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
        # The protocol has no empty text, and JSON no lone surrogates.
        inputs = [text.encode("utf-8", "replace").decode() or " " for text in texts]
        answer = self._post({"model": self.model, "input": inputs, "encoding_format": "float"})
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

    def _post(self, body: dict[str, object]) -> Any:
        """Send, and send again after a pause while the server is busy, failing or silent."""
        client = self._client()
        import httpx

        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = client.post(f"{self.base_url}/embeddings", json=body)
            except httpx.TimeoutException:
                problem, pause = f"did not answer within {self.timeout:g} s", None
            except httpx.HTTPError as error:
                problem, pause = f"cannot be reached ({error})", None
            else:
                if response.is_success:
                    return _json(response)
                problem, pause = self._refusal(response), _asked_pause(response)
            if attempt < ATTEMPTS:
                backoff = self.first_pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
                time.sleep(min(LONGEST_PAUSE, backoff if pause is None else pause))
        raise ModelError(
            f"{self.base_url} {problem}, {ATTEMPTS} times; try again later or use the packaged embedder"
        )

    def _refusal(self, response: httpx.Response) -> str:
        """What went wrong, if trying again may help; otherwise an error that says what to do."""
        status = response.status_code
        if status == 429 or status >= 500:
            return f"answered with status {status}"
        if status in (401, 403):
            raise ModelError(f"{self.base_url} refused the key (status {status}); check OPENAI_API_KEY")
        if status == 404:
            raise ModelError(
                f"{self.base_url} has no embedding model {self.model!r}; check OPENAI_BASE_URL and the name"
            )
        raise ModelError(f"{self.base_url} refused the request (status {status}): {response.text[:300]}")

    def _client(self) -> httpx.Client:
        with self._opening:
            if self._opened is None:
                self._opened = self._open()
        return self._opened

    def _open(self) -> httpx.Client:
        try:
            import httpx
        except ImportError as error:
            raise ModelError(f"{self.name} needs httpx: pip install 'everwhen[llm]'") from error
        if not self._key and self.base_url == DEFAULT_BASE_URL:
            raise ModelError(
                f"{self.name} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for another server"
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return httpx.Client(headers=headers, timeout=self.timeout)


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


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _asked_pause(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
