"""A cross-encoder behind HTTP, in the form of Cohere's rerank: Cohere, Jina, vLLM, Text Embeddings Inference.

    POST {base}/rerank  {"model", "query", "documents", "top_n"}
    ->                  {"results": [{"index": 2, "relevance_score": 0.98}, ...]}

Without a model the request also has the form of Text Embeddings Inference, which serves one and names its fields
otherwise (`texts`; an answer without `results`, with `score`).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from everwhen.errors import ModelError, UsageError
from everwhen.models.rerank.base import Candidate, Question, Scores, dated_line

if TYPE_CHECKING:
    import httpx

KEY = "RERANK_API_KEY"
PROVIDER_KEYS = {"cohere.com": "COHERE_API_KEY", "cohere.ai": "COHERE_API_KEY", "jina.ai": "JINA_API_KEY"}
"""The providers' own variables. Each is sent to its own provider alone."""
TIMEOUT = 10.0
ATTEMPTS = 3
LONGEST_PAUSE = 5.0
"""Somebody waits for the answer of a recall: a server that is busy for longer is told as an error."""
BATCH = 100
"""Documents of a request: what Cohere counts as one search. A server that refuses as many (413) gets half of them."""
LONGEST = 8_000
"""Characters of a document, about four times what the windows of such models hold."""
FORM = "http:<address>#<model>, such as http:https://api.cohere.com/v2#rerank-v3.5"


class HttpReranker:
    """`http:<address>#<model>`. The key is RERANK_API_KEY, else COHERE_API_KEY or JINA_API_KEY for their servers."""

    reads = frozenset({"text"})

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        api_key: str | None = None,
        timeout: float = TIMEOUT,
        first_pause: float = 0.3,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{base_url!r} is no address of a reranker; write {FORM}")
        self.base_url = base_url.rstrip("/").removesuffix("/rerank")
        self.model = model
        self.name = f"http:{self.base_url}" + (f"#{model}" if model else "")
        self.timeout = timeout
        self.first_pause = first_pause
        self.key_name = next(
            (name for host, name in PROVIDER_KEYS.items() if f".{parts.hostname}".endswith(f".{host}")), KEY
        )
        self._key = api_key or os.environ.get(KEY) or os.environ.get(self.key_name)
        self._opening = threading.Lock()
        self._opened: httpx.Client | None = None

    def score(self, question: Question, candidates: Sequence[Candidate]) -> Scores:
        """The server's relevance, as it gives it."""
        # JSON has no lone surrogates.
        texts = [_sendable(dated_line(candidate)[:LONGEST]) for candidate in candidates]
        query = _sendable(question.text[:LONGEST])
        found: list[float] = []
        for start in range(0, len(texts), BATCH):
            found += self._batch(query, texts[start : start + BATCH])
        return {"cross_encoder": np.array(found, np.float32)}

    def _batch(self, query: str, texts: list[str]) -> list[float]:
        answer = self._post(self._body(query, texts))
        if answer is _TOO_MUCH:
            if len(texts) == 1:
                raise ModelError(
                    f"{self.base_url} cannot read one document of {len(texts[0])} characters (413)"
                )
            half = len(texts) // 2
            return self._batch(query, texts[:half]) + self._batch(query, texts[half:])
        try:
            rows = answer["results"] if isinstance(answer, dict) else answer
            scores = {int(row["index"]): float(_relevance(row)) for row in rows}
            return [scores[place] for place in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.base_url}/rerank did not answer with an index and a relevance_score for each of "
                f"{len(texts)} documents; is it the right address?"
            ) from error

    def _body(self, query: str, texts: list[str]) -> dict[str, object]:
        body: dict[str, object] = {"query": query, "documents": texts, "top_n": len(texts)}
        if self.model:
            return {"model": self.model, **body}
        return {**body, "texts": texts, "truncate": True}

    def _post(self, body: dict[str, object]) -> Any:
        """Send, and send again after a pause while the server is busy, failing or silent."""
        client = self._client()
        import httpx

        for attempt in range(1, ATTEMPTS + 1):
            pause = None
            try:
                response = client.post(f"{self.base_url}/rerank", json=body)
            except httpx.TimeoutException:
                problem = f"did not answer within {self.timeout:g} s (setting rerank_timeout)"
            except httpx.HTTPError as error:
                problem = f"cannot be reached ({error})"
            else:
                if response.status_code == 413:
                    return _TOO_MUCH
                if response.is_success:
                    return _json(response)
                problem, pause = self._refusal(response), _asked_pause(response)
            if attempt < ATTEMPTS:
                backoff = self.first_pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
                time.sleep(min(LONGEST_PAUSE, backoff if pause is None else pause))
        raise ModelError(
            f"{self.base_url} {problem}, {ATTEMPTS} times; try again later, or recall without it (reranker='maxsim')"
        )

    def _refusal(self, response: httpx.Response) -> str:
        """What went wrong, if trying again may help; otherwise an error that says what to do."""
        status = response.status_code
        if status == 429 or status >= 500:
            return f"answered with status {status}"
        if status in (401, 403):
            raise ModelError(
                f"{self.base_url} refused the {'key' if self._key else 'request without a key'} (status {status}); "
                f"set {self.key_name}"
            )
        if status in (404, 405):
            model = f" or has no model {self.model!r}" if self.model else ""
            raise ModelError(
                f"{self.base_url}/rerank is not there{model} (status {status}); the form is {FORM}"
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
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return httpx.Client(headers=headers, timeout=self.timeout)


_TOO_MUCH = object()


def _relevance(row: dict[str, Any]) -> Any:
    return row["relevance_score"] if "relevance_score" in row else row["score"]


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


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
