"""A read over HTTP ends while turns are still to be extracted, and says how many."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from everwhen.ingest.extract.base import Batch, Extraction
from everwhen.serve.settings import Serving
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
    monkeypatch.setattr("everwhen.memory.graph.open_extractor", lambda settings: made)
    monkeypatch.setenv("EVERWHEN_WAIT_SECONDS", "0.05")
    yield made
    made.open.set()


@pytest.fixture
def served(gate: Gate, settings: Serving) -> Iterator[Served]:
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
        quick = http.post("/banks/b/recall", json={"query": "Porto"})
        assert "Everwhen-Pending" not in quick.headers
        gate.open.set()
        until(lambda: "Everwhen-Pending" not in http.get("/banks/b/facts").headers)
