"""Rerankers behind HTTP: real requests on loopback, to a server that answers from a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everwhen import Memory
from everwhen.errors import ModelError, UsageError
from everwhen.models.comparison import Candidate, RerankQuery, open_reranker
from everwhen.models.http_reranker import BATCH, KEY, LONGEST, PROVIDER_KEYS, HttpReranker
from tests.scripted_server import Asked, ScriptedServer, Step, hang_up, raw, slowly, status

SAID = datetime(2025, 11, 6, 23, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (KEY, *PROVIDER_KEYS.values()):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as started:
        yield started


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(text, SAID) for text in texts]


def by_length(asked: Asked) -> Step:
    """Cohere's answer: the longest document is the most relevant, and comes first."""
    order = sorted(range(len(asked.body["documents"])), key=lambda n: -len(asked.body["documents"][n]))
    found = [{"index": n, "relevance_score": len(asked.body["documents"][n]) / 10_000} for n in order]
    return raw(json.dumps({"id": "1", "results": found, "meta": {}}))


def asking(server: ScriptedServer, model: str = "small") -> HttpReranker:
    return HttpReranker(f"{server.root}/v2", model, timeout=1, first_pause=0.01)


def test_the_request_has_coheres_form_and_scores_go_back_to_their_documents(server: ScriptedServer) -> None:
    server.always(by_length)
    reranker = open_reranker(f"http:{server.root}/v2#small")
    scores = reranker.score(RerankQuery("who?"), candidates("ab", "abcd", "a"))["cross_encoder"]
    assert np.argsort(-scores).tolist() == [1, 0, 2]
    [asked] = server.asked
    assert asked.path == "/v2/rerank" and asked.body["model"] == "small" and asked.body["query"] == "who?"
    assert asked.body["top_n"] == 3 and set(asked.body) == {"model", "query", "documents", "top_n"}
    assert asked.body["documents"][0] == "[Date: November 06, 2025 (2025-11-06)] ab"
    assert "authorization" not in asked.headers
    assert reranker.name == f"http:{server.root}/v2#small"


def test_without_a_model_the_request_suits_a_server_of_one_model(server: ScriptedServer) -> None:
    server.then(raw(json.dumps([{"index": 1, "score": 0.75}, {"index": 0, "score": 0.25}])))
    reranker = open_reranker(f"http:{server.root}")
    assert reranker.score(RerankQuery("q"), candidates("a", "b"))["cross_encoder"].tolist() == [0.25, 0.75]
    [asked] = server.asked
    assert asked.path == "/rerank" and "model" not in asked.body
    assert asked.body["texts"] == asked.body["documents"] and asked.body["truncate"] is True


def test_the_key_comes_from_the_environment(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "of-the-server")
    monkeypatch.setenv("COHERE_API_KEY", "of-cohere")
    asking(server.always(by_length)).score(RerankQuery("q"), candidates("a"))
    assert server.asked[0].headers["authorization"] == "Bearer of-the-server"


