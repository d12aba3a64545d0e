"""Who may see what: files of their owner alone, banks apart through every door, no words in logs and traces."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everwhen import Client, Memory
from everwhen.cli.app import run
from everwhen.errors import EverwhenError
from everwhen.models.embedder import CachedEmbedder
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.serve.server_settings import ServerSettings
from everwhen.store.files.home import cache_path
from tests.serve.conftest import serving
from tests.upkeep.raw import holds, traces

MARK = "zanzibarquoll"
SAID = f"My {MARK} moved to Porto last week."


def open_to_others(folder: Path) -> list[str]:
    """What somebody else on the machine could read or enter."""
    everything = [folder, *folder.rglob("*")]
    return [
        f"{stat.filemode(one.stat().st_mode)} {one.relative_to(folder.parent)}"
        for one in everything
        if one.stat().st_mode & 0o077
    ]


def test_every_file_and_folder_of_a_used_home_is_its_owners_alone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    before = os.umask(0o022)  # as most machines have it
    try:
        out = home / "out"
        with Memory.open(home, "one") as memory:
            out.mkdir(mode=0o700)
            memory.add({"name": "Ana", "content": SAID, "id": "t"}, session="s")
            memory.flush()
            memory.consolidate("end")
            memory.recall("Porto")
            memory.export(out / "one.jsonl")
            memory.export(out / "one.jsonl.gz")
            memory.backup(out / "one.db")
            seen = {one.name for one in home.rglob("*")}
            assert {"one.db-wal", "one.db-shm", "embeddings.sqlite-wal", "embeddings.sqlite-shm"} <= seen
            assert open_to_others(home) == []  # while it is open
            memory.forget(turns="t")
        Memory.restore(out / "one.db", home, "two")
        Memory.restore(out / "one.db", tmp_path / "elsewhere", "two")
        Memory.salvage(out / "saved.jsonl", home, "two")
        with Memory.open(home, "three") as memory:
            memory.import_(out / "one.jsonl")
        assert run(["server", "keys", "create", "--scope", "read", "--bank", "one"]) == 0
        with serving(ServerSettings(home)) as served, served.client() as http:
            http.post("/banks/four/turns", json={"messages": SAID}, headers={"Idempotency-Key": "k"})
            http.post("/banks/four/export")
            http.get("/banks/nobody")
            http.post("/banks/five/import?more=true", content=b"{")
            assert open_to_others(home) == []
        assert open_to_others(home) == [] and open_to_others(tmp_path / "elsewhere") == []
        assert len([one for one in home.rglob("*") if one.is_file()]) > 10
    finally:
        os.umask(before)


# Banks apart: everything that a door can be asked, with the words and ids of another bank


def through_library(home: Path) -> Iterator[Callable[[], Any]]:
    with Memory.open(home, "mine", create=False) as memory:
        yield from through_methods(memory)


def through_methods(memory: Any) -> Iterator[Callable[[], Any]]:
    yield memory.turns
    yield lambda: memory.turns(session=MARK)
    yield lambda: memory.turn("theirs-1")
    yield lambda: memory.turns_around("theirs-1")
    yield memory.sessions
    yield lambda: memory.grep(MARK)
    yield lambda: memory.grep(".*", regex=True)
    yield lambda: memory.grep(MARK, calendar="events")
    yield lambda: memory.recall(MARK, kinds=["turn", "event", "narrative", "fact", "node"]).memories
    yield lambda: memory.when(f"When did {MARK} move to Porto?")
    yield memory.timeline
    yield memory.events
    yield memory.entities
    yield lambda: memory.entity(MARK)
    yield memory.facts.current
    yield lambda: memory.facts.about(MARK)
    yield lambda: list(memory.facts.versions())
    yield memory.tree
    yield memory.profile
    yield lambda: memory.ask(f"Where is {MARK}?").text.replace(MARK, "")  # the question may be said again
    yield memory.accessed
    yield lambda: memory.forget(turns="theirs-1", dry_run=True)
    yield lambda: memory.forget(session=MARK, dry_run=True)
    yield memory.stats


def through_command_line(home: Path) -> Iterator[Callable[[], Any]]:
    for words in (
        ["show", "turns"], ["show", "turns", "--session", MARK], ["show", "sessions"], ["show", "grep", MARK],
        ["show", "grep", ".*", "--regex"], ["recall", MARK],
        ["timeline"], ["show", "events"], ["show", "entities"], ["facts", "current"], ["facts", "export", "-"],
        ["show", "tree"], ["show", "profile"],
        ["bank", "stats"], ["bank", "export", "-"], ["forget", "--turn", "theirs-1", "--dry-run"],
        ["bank", "doctor"], ["when", MARK],
    ):  # fmt: skip
        yield lambda words=words: run([*words, "--bank", "mine", "--json"])  # type: ignore[misc]


@contextmanager
def served(home: Path) -> Iterator[Any]:
    with serving(ServerSettings(home)) as running:
        yield running


def through_http(home: Path) -> Iterator[Callable[[], Any]]:
    with served(home) as running, running.client("admin", "mine") as http:
        for bank in ("mine", "theirs", "MINE", "mine%2F..%2Ftheirs", "mine..theirs"):
            for path in (
                "", "/turns", f"/turns?session={MARK}", "/turns/theirs-1", "/turns/theirs-1/around", "/sessions",
                "/events", "/entities", "/tree", "/profile", "/facts", "/facts/versions", "/stats",
                "/accessed", "/usage",
            ):  # fmt: skip
                yield lambda bank=bank, path=path: http.get(f"/banks/{bank}{path}").text  # type: ignore[misc]
            for path, body in {
                "recall": {"query": "Who moved last week?"}, "grep": {"pattern": "."},
                "when": {"query": "When did it move?"}, "timeline": {}, "export": {},
            }.items():  # fmt: skip
                yield lambda bank=bank, path=path, body=body: (  # type: ignore[misc]
                    http.post(f"/banks/{bank}/{path}", json=body).text
                )
        yield lambda: http.get("/banks").text
        yield lambda: http.delete("/banks/theirs").text


def through_client(home: Path) -> Iterator[Callable[[], Any]]:
    with served(home) as running:
        with Client(running.url, running.key("admin", "mine"), bank="mine") as client:
            yield from through_methods(client)
        with Client(running.url, running.key("admin", "mine"), bank="theirs") as client:
            yield from through_methods(client)


def through_mcp(home: Path) -> Iterator[Callable[[], Any]]:
    from tests.serve.test_mcp import at_http

    calls: dict[str, dict[str, Any]] = {
        "search_memories": {"query": MARK}, "when": {"query": MARK}, "timeline": {},
        "get_facts": {"subject": MARK, "history": True}, "search_turns": {"query": ".", "match": "regex"},
        "forget": {"turns": ["theirs-1"]},
    }  # fmt: skip
    with served(home) as running:

        async def said() -> list[str]:
            async with at_http(running, running.key("admin", "mine"), "mine") as client:
                return [str(await client.call_tool(name, given)) for name, given in calls.items()]

        yield lambda: asyncio.run(said())

        async def refused() -> str:
            try:
                async with at_http(running, running.key("admin", "mine"), "theirs") as client:
                    return str(await client.call_tool("search_turns", {}))
            except BaseException as error:
                return type(error).__name__

        yield lambda: asyncio.run(refused())


@pytest.mark.parametrize(
    "door",
    [through_library, through_command_line, through_http, through_client, through_mcp],
    ids=lambda one: one.__name__,
)
def test_another_bank_is_not_seen_through_any_door(
    door: Callable[[Path], Iterator[Callable[[], Any]]],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    with Memory.open(home, "theirs") as memory:
        memory.add({"name": MARK, "content": SAID, "id": "theirs-1"}, session=MARK)
        memory.facts.assert_(MARK, "lives in", MARK)
        memory.consolidate("end")
        memory.recall(MARK)
        memory.flush()
    with Memory.open(home, "mine") as memory:
        memory.add({"name": "Ana", "content": "I moved to Lisbon last week."})
        memory.flush()
    asked = 0
    for ask in door(home):
        try:
            answer = ask()
        except EverwhenError as error:
            # An error may say again what was asked for; nothing that was not.
            answer = str(error).replace(MARK, "")
        told = capsys.readouterr()
        shown = f"{answer!r} {told.out} {told.err}"
        assert SAID not in shown and "Porto" not in shown, shown
        assert MARK not in repr(answer), shown
        asked += 1
    assert asked >= 2
    with Memory.open(home, "theirs", create=False) as memory:
        assert [turn.text for turn in memory.turns()] == [SAID]


# Forgetting


@pytest.mark.parametrize("vectors", [True, False])
def test_what_was_forgotten_is_in_no_export(memory: Memory, tmp_path: Path, vectors: bool) -> None:
    memory.add({"name": "Ana", "content": SAID, "id": "doomed-1"}, session="s")
    memory.add({"name": "Ben", "content": f"Your {MARK}? How nice."}, session="s")
    memory.add({"name": "Ben", "content": "I bought a bicycle in May."}, session="s")
    memory.facts.assert_("Ana", "owns", MARK, source="doomed-1")
    memory.consolidate("end")
    doomed = [turn.id for turn in memory.turns() if MARK in turn.text]
    memory.forget(turns=doomed)
    folder = tmp_path / "exports"
    folder.mkdir()
    memory.export(folder / "after.jsonl", vectors=vectors)
    assert traces(folder, [MARK]) == [] and b"doomed-1" not in (folder / "after.jsonl").read_bytes()
    assert b"bicycle" in (folder / "after.jsonl").read_bytes()


def test_a_bank_that_is_deleted_leaves_no_vector_in_the_cache(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    with serving(ServerSettings(home)) as running, running.client() as http:
        for bank in ("gone", "kept"):
            http.post(
                f"/banks/{bank}/turns",
                json={"messages": [{"name": "Ana", "content": SAID if bank == "gone" else "A bicycle."}]},
            )
            http.post(f"/banks/{bank}/facts", json={"subject": "Ana", "predicate": "owns", "object": bank})
            http.post(f"/banks/{bank}/process")
            http.post(f"/banks/{bank}/consolidate", json={"now": "end"})
        cached = CachedEmbedder(FakeEmbedder(), cache_path(home))
        known = {SAID: cached.embed([f"Ana: {SAID}"])[0], "fact": FakeEmbedder().embed(["Ana owns gone"])[0]}
        stays = FakeEmbedder().embed(["Ana owns kept"])[0]
        assert all(holds(home / "cache", one.astype("<f4").tobytes()) for one in (*known.values(), stays))
        assert http.delete("/banks/gone").status_code == 204
        assert [
            one for one, vector in known.items() if holds(home / "cache", vector.astype("<f4").tobytes())
        ] == []
        assert holds(home / "cache", stays.astype(np.float32).tobytes())
        assert traces(home, [MARK]) == []
        cached.close()
        # One that cannot be read any more can be deleted all the same.
        http.post("/banks/broken/turns", json={"messages": "x"})
        running.state.banks.drop("broken")
        (home / "banks" / "broken.db").write_bytes(b"no database" * 500)
        assert http.delete("/banks/broken").status_code == 204
        assert http.get("/banks").json()["items"][0]["name"] == "kept"


# Logs and traces


def test_logs_and_traces_have_no_words_in_them(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    spans: list[Any] = []
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    except ImportError:
        exporter = None
    else:
        exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "httpx2"):  # the client of this test, which is not ours
        logging.getLogger(name).setLevel(logging.ERROR)
    with serving(ServerSettings(home)) as running, running.client() as http:
        http.post("/banks/b/turns", json={"messages": [{"name": "Ana", "content": SAID, "id": "t"}]})
        http.post("/banks/b/recall", json={"query": f"Where is {MARK}?"})
        http.post("/banks/b/grep", json={"pattern": MARK})
        http.post("/banks/b/grep", json={"pattern": f"({MARK}", "regex": True})
        http.post("/banks/b/when", json={"query": MARK, "at": MARK})
        http.post(
            "/banks/b/facts", json={"subject": "Ana", "predicate": "owns", "object": MARK, "confidence": 7}
        )
        http.get(f"/banks/b/entities/{MARK}")
        http.post("/banks/b/ask", json={"question": f"Whose is {MARK}?"})
        http.request("DELETE", "/banks/b/turns", json={"turns": ["t"]})
        if exporter is not None:
            spans = [one.to_json() for one in exporter.get_finished_spans()]
            assert spans
        audit = running.state.audit.path.read_text()
    told = capsys.readouterr()
    for where, said in {
        "logs": caplog.text + json.dumps([str(record.__dict__) for record in caplog.records]),
        "audit": audit,
        "traces": "".join(spans),
        "out": told.out + told.err,
    }.items():
        assert MARK not in said, (where, [line for line in said.splitlines() if MARK in line][:3])
    assert "write" in audit and traces(home, [MARK]) == []
