"""One key, however much it asks, leaves room for the others: in the pool, and over HTTP and MCP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest

from everwhen import Memory
from everwhen.api.operations.base import Operation
from everwhen.api.operations.conversation import Grep
from everwhen.api.operations.questions import RecallMemories, When
from everwhen.recall.candidates import HEAD, TAIL, shortened
from everwhen.serve.banks import FairPool
from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import serving, until


@pytest.fixture
def pool() -> Iterator[FairPool]:
    made = FairPool(4, "test")
    yield made
    made.close(cancel=True)


class Gate:
    """Calls that run until the gate is opened; in which order they began is kept."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._open = threading.Event()

    def call(self, name: str) -> Callable[[], str]:
        def act() -> str:
            self.begun.append(name)
            assert self._open.wait(10)
            return name

        return act

    def open(self) -> None:
        self._open.set()


def test_one_key_holds_no_more_than_half_of_the_threads(pool: FairPool) -> None:
    gate = Gate()
    greedy = [pool.submit(gate.call("greedy"), "greedy") for _ in range(50)]
    until(lambda: len(gate.begun) == 2, 5)
    assert pool.submit(lambda: "served", "modest").result(5) == "served"
    assert gate.begun == ["greedy"] * 2
    gate.open()
    assert [one.result(5) for one in greedy] == ["greedy"] * 50


def test_keys_that_wait_are_served_in_turn() -> None:
    pool, gate, order = FairPool(1, "test"), Gate(), list[str]()
    first = pool.submit(gate.call("first"), "x")
    waiting: list[Future[None]] = []
    for key in ("greedy",) * 5 + ("modest", "other"):
        waiting.append(pool.submit(lambda key=key: order.append(key), key))  # type: ignore[misc]
    gate.open()
    first.result(5)
    for one in waiting:
        one.result(5)
    pool.close()
    assert order == ["greedy", "modest", "other", "greedy", "greedy", "greedy", "greedy"]


def test_what_fails_or_is_given_up_frees_its_thread(pool: FairPool) -> None:
    def fail() -> None:
        raise ValueError("no")

    for _ in range(20):
        with pytest.raises(ValueError, match="no"):
            pool.submit(fail, "a").result(5)
    gate = Gate()
    running = [pool.submit(gate.call("a"), "a") for _ in range(2)]
    given_up = pool.submit(gate.call("never"), "a")
    assert given_up.cancel()
    gate.open()
    assert [one.result(5) for one in running] == ["a", "a"]
    assert pool.submit(lambda: 1, "a").result(5) == 1 and "never" not in gate.begun


def test_closing_finishes_what_waits_or_gives_it_up() -> None:
    patient, hasty, gate = FairPool(2, "test"), FairPool(2, "test"), Gate()
    waits, dropped = ([one.submit(gate.call("a"), "a") for _ in range(3)] for one in (patient, hasty))
    threading.Timer(0.1, gate.open).start()
    hasty.close(cancel=True)
    patient.close()
    assert [one.result(0) for one in waits] == ["a"] * 3
    assert dropped[0].result(0) == "a"
    with pytest.raises(CancelledError):
        dropped[2].result(0)
    with pytest.raises(RuntimeError, match="closed"):
        patient.submit(lambda: None, "a")


TOOL = {"name": "search_memories", "arguments": {"query": "x"}}
CALLS: list[tuple[str, dict[str, object], int, int]] = [
    ("/v1/banks/{bank}/recall", {"query": "x"}, 10, 2),
    ("/v1/banks/{bank}/grep", {"pattern": "x", "regex": True}, 10, 1),
    ("/v1/banks/{bank}/when", {"query": "x"}, 20, 2),
    ("/mcp/{bank}", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL}, 45, 4),
]
"""An address, what is sent there, and how many calls would take all threads that there are for it; how many
a key may have at a time."""


def test_a_key_whose_calls_never_end_does_not_hold_up_another(
    settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, begun = threading.Event(), list[str]()

    perform = Memory.perform

    def never_ending(self: Memory, operation: Operation[Any]) -> Any:
        if self.bank == "held" and isinstance(operation, RecallMemories | Grep | When):
            begun.append(self.bank)
            assert over.wait(30)
        return perform(self, operation)

    monkeypatch.setattr(Memory, "perform", never_ending)
    with serving(replace(settings, threads=4)) as served, ExitStack() as stack:

        def client(bank: str) -> httpx.Client:
            headers = {
                "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {served.key('write', bank)}",
            }
            made = httpx.Client(base_url=served.url, headers=headers, timeout=20, trust_env=False)
            stack.enter_context(made)
            made.post(f"/v1/banks/{bank}/turns", json={"messages": "x"}).raise_for_status()
            return made

        greedy, modest = client("held"), client("free")
        for path, body, many, most in CALLS:
            begun.clear()
            over.clear()
            post = partial(greedy.post, path.format(bank="held"), json=body)
            threads = [threading.Thread(target=post) for _ in range(many)]
            for thread in threads:
                thread.start()
            try:
                until(lambda most=most: len(begun) >= most, 20)  # type: ignore[misc]
                time.sleep(0.2)
                assert len(begun) == most, path
                answer = modest.post(path.format(bank="free"), json=body)
                assert answer.status_code == 200, (path, answer.text)
            finally:
                over.set()
                for thread in threads:
                    thread.join()


def test_a_long_question_takes_part_with_its_beginning_and_its_end(quick: Memory) -> None:
    assert shortened("where does Ana live?") == "where does Ana live?"
    pasted = "lorem " * 20_000 + "Where does Ana live?"
    assert len(shortened(pasted)) == HEAD + TAIL + 1
    quick.add(["Ana lives in Porto.", "The weather is fine."])
    found = quick.recall(pasted, max_tokens=200)
    [best] = [one for one in found if one.why.ranks.get("keyword") == 1]  # by words that stand at its end
    assert "Ana lives in Porto" in best.text