def test_a_providers_key_goes_to_that_provider_alone(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", "of-cohere")
    asking(server.always(by_length)).score(RerankQuery("q"), candidates("a"))
    assert "authorization" not in server.asked[0].headers
    assert HttpReranker("https://api.cohere.com/v2", "m")._key == "of-cohere"
    assert HttpReranker("https://api.jina.ai/v1", "m")._key is None
    assert HttpReranker("https://notcohere.com/v2", "m")._key is None


def test_many_documents_go_in_batches_and_in_halves_where_a_server_takes_fewer(
    server: ScriptedServer,
) -> None:
    def at_most_32(asked: Asked) -> Step:
        return by_length(asked) if len(asked.body["documents"]) <= 32 else status(413)

    server.always(at_most_32)
    texts = ["x" * (n % 7) for n in range(BATCH + 5)]
    scores = asking(server).score(RerankQuery("q"), candidates(*texts))["cross_encoder"]
    by_text = dict(zip(texts, scores.tolist(), strict=True))
    assert len(scores) == len(texts) and len(set(by_text.values())) == 7
    assert sorted(by_text, key=lambda text: by_text[text]) == sorted(by_text, key=len)


def test_no_candidates_ask_nobody(server: ScriptedServer) -> None:
    assert asking(server).score(RerankQuery("q"), [])["cross_encoder"].shape == (0,)
    assert server.asked == []


def test_long_and_broken_text_is_sent_so_that_json_can_hold_it(server: ScriptedServer) -> None:
    server.always(by_length)
    asking(server).score(RerankQuery("q\ud800" + "x" * 20_000), candidates("a\ud800", "y" * 20_000))
    [asked] = server.asked
    assert len(asked.body["query"]) == LONGEST and len(asked.body["documents"][1]) == LONGEST


@pytest.mark.parametrize(
    "trouble", [status(429, headers={"Retry-After": "0"}), status(503), hang_up(), slowly(60, status(500))]
)
def test_a_busy_failing_or_silent_server_is_asked_again(server: ScriptedServer, trouble: Step) -> None:
    server.then(trouble, by_length)
    assert len(asking(server).score(RerankQuery("q"), candidates("a"))["cross_encoder"]) == 1
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [
        (status(503), r"status 503, 3 times; .*reranker='maxsim'"),
        (slowly(60, status(500)), r"did not answer within 1 s \(setting rerank_timeout\), 3 times"),
        (hang_up(), "cannot be reached"),
        (status(401), rf"request without a key \(status 401\); set {KEY}"),
        (status(404), r"/rerank is not there or has no model 'small'.*http:<address>#<model>"),
        (status(400, "too long"), "refused the request .*too long"),
        (status(413), "cannot read one document"),
        (raw("<html>"), "is it the right address"),
        (raw("[]"), "is it the right address"),
        (raw('{"results": [{"index": 0}]}'), "is it the right address"),
        (raw('{"results": null}'), "is it the right address"),
    ],
)
def test_an_error_says_what_to_do(server: ScriptedServer, trouble: Step, advice: str) -> None:
    server.always(trouble)
    with pytest.raises(ModelError, match=advice):
        asking(server).score(RerankQuery("q"), candidates("a"))


@pytest.mark.parametrize(
    "name",
    [
        "http:x",
        "http:ftp://host#m",
        "http:https://#m",
        "http:#m",
        "http:http://host:abc#m",
        "http:http://host:99999",
        "http:http://[::1#m",
        "http:http://my host#m",
        "http:http://host\n#m",
    ],
)
def test_what_is_no_address_is_refused_with_the_form(name: str) -> None:
    with pytest.raises(UsageError, match="http:<address>#<model>"):
        open_reranker(name)


@pytest.mark.parametrize("key", ["k\u00e9y", "key\n"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(server: ScriptedServer, key: str) -> None:
    with pytest.raises(ModelError, match="has characters that no key has; copy it again") as told:
        HttpReranker(server.root, api_key=key).score(RerankQuery("q"), candidates("a"))
    assert key not in str(told.value)


def test_a_host_that_has_no_name_is_told(server: ScriptedServer) -> None:
    reranker = HttpReranker("http://\u00e9..x", timeout=0.5, first_pause=0.001)
    with pytest.raises(ModelError, match="cannot be reached"):
        reranker.score(RerankQuery("q"), candidates("a"))


def test_recall_asks_the_server_that_is_set(server: ScriptedServer, home: Path) -> None:
    def likes_rain(asked: Asked) -> Step:
        rows = [
            {"index": n, "relevance_score": "rain" in one} for n, one in enumerate(asked.body["documents"])
        ]
        return raw(json.dumps({"results": rows}))

    server.always(likes_rain)
    settings: dict[str, Any] = {"embedder": "fake", "cache_entries": 0, "rerank_weight": 50.0}
    with Memory.open(home, "http", reranker=f"http:{server.root}#m", **settings) as memory:
        memory.add(["The kayak is red.", "It was rain all day.", "A kayak for two."])
        found = memory.recall("kayak")
    assert found.memories[0].text == "It was rain all day."
    assert found.memories[0].why.parts["cross_encoder"] > 0
