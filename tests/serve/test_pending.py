"""A read over HTTP ends while turns are still to be extracted, and says how many."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from everwhen import Client, Memory
from everwhen.serve.server_settings import ServerSettings
from everwhen.write.extract.base import Batch, Extraction
from tests.serve.conftest import Served, serving, until


class Gate:
    """An extractor that finds nothing, and waits at a gate before it says so."""

    name, version = "gate", "1"

    def __init__(self) -> None:
        self.open = threading.Event()

    def extract(self, batch: Batch) -> Extraction:
        assert self.open.wait(60)
        return Extraction(self.name, self.version)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr("everwhen.api.memory.bank.open_extractor", lambda settings: made)
    monkeypatch.setenv("EVERWHEN_WAIT_SECONDS", "0.05")
    yield made
    made.open.set()


@pytest.fixture
def served(gate: Gate, settings: ServerSettings) -> Iterator[Served]:
    with serving(settings) as running:
        yield running
        gate.open.set()


def test_reads_answer_without_the_turns_that_wait_and_say_how_many(served: Served, gate: Gate) -> None:
    with served.client() as http:
        http.post("/banks/b/turns", json={"messages": [{"role": "user", "content": "I moved to Porto."}]})
        answers = [
            http.get("/banks/b/events"),
            http.get("/banks/b/facts"),
            http.get("/banks/b/tree"),
            http.post("/banks/b/when", json={"query": "when did I move to Porto"}),
            http.post("/banks/b/timeline", json={}),
            http.post("/banks/b/ask", json={"question": "where did I move?"}),
            http.post("/banks/b/recall", json={"query": "Porto", "fresh": True}),
        ]
        assert [one.status_code for one in answers] == [200] * len(answers)
        assert [one.headers.get("Everwhen-Pending") for one in answers] == ["1"] * len(answers)
        with Client(served.url, served.key("admin"), bank="b") as client:
            assert client.events().pending == client.facts.current().pending == 1
            assert client.ask("where did I move?").pending == client.recall("Porto", fresh=True).pending == 1
            assert client.recall("Porto").pending == 0
        quick = http.post("/banks/b/recall", json={"query": "Porto"})
        assert "Everwhen-Pending" not in quick.headers
        gate.open.set()
        until(lambda: "Everwhen-Pending" not in http.get("/banks/b/facts").headers)


def test_an_mcp_tool_says_what_it_did_not_wait_for(home: Path, gate: Gate) -> None:
    from everwhen.serve.mcp.server import MemoryServer

    with Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add("I moved to Porto last week.")

        @contextmanager
        def reach(scope: str, tool: str, **noted: Any) -> Iterator[Memory]:
            yield memory

        reach.secret = ""  # type: ignore[attr-defined]
        server = MemoryServer(reach)
        for tool, given in (
            ("timeline", {}),
            ("get_facts", {}),
            ("when", {"query": "when did I move to Porto"}),
        ):
            answer = asyncio.run(server.call_tool(tool, given))
            assert json.loads(answer.content[0].text)["pending"] == 1
        gate.open.set()
        memory.flush(timeout=60)
        answer = asyncio.run(server.call_tool("timeline", {}))
        assert "pending" not in json.loads(answer.content[0].text)
