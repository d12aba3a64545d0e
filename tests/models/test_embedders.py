"""Embedders by name: the fake, the OpenAI protocol over real HTTP, and what a missing package says."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from everwhen.errors import ModelError, UsageError
from everwhen.models import openai_embedder as openai_module
from everwhen.models.embedder import open_embedder
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.models.openai_embedder import OpenAIEmbedder

Answer = tuple[int, dict[str, str], Any]


class Server:
    """Answers embedding requests as scripted, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script: list[Callable[[dict[str, Any]], Answer]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers["authorization"])
                status, headers, answer = (outer.script.pop(0) if outer.script else embeddings)(body)
                payload = json.dumps(answer).encode()
                self.send_response(status if self.path == "/v1/embeddings" else 404)
                for name, value in {**headers, "content-length": str(len(payload))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


def embeddings(body: dict[str, Any]) -> Answer:
    """Vectors of twice the unit length, last text first."""
    rows = 2 * FakeEmbedder(8).embed(body["input"])
    data = [{"index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
    return 200, {}, {"data": data[::-1]}


def refusal(status: int, **headers: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda _body: (status, headers, {"error": {"message": "no"}})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    yield server
    server.http.shutdown()
    server.http.server_close()


def fast(model: str = "tiny", **arguments: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(model, first_pause=0.001, **arguments)


def test_openai_vectors_are_normalised_and_in_the_order_of_the_texts(server: Server) -> None:
    embedder = open_embedder("openai:tiny")
    texts = ["red apples", "green pears", ""]
    assert np.allclose(embedder.embed(texts)[:2], FakeEmbedder(8).embed(texts)[:2], atol=1e-6)
    assert embedder.name == "openai:tiny"
    assert embedder.dim == 8
    assert server.requests[0]["model"] == "tiny"
    assert server.keys[0] == "Bearer sk-test"
    assert embedder.embed([]).shape == (0, 8)


def test_openai_requests_are_batched(server: Server) -> None:
    texts = [f"text {i}" for i in range(300)]
    assert np.allclose(fast().embed(texts), FakeEmbedder(8).embed(texts), atol=1e-6)
    assert [len(request["input"]) for request in server.requests] == [128, 128, 44]


def test_openai_batches_stay_below_the_size_of_a_request(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_module, "BATCH_CHARACTERS", 200)
    fast().embed(["word " * 15] * 5)
    assert [len(request["input"]) for request in server.requests] == [2, 2, 1]


def test_openai_waits_and_tries_again_when_the_server_is_busy(server: Server) -> None:
    server.script = [refusal(429, **{"retry-after": "0.05"}), refusal(503), embeddings]
    start = time.perf_counter()
    assert fast().embed(["hello"]).shape == (1, 8)
    assert time.perf_counter() - start >= 0.05
    assert len(server.requests) == 3


def test_openai_gives_up_when_the_server_stays_busy(server: Server) -> None:
    server.script = [refusal(500)] * 9
    with pytest.raises(ModelError, match="status 500"):
        fast().embed(["hello"])
    assert len(server.requests) == openai_module.ATTEMPTS


def test_openai_says_that_the_key_was_refused_without_trying_again(server: Server) -> None:
    server.script = [refusal(401)]
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        fast(api_key="sk-wrong").embed(["hello"])
    assert server.keys == ["Bearer sk-wrong"]


def test_openai_names_a_model_that_the_server_does_not_have(server: Server) -> None:
    server.script = [refusal(404)]
    with pytest.raises(ModelError, match="no embedding model 'gone'"):
        fast("gone").embed(["hello"])


def test_openai_gives_up_on_a_silent_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_module, "ATTEMPTS", 2)

    def silence(body: dict[str, Any]) -> Answer:
        time.sleep(0.3)
        return embeddings(body)

    server.script = [silence, silence]
    with pytest.raises(ModelError, match=r"within 0\.05 s"):
        fast(timeout=0.05).embed(["hello"])


def test_openai_reports_a_server_that_is_not_there(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_module, "ATTEMPTS", 2)
    with pytest.raises(ModelError, match="cannot be reached"):
        fast(base_url="http://127.0.0.1:9/v1").embed(["hello"])


@pytest.mark.parametrize("answer", [None, {}, {"data": []}, {"data": [{"index": 0, "embedding": "x"}]}])
def test_openai_refuses_an_answer_without_embeddings(server: Server, answer: object) -> None:
    server.script = [lambda _body: (200, {}, answer)]
    with pytest.raises(ModelError):
        fast().embed(["hello"])


def test_openai_without_a_key_says_how_to_set_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="set OPENAI_API_KEY"):
        open_embedder("openai:text-embedding-3-small").embed(["hello"])


def test_openai_refuses_what_is_no_address() -> None:
    with pytest.raises(UsageError, match="set OPENAI_BASE_URL"):
        OpenAIEmbedder("tiny", base_url="localhost:8000")


def test_openai_knows_the_width_of_common_models_without_asking(server: Server) -> None:
    assert open_embedder("openai:text-embedding-3-large").dim == 3072
    assert server.requests == []


def test_openai_pieces_cover_a_long_text() -> None:
    embedder = OpenAIEmbedder("tiny", base_url="http://127.0.0.1:9", window=100)
    text = "The quick brown fox jumps over the lazy dog. " * 60 + "x" * 900
    pieces = embedder.pieces(text)
    assert len(pieces) > 5
    assert all(piece in text for piece in pieces)
    assert text.startswith(pieces[0])
    assert text.endswith(pieces[-1])
    assert sum(map(len, pieces)) > len(text)
    assert embedder.pieces("short") == ["short"]


@pytest.mark.parametrize(
    ("spec", "package", "fix"),
    [
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed", "pip install fastembed"),
        ("sentence-transformers:x", "sentence_transformers", "pip install sentence-transformers"),
        ("openai:x", "httpx", r"pip install 'everwhen\[llm\]'"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    spec: str, package: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError, match=fix):
        open_embedder(spec).embed(["hello"])


@pytest.mark.parametrize("spec", ["", "conversation-1:x", "bert", "openai", "openai:", "fastembed:"])
def test_an_unknown_embedder_is_answered_with_the_choices(spec: str) -> None:
    with pytest.raises(UsageError, match=r"conversation-1, fake, fastembed:<model>"):
        open_embedder(spec)


def test_fake_vectors_are_alike_when_words_are_shared() -> None:
    fake = open_embedder("fake")
    a, b, c = fake.embed(["Anna likes tea", "anna likes coffee", "entirely different words"])
    assert a @ b > 0.4 > a @ c
    assert np.allclose(np.linalg.norm(fake.embed(["x y", ""]), axis=1), 1)
    assert fake.embed([]).shape == (0, fake.dim)
    assert (fake.embed(["Anna likes tea"])[0] == a).all()


@pytest.mark.parametrize(
    ("spec", "package", "loader"),
    [
        ("fastembed:tiny", "fastembed", "TextEmbedding"),
        ("sentence-transformers:tiny", "sentence_transformers", "SentenceTransformer"),
    ],
)
def test_a_model_that_a_package_cannot_load_is_named(
    spec: str, package: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(model: str) -> None:
        raise ValueError(f"no {model} here")

    monkeypatch.setitem(sys.modules, package, SimpleNamespace(**{loader: load}))
    with pytest.raises(ModelError, match="cannot load the model 'tiny': no tiny here"):
        open_embedder(spec).embed(["hello"])
