"""A cross-encoder behind HTTP, in the form of Cohere's rerank: Cohere, Jina, vLLM, Text Embeddings Inference.

    POST {base}/rerank  {"model", "query", "documents", "top_n"}
    ->                  {"results": [{"index": 2, "relevance_score": 0.98}, ...]}

Without a model the request also has the form of Text Embeddings Inference, which serves one and names its fields
otherwise (`texts`; an answer without `results`, with `score`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from everwhen.errors import ModelError, UsageError
from everwhen.models.comparison import Candidate, RerankQuery, Scores, dated_line
from everwhen.models.model_server import ModelServer, is_address, sendable

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
        if not is_address(base_url):
            raise UsageError(f"{base_url!r} is no address of a reranker; write {FORM}")
        self.base_url = base_url.rstrip("/").removesuffix("/rerank")
        self.model = model
        self.name = f"http:{self.base_url}" + (f"#{model}" if model else "")
        host = f".{urlsplit(base_url).hostname}"
        self.key_name = next(
            (name for owner, name in PROVIDER_KEYS.items() if host.endswith(f".{owner}")), KEY
        )
        self._key = api_key or os.environ.get(KEY) or os.environ.get(self.key_name)
        self._server = ModelServer(
            self.base_url,
            self._key,
            self.name,
            timeout=timeout,
            attempts=ATTEMPTS,
            first_pause=first_pause,
            longest_pause=LONGEST_PAUSE,
            advice="try again later, or recall without it (reranker='maxsim')",
            timeout_advice=" (setting rerank_timeout)",
        )

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        texts = [sendable(dated_line(candidate)[:LONGEST]) for candidate in candidates]
        query = sendable(question.text[:LONGEST])
        found: list[float] = []
        for start in range(0, len(texts), BATCH):
            found += self._batch(query, texts[start : start + BATCH])
        return {"cross_encoder": np.array(found, np.float32)}

    def _batch(self, query: str, texts: list[str]) -> list[float]:
        response = self._server.post("/rerank", self._body(query, texts))
        if response.status_code == 413:
            if len(texts) == 1:
                raise ModelError(
                    f"{self.base_url} cannot read one document of {len(texts[0])} characters (413)"
                )
            half = len(texts) // 2
            return self._batch(query, texts[:half]) + self._batch(query, texts[half:])
        self._say_refusal(response.status_code)
        answer = self._server.read(response)
        try:
            rows = answer["results"] if isinstance(answer, dict) else answer
            scores = {
                int(row["index"]): float(row["relevance_score" if "relevance_score" in row else "score"])
                for row in rows
            }
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

    def _say_refusal(self, status: int) -> None:
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
