"""Requests that are wrong, too large, too slow or too many: the right status, one clear sentence, nothing else."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from everwhen.models.llm.base import LLMError
from everwhen.serve.responses import handle_library_error
from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import Served, serving, until
from tests.serve.test_http import add

LIVES = {"subject": "Ana", "predicate": "lives in", "object": "Porto"}


def told(answer: httpx.Response, status: int) -> str:
    """The one sentence of a problem."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert body.keys() == {"type", "title", "status", "detail", "kind"} and body["status"] == status
    assert "Traceback" not in answer.text and "\n" not in body["detail"] and ".py" not in answer.text
    return str(body["detail"])


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, httpx.Client]]:
    """One server for all that is refused, with a bank, and somebody who may do everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_EMBEDDER", "fake")
        patch.setenv("EVERWHEN_READER", "none")
        patch.setenv("EVERWHEN_CACHE_ENTRIES", "0")
        home = tmp_path_factory.mktemp("lasting") / "home"
        with serving(ServerSettings(home, consolidate_seconds=0)) as served, served.client() as http:
            add(http, messages="violin")
            yield served, http


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("recall", b'{"query": ', "the body is not JSON"),
        ("recall", b"\xff\xfe", "the body is not JSON"),
        ("recall", b"[]", "must be a JSON object"),
        ("recall", b"", "query is missing"),
        ("recall", b"{}", "query is missing"),
        ("recall", b'{"query": 5}', "query must be text, not int"),
        ("recall", b'{"query": "x", "max_tokens": "many"}', "max_tokens must be a whole number"),
        ("recall", b'{"query": "x", "max_tokens": true}', "max_tokens must be a whole number"),
        ("recall", b'{"qurey": "x"}', "qurey: there is no such argument"),
        ("recall", b'{"query": "x", "colour": "red"}', "colour: there is no such argument"),
        ("recall", b'{"query": "x", "at": "one fine day"}', "at: 'one fine day' is no time that everwhen knows"),
        ("recall", b'{"query": "x", "at": 1741600000}', "at must be a datetime or text"),
        ("recall", b'{"query": "x", "at": ""}', "at: '' is no time"),
        ("recall", b'{"query": "x", "at": "9999-12-31T23:59:59-12:00"}', "outside the years 2 to 9998"),
        ("recall", b'{"query": "x", "between": 5}', "between takes one stretch of time"),
        ("recall", b'{"query": "x", "between": ["2024", "2025", "2026"]}', "between takes one stretch of time"),
        ("recall", b'{"query": "x", "between": ["2024", "one fine day"]}', "'one fine day' is no time"),
        ("consolidate", b'{"now": "the very end"}', "now: 'the very end' is no time"),
        ("recall", b'{"query": "x", "at": "2025-02-31T00:00:00Z"}', "at: there is no such time"),
        ("recall", b'{"query": "x", "order": "alphabet"}', "unknown order 'alphabet'; use one of relevance"),
        ("when", b'{"query": "x", "between": {"start": "2025-03-02T00:00Z", "end": "2025-03-01T00:00Z"}}', "it starts"),
        ("recall", b'{"query": "   "}', "query is empty"),
        ("turns", b'{"messages": []}', "the list of messages is empty"),
        ("turns", b'{"messages": "  "}', "the text is empty"),
        ("turns", b'{"messages": [{"content": "x", "role": "wizard"}]}', "unknown role 'wizard'"),
        ("turns", b'{"messages": "x", "zone": "Moon/Sea"}', "unknown zone 'Moon/Sea'"),
        ("turns", b'{"messages": "x", "zone": "../../etc/passwd"}', "unknown zone"),
        ("turns", b'{"messages": [{"content": "x", "timestamp": "2025-03-03T10:00:00"}]}', "has no zone"),
        ("facts", b'{"subject": "Ana", "predicate": "lives in", "object": "Porto", "confidence": 7}', "confidence"),
        ("facts/correct", b'{"subject": "Ana"}', "predicate is missing"),
        ("facts", b'{"subject": "A", "predicate": "b", "object": "c", "source": [" "]}', "source.0 is empty"),
        ("facts", b'{"subject": "A", "predicate": "b", "object": "c", "source": 5}', "source takes a list"),
        ("grep", b'{"pattern": "(", "regex": true}', "not a regular expression"),
    ],
)  # fmt: skip
def test_a_wrong_body_gets_422_and_a_sentence(
    lasting: tuple[Served, httpx.Client], path: str, body: bytes, sentence: str
) -> None:
    _, http = lasting
    answer = http.post(f"/banks/ana/{path}", content=body, headers={"Content-Type": "application/json"})
    assert sentence in told(answer, 422)
    assert http.get("/banks/ana/stats").json()["turns"] == 1


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".hidden",
        "a%2Fb",
        "..%2F..%2Fetc%2Fpasswd",
        "a%00",
        "%2e%2e%2fana",
        "a" * 129,
        "a%5Cb",
        "-x",
        "ü",
    ],
)
def test_a_bank_name_cannot_leave_the_folder(lasting: tuple[Served, httpx.Client], name: str) -> None:
    served, http = lasting
    sock = socket.create_connection(served.address)
    body = b'{"messages": "x"}'
    sock.sendall(
        f"POST /v1/banks/{name}/turns HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: {http.headers['Authorization']}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    answer = b"".join(iter(lambda: sock.recv(65536), b""))
    sock.close()
    assert answer.split(b" ", 2)[1] in (b"404", b"422", b"400"), answer
    assert served.state.banks.stored.names() == ["ana"]
    home = served.state.serving.home
    assert [one.name for one in home.parent.iterdir()] == ["home"]
    assert sorted(one.name for one in home.iterdir()) == ["banks", "serve"]


def test_a_number_beyond_all_units_is_told(lasting: tuple[Served, httpx.Client]) -> None:
    _, http = lasting
    assert "unit" in told(http.get(f"/banks/ana/units/{10**30}/links"), 422)
    assert http.get(f"/banks/ana/units/{10**15}/links").json() == []


def test_unknown_addresses_and_methods_are_told(http: httpx.Client, served: Served) -> None:
    assert "/openapi.json" in told(http.get("/nowhere"), 404)
    assert "/openapi.json" in told(httpx.get(f"{served.url}/nowhere"), 404)
    refused = http.put("/banks/ana/turns", json={})
    assert "it takes DELETE, GET, POST" in told(refused, 405)
    assert refused.headers["Allow"] == "DELETE, GET, POST"
    assert "it takes GET" in told(httpx.put(f"{served.url}/healthz"), 405)


def test_an_unknown_query_parameter_is_refused_with_those_that_exist(http: httpx.Client) -> None:
    assert "session, from, to, as_of, known_at, cursor, limit" in told(
        http.get("/banks/ana/turns?sesion=x"), 422
    )
    assert "takes: none" in told(http.post("/banks/ana/recall?max_tokens=5", json={"query": "x"}), 422)


def test_a_missing_key_of_a_provider_is_no_reason_to_ask_again_soon(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    http.post("/banks/ana/turns", json={"messages": "I moved to Porto"})
    answer = http.post("/banks/ana/ask", json={"question": "Where?", "model": "openai:gpt-5-mini"})
    assert "OPENAI_API_KEY" in told(answer, 503)
    assert "Retry-After" not in answer.headers and answer.json()["kind"] == "ModelError"


def test_a_provider_that_is_busy_may_be_asked_again() -> None:
    request = Request({"type": "http"})
    assert handle_library_error(request, LLMError("busy", "try again later")).headers["Retry-After"] == "1"
    assert "Retry-After" not in handle_library_error(request, LLMError("quota", "check the plan")).headers


def test_a_body_that_is_too_large_gets_413(small: ServerSettings) -> None:
    with serving(small) as served, served.client() as http:
        large = {"messages": "x" * 3000}
        assert "larger than" in told(http.post("/banks/ana/turns", json=large), 413)

        def pieces() -> Any:
            yield b'{"messages": "'
            for _ in range(30):
                yield b"x" * 100
            yield b'"}'

        assert "larger than" in told(http.post("/banks/ana/turns", content=pieces()), 413)
        assert http.post("/banks/ana/turns", json={"messages": "x"}).status_code == 201


def test_a_compressed_body_gets_415(http: httpx.Client) -> None:
    answer = http.post("/banks/ana/turns", content=b"...", headers={"Content-Encoding": "gzip"})
    assert "Content-Encoding" in told(answer, 415)


def test_a_slow_client_gets_408_and_holds_nobody_up(small: ServerSettings) -> None:
    with serving(small) as served, served.client() as http:
        sock = socket.create_connection(served.address)
        sock.sendall(
            b"POST /v1/banks/ana/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: " + http.headers["Authorization"].encode() + b"\r\nContent-Length: 100\r\n\r\n{"
        )
        began = time.monotonic()
        assert http.post("/banks/ana/turns", json={"messages": "violin"}).status_code == 201
        answer = sock.recv(65536)
        sock.close()
        assert b"408" in answer.split(b"\r\n", 1)[0] and time.monotonic() - began < 5


def test_a_key_that_asks_too_often_gets_429(small: ServerSettings) -> None:
    with serving(small) as served, served.client() as http, served.client() as other:
        answers = [http.get("/banks") for _ in range(40)]
        limited = [answer for answer in answers if answer.status_code == 429]
        assert limited and "too often" in told(limited[0], 429)
        assert int(limited[0].headers["Retry-After"]) >= 1
        assert other.get("/banks").status_code == 200


def test_while_the_model_loads_requests_hear_503(served: Served, http: httpx.Client) -> None:
    served.state.ready.clear()
    answer = http.get("/banks")
    assert "starting" in told(answer, 503) and answer.headers["Retry-After"] == "1"
    assert httpx.get(f"{served.url}/readyz").status_code == 503
    assert httpx.get(f"{served.url}/healthz").status_code == 200


def test_an_unexpected_failure_is_a_plain_500(
    served: Served, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise RuntimeError("the secret is in /somewhere/private.py")

    monkeypatch.setattr(served.state.banks.stored, "names", broken)
    assert "secret" not in told(http.get("/banks"), 500)


def test_a_damaged_bank_is_told_without_its_path(served: Served, http: httpx.Client) -> None:
    add(http)
    http.delete("/banks/ana")
    path = served.state.serving.home / "banks" / "ana.db"
    path.write_bytes(b"this is no database" * 100)
    assert "damaged" in told(http.get("/banks/ana/stats"), 500)


def test_banks_in_use_stay_open_and_others_are_closed(small: ServerSettings) -> None:
    with serving(small) as served, served.client() as http:
        for name in ("a", "b", "c", "d"):
            add(http, bank=name, messages="violin")
        until(lambda: len(served.state.banks.opened()) <= 2)
        with served.state.banks.lease("a") as memory:
            for name in ("b", "c", "d"):
                assert http.get(f"/banks/{name}/stats").status_code == 200
            assert memory.stats().turns == 1


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_hundreds_of_requests_at_once_are_all_answered(
    served: Served, http: httpx.Client, count: int
) -> None:
    add(http, bank="a", messages="I play the violin")
    add(http, bank="b", messages="I play the cello")
    keys = {bank: served.key("write", bank) for bank in ("a", "b")}

    async def ask(client: httpx.AsyncClient, number: int) -> tuple[int, str]:
        bank = "ab"[number % 2]
        headers = {"Authorization": f"Bearer {keys[bank]}"}
        if number % 10 == 0:
            answer = await client.post(
                f"/banks/{bank}/turns", json={"messages": f"{bank} note {number}"}, headers=headers
            )
            return answer.status_code, bank
        answer = await client.post(
            f"/banks/{bank}/recall",
            json={"query": "play", "max_tokens": 60, "budget": "low"},
            headers=headers,
        )
        said = " ".join(one["text"] for one in answer.json()["memories"])
        assert {"a": "cello", "b": "violin"}[bank] not in said, "another bank's memory"
        return answer.status_code, bank

    async def everybody() -> list[tuple[int, str]]:
        limits = httpx.Limits(max_connections=count)
        async with httpx.AsyncClient(
            base_url=f"{served.url}/v1", timeout=240, limits=limits, trust_env=False
        ) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(count)))

    answers = asyncio.run(everybody())
    assert sorted({status for status, _ in answers}) == [200, 201]
    turns = sum(http.get(f"/banks/{bank}/stats").json()["turns"] for bank in "ab")
    assert turns == 2 + count / 10


def test_a_client_that_hangs_up_does_not_harm_the_server(served: Served, http: httpx.Client) -> None:
    add(http, messages=[f"violin {number}" for number in range(50)])
    for _ in range(20):
        sock = socket.create_connection(served.address)
        body = json.dumps({"query": "violin"}).encode()
        sock.sendall(
            b"POST /v1/banks/ana/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: " + http.headers["Authorization"].encode() + b"\r\n"
            b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
        )
        sock.close()
    until(lambda: "everwhen_requests_running 1.0\n" in httpx.get(f"{served.url}/metrics").text)
    assert http.post("/banks/ana/recall", json={"query": "violin"}).status_code == 200


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("depth", [9, 256, 900, 100_000])
def test_metadata_nested_too_deeply_is_refused_and_nothing_is_written(http: httpx.Client, depth: int) -> None:
    for body in (
        f'{{"messages": "violin", "metadata": {nested(depth)}}}',
        f'{{"messages": [{{"content": "violin", "metadata": {nested(depth)}}}]}}',
    ):
        answer = http.post("/banks/ana/turns", content=body, headers={"Content-Type": "application/json"})
        assert ("8 deep" if depth < 1000 else "not JSON") in told(answer, 422)
    body = f'{{"query": "violin", "metadata": {nested(depth)}}}'
    http.post("/banks/ana/turns", json={"messages": "violin"})
    answer = http.post("/banks/ana/recall", content=body, headers={"Content-Type": "application/json"})
    told(answer, 422)
    assert http.get("/banks/ana/stats").json()["turns"] == 1


def test_metadata_is_recalled_when_it_is_asked_for_since_max_tokens_does_not_count_it(
    http: httpx.Client,
) -> None:
    http.post("/banks/ana/turns", json={"messages": "violin", "metadata": {"by": "x" * 15_000}})
    asked = {"query": "violin", "max_tokens": 100}
    plain = http.post("/banks/ana/recall", json=asked)
    assert plain.json()["memories"][0]["metadata"] == {} and len(plain.content) < 5000
    whole = http.post("/banks/ana/recall", json={**asked, "include_metadata": True})
    assert whole.json()["memories"][0]["metadata"] == {"by": "x" * 15_000}
    assert whole.json()["tokens"] == plain.json()["tokens"]


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("turns", {"messages": ["a"] * 10_001}, "10,001 messages are too many for one request"),
        ("turns", {"messages": "a", "zone": "z" * 600}, "unknown zone"),
        ("turns", {"messages": [{"content": "a", "zone": "z" * 100_000}]}, "unknown zone"),
        ("recall", {"query": "a", "kinds": ["turn"] * 6}, "at most 5"),
        ("recall", {"query": "a", "networks": ["world"] * 4}, "at most 3"),
        ("recall", {"query": "a", "without": ["rerank"] * 17}, "at most 16"),
        ("recall", {"query": "a", "recipe": {"channels": ["semantic"] * 5}}, "at most 4"),
        ("ask", {"question": "a", "recipe": {"tools": ["timeline"] * 9}}, "at most 8"),
        ("facts", {**LIVES, "source": ["s"] * 1001}, "1,001 sources; at most 1,000"),
        ("facts/predicates", {"name": "drives", "synonyms": ["s"] * 101}, "at most 100"),
        ("entities/Ana/split", {"names": ["s"] * 1001}, "at most 1,000"),
        ("reextract", {"turns": ["t"] * 10_001}, "at most 10,000"),
    ],
)
def test_a_list_or_a_name_without_end_is_refused(
    http: httpx.Client, path: str, body: dict[str, Any], sentence: str
) -> None:
    add(http)
    answer = http.post(f"/banks/ana/{path}", json=body)
    assert sentence in told(answer, 422) and len(answer.content) < 1000


def test_a_bank_takes_no_half_lives_without_end(http: httpx.Client) -> None:
    add(http)
    answer = http.patch("/banks/ana", json={"half_lives": {f"d{n}": 1.0 for n in range(1001)}})
    assert "at most 1,000" in told(answer, 422)


def test_a_fact_comes_from_no_turn_that_is_not_there(http: httpx.Client) -> None:
    (turn,) = http.post("/banks/ana/turns", json={"messages": "I live in Porto"}).json()["turns"]
    made_up = "t" + "0" * 22
    answer = http.post("/banks/ana/facts", json={**LIVES, "source": [turn, made_up]})
    assert told(answer, 404) == f"there is no turn '{made_up}', so a fact cannot come from it"
    assert http.get("/banks/ana/facts?subject=Ana").json()["items"] == []
    for source in (turn, "her letter"):
        assert http.post("/banks/ana/facts", json={**LIVES, "source": source}).status_code == 201
