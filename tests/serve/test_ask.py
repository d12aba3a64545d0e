"""Answers in words over HTTP: at once, as server-sent events, and for those who hang up in the middle."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from everwhen import AsyncClient, Client, Memory, NotFound, Unavailable
from everwhen.api.operations.questions import Ask
from everwhen.types import Answer
from everwhen.types.jsonable import jsonable
from tests.serve.conftest import Served, until
from tests.serve.test_bad_input import told
from tests.serve.test_http import add

QUESTION = {"question": "When did Ana move to Porto?"}


def events(answer: httpx.Response) -> list[tuple[str, Any]]:
    """The events of a stream."""
    found, name = [], ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            found.append((name, json.loads(line[6:])))
    return found


def test_the_answer_is_the_one_that_memory_gives(http: httpx.Client, served: Served) -> None:
    add(http)
    answer = http.post("/banks/ana/ask", json={**QUESTION, "at": "2025-03-11T00:00:00Z"}).json()
    with served.state.banks.lease("ana") as memory:
        same = memory.ask(QUESTION["question"], at=datetime(2025, 3, 11, tzinfo=UTC))
    assert answer == jsonable(same) and answer["trace"]["method"] == "extractive"
    assert http.get("/banks/ana/usage").json()["requests"] == 0


def test_an_answer_comes_piece_by_piece_for_those_who_ask_for_events(http: httpx.Client) -> None:
    add(http)
    whole = http.post("/banks/ana/ask", json=QUESTION).json()
    with http.stream("POST", "/banks/ana/ask", json=QUESTION, headers={"Accept": "text/event-stream"}) as got:
        assert got.headers["Content-Type"].startswith("text/event-stream")
        assert "Content-Encoding" not in got.headers
        heard = events(got)
    assert [name for name, _ in heard[-1:]] == ["answer"] and heard[-1][1]["text"] == whole["text"]
    assert "".join(data["text"] for name, data in heard if name == "piece") == whole["text"]


def test_a_stream_that_cannot_begin_is_a_plain_problem(http: httpx.Client) -> None:
    headers = {"Accept": "text/event-stream"}
    assert "there is no bank" in told(http.post("/banks/nobody/ask", json=QUESTION, headers=headers), 404)
    assert "question" in told(http.post("/banks/nobody/ask", json={}, headers=headers), 422)


def test_another_model_is_for_those_who_look_after_the_bank(http: httpx.Client, served: Served) -> None:
    add(http)
    with served.client("read", "ana") as reader:
        assert reader.post("/banks/ana/ask", json={**QUESTION, "model": "none"}).status_code == 200
        answer = reader.post("/banks/ana/ask", json={**QUESTION, "model": "openai:expensive"})
        assert "needs the scope admin" in told(answer, 403)


def test_whoever_hangs_up_ends_the_answer(
    http: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(http)
    closed = threading.Event()

    def endless(self: Memory, asked: Ask) -> Iterator[str | Answer]:
        try:
            while True:
                time.sleep(0.02)
                yield "word "
        finally:
            closed.set()

    monkeypatch.setattr(Memory, "stream", endless)
    with http.stream("POST", "/banks/ana/ask", json=QUESTION, headers={"Accept": "text/event-stream"}) as got:
        lines = got.iter_lines()
        assert next(lines) == "event: piece"
    assert closed.wait(10), "the run goes on although nobody listens"
    until(lambda: "everwhen_requests_running 1.0\n" in httpx.get(f"{served.url}/metrics").text)
    assert http.get("/banks/ana/stats").status_code == 200


def test_what_fails_in_the_middle_of_a_stream_is_told_in_it(
    http: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(http)

    def failing(self: Memory, asked: Ask) -> Iterator[str | Answer]:
        yield "word "
        raise Unavailable("the model is gone")

    monkeypatch.setattr(Memory, "stream", failing)
    with http.stream("POST", "/banks/ana/ask", json=QUESTION, headers={"Accept": "text/event-stream"}) as got:
        heard = events(got)
    assert heard[0] == ("piece", {"text": "word "})
    assert heard[1][0] == "problem" and heard[1][1]["detail"] == "the model is gone"
    with Client(served.url, served.key(), bank="ana") as client, pytest.raises(Unavailable, match="is gone"):
        list(client.ask_stream("x"))


def test_the_client_streams_as_memory_does(served: Served, http: httpx.Client) -> None:
    add(http)
    with Client(served.url, served.key("read"), bank="ana") as client:
        answer = client.ask(QUESTION["question"])
        *pieces, last = client.ask_stream(QUESTION["question"])
        assert isinstance(last, Answer) and last.text == answer.text == "".join(map(str, pieces))
        assert client.usage().requests == 0
    with Client(served.url, served.key("read"), bank="nobody") as client, pytest.raises(NotFound):
        next(client.ask_stream("x"))

    async def talk() -> None:
        async with AsyncClient(served.url, served.key("read"), bank="ana") as client:
            heard = [piece async for piece in client.ask_stream(QUESTION["question"])]
            assert isinstance(heard[-1], Answer) and heard[-1].text == answer.text

    asyncio.run(talk())
