"""MCP with the official client: over stdio, over streamable HTTP, and attached to a server that runs already."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

pytest.importorskip("mcp")
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from everwhen import Memory
from everwhen.serve.mcp.server import LocalMemory, MemoryServer
from everwhen.serve.server_settings import ServerSettings, announce, running, withdraw
from tests.serve.conftest import Served, serving

TOOLS = {
    "add_memory", "search_memories", "when", "timeline", "get_facts", "correct_fact", "review_facts", "search_turns",
    "forget",
}  # fmt: skip
WRITING = {"add_memory", "correct_fact", "review_facts", "forget"}


async def call(client: McpClient, tool: str, **arguments: Any) -> Any:
    """What a tool answers, as JSON."""
    answer = await client.call_tool(tool, arguments)
    text = answer.content[0].text  # type: ignore[union-attr]
    assert not answer.is_error, text
    return json.loads(text)


async def refused(client: McpClient, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


async def prompted(client: McpClient, name: str, **arguments: str) -> str:
    """The text of a prompt."""
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return str(message.content.text)  # type: ignore[union-attr]


def at_http(served: Served, key: str | None, bank: str) -> McpClient:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    http = httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False)
    return McpClient(streamable_http_client(f"{served.url}/mcp/{bank}", http_client=http))


def at_stdio(home: Path, bank: str) -> McpClient:
    environment = {
        **os.environ,
        "EVERWHEN_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "everwhen", "server", "mcp", "--bank", bank], env=environment
    )
    return McpClient(command)


async def read_prompts(client: McpClient) -> None:
    """All prompts, when Ana has moved to Porto and the user has corrected that to Lisbon."""
    prompts = {one.name: one for one in (await client.list_prompts()).prompts}
    assert prompts.keys() == {"what_do_you_know", "what_happened", "what_is_planned"}
    known = await prompted(client, "what_do_you_know", about="Ana")
    assert known.startswith("What do you know about Ana?") and '"object":"Lisbon"' in known
    assert "I moved to Porto last week (3 to 9 March 2025)." in known
    assert "moved to Porto" in await prompted(client, "what_happened", between="March 2025")
    assert "Porto" not in await prompted(client, "what_happened", between="April 2025")
    assert "Porto" not in await prompted(client, "what_is_planned")


async def decided(client: McpClient) -> None:
    """What an assistant said of Bea waits, is confirmed and is rejected."""
    await call(client, "add_memory", text="I live in Faro.", name="Bea", at="2025-03-01T09:30:00Z")
    for day, town in enumerate(("Minsk", "Riga"), 2):
        said = f"Bea lives in {town} now."
        await call(client, "add_memory", text=said, role="assistant", at=f"2025-03-0{day}T09:30:00Z")
    await call(client, "get_facts", subject="Bea")
    first, second = (await call(client, "review_facts"))["waiting"]
    assert [one["object"] for one in first["facts"]] == ["Minsk", "Faro"] and "assistant" in first["why"]
    kept = await call(client, "review_facts", fact_id=first["id"], decision="confirm", by="Bea")
    assert (kept["fact"]["object"], kept["fact"]["status"]) == ("Minsk", "believed")
    await call(client, "review_facts", fact_id=second["id"], decision="reject", by="Bea")
    assert (await call(client, "review_facts"))["waiting"] == []
    now = await call(client, "get_facts", subject="Bea", predicate="lives in")
    assert [fact["object"] for fact in now["facts"]] == ["Minsk"]
    assert "is empty" in await refused(client, "review_facts", fact_id=first["id"])


async def conversation(client: McpClient) -> None:
    """All tools, one after the other, on a new bank."""
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS
    for tool in listed:
        assert tool.description and len(tool.description) < 500
        assert tool.annotations is not None and tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (tool.name not in WRITING)
        assert bool(tool.annotations.destructive_hint) is (tool.name == "forget")
    search = next(tool for tool in listed if tool.name == "search_memories").input_schema["properties"]
    assert {"at", "between", "before", "after", "as_of", "known_at"} <= search.keys()

    added = await call(
        client, "add_memory", text="I moved to Porto last week.", name="Ana", at="2025-03-10T09:30:00Z"
    )
    assert added["new"] == 1
    found = await call(client, "search_memories", query="Where does Ana live?", before="2026-01-01")
    assert found["memories"][0]["text"] == "I moved to Porto last week (3 to 9 March 2025)."
    assert found["memories"][0]["occurred"] == "the week of 3 March 2025"
    assert (await call(client, "search_memories", query="Porto", between=["2024"]))["memories"] == []
    when = await call(client, "when", query="When did Ana move to Porto?")
    assert when["when"] == "the week of 3 March 2025" and when["evidence"][0]["turn"] == added["turns"][0]
    entries = await call(client, "timeline", about="Porto", between=["March 2025"])
    assert entries["entries"][0]["when"] == "the week of 3 March 2025"
    happened = await call(client, "timeline", about="Ana", status="happened")
    assert [entry["status"] for entry in happened["entries"]] == ["happened"]
    assert (await call(client, "timeline", about="Ana", status="planned"))["entries"] == []
    await call(
        client, "correct_fact", subject="Ana", predicate="lives in", object="Lisbon", valid_from="2025-06-01"
    )
    now = await call(client, "get_facts", subject="Ana", predicate="lives in")
    assert [fact["object"] for fact in now["facts"]] == ["Lisbon"]
    then = await call(client, "get_facts", subject="Ana", predicate="lives in", as_of="2025-04-01")
    assert [fact["object"] for fact in then["facts"]] == ["Porto"]
    history = await call(client, "get_facts", subject="Ana", predicate="lives in", history=True)
    assert [fact["object"] for fact in history["facts"]] == ["Porto", "Lisbon"]
    await decided(client)
    assert (await call(client, "search_turns", between=["2025-03-10"]))["turns"][0]["speaker"] == "Ana"
    assert (await call(client, "search_turns", query="PORTO", match="words"))["turns"][0]["id"] == added[
        "turns"
    ][0]

    assert "at: 'the day of the fox' is no time" in await refused(
        client, "when", query="x", at="the day of the fox"
    )
    assert "query" in await refused(client, "search_memories")
    resources = {str(one.uri) for one in (await client.list_resources()).resources}
    assert {"everwhen://timeline/recent", "everwhen://profile"} <= resources
    recent = await client.read_resource("everwhen://timeline/recent")
    assert "Porto" in recent.contents[0].text  # type: ignore[union-attr]
    profile = await client.read_resource("everwhen://profile")
    assert isinstance(json.loads(profile.contents[0].text), list)  # type: ignore[union-attr]

    await read_prompts(client)

    spare = await call(client, "add_memory", text="My cello is in the attic.", at="2025-05-10T09:30:00Z")
    looked = await call(client, "forget", between=["May 2025"])
    assert looked["dry_run"] is True and looked["turns"] == spare["turns"]
    assert (await call(client, "search_turns", query="cello", match="words"))["turns"]
    seen = await call(client, "forget", turns=spare["turns"])
    gone = await call(client, "forget", turns=spare["turns"], dry_run=False, token=seen["token"])
    assert gone["dry_run"] is False and gone["counts"]["turns"] == 1
    assert (await call(client, "search_turns", query="cello", match="words"))["turns"] == []
    assert "forget what?" in await refused(client, "forget")


def test_all_tools_answer_over_streamable_http(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "EVERWHEN_READER", "reader-2"
    )  # which reads facts; banks are opened when they are asked for

    async def talk() -> None:
        async with at_http(served, served.key("write", "ana"), "ana") as client:
            await conversation(client)

    asyncio.run(talk())


def test_all_tools_answer_over_stdio(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "reader-2")  # which reads facts

    async def talk() -> None:
        async with at_stdio(home, "ana") as client:
            await conversation(client)

    asyncio.run(talk())
    with Memory.open(home, "ana", create=False) as memory:
        assert memory.stats().turns == 4


WITHOUT_ENGINE = """
import sys, threading
class Never:
    def find_spec(self, name, path=None, target=None):
        if name in ("anyio", "everwhen.api.memory", "mcp_types", "numpy", "onnxruntime", "pydantic"):
            threading.Event().wait()
sys.meta_path.insert(0, Never())
sys.argv[1:] = ["server", "mcp", "--bank", "ana"]
from everwhen.cli.app import main
main()
"""
"""`everwhen server mcp` where nothing that takes time to load ever gets there."""
CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
META = {f"io.modelcontextprotocol/{name}": one for name, one in CLIENT.items() if name == "clientInfo"}
META |= {"io.modelcontextprotocol/clientCapabilities": {}}
GREETING = {"method": "initialize", "params": {"protocolVersion": "2025-06-18", **CLIENT}}


@contextmanager
def talking(*command: str) -> Iterator[Callable[..., dict[str, Any]]]:
    """A process to which messages are sent as they are; each call sends one and gives the next line that comes."""
    with subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        sent = 0
        watchdog = threading.Timer(300, process.kill)
        watchdog.start()

        def send(**message: Any) -> dict[str, Any]:
            nonlocal sent
            sent += 1
            print(json.dumps({"jsonrpc": "2.0", "id": sent, **message}), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            assert answer["id"] == sent, "an answer came that nobody had asked for"
            return dict(answer)

        try:
            yield send
        finally:
            watchdog.cancel()
            process.kill()


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_tools_are_listed_while_nothing_is_loaded_yet(version: str) -> None:
    with talking("-c", WITHOUT_ENGINE) as send:
        said = (
            {}
            if version < "2026"
            else {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": version}}
        )
        if not said:
            assert send(**GREETING)["result"]["protocolVersion"] == version
        else:
            assert version in send(method="server/discover", params=said)["result"]["supportedVersions"]
        listed = send(method="tools/list", params=said)["result"]["tools"]
        assert {one["name"] for one in listed} == TOOLS
        assert send(method="prompts/list", params=said)["result"]["prompts"]


def test_a_client_that_was_greeted_before_the_server_was_there_is_known_to_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    with talking("-m", "everwhen", "server", "mcp", "--bank", "ana") as send:
        assert "error" in send(method="tools/list"), "nobody has greeted yet"
        assert "error" in send(method="initialize", params={"protocolVersion": "2025-06-18"})
        assert send(**GREETING)["result"]["serverInfo"]["name"] == "everwhen"
        call = {"name": "add_memory", "arguments": {"text": "I play the violin."}}
        assert not send(method="tools/call", params=call)["result"]["isError"]
        assert "error" in send(method="nonsense")
        assert send(method="ping")["result"] == {}


def test_a_process_attaches_to_the_server_that_runs(settings: ServerSettings) -> None:
    note = announce(settings.folder, "http://127.0.0.1:9")
    with serving(settings) as served:
        withdraw(settings.folder, note)
        served.state.auth.announced = announce(settings.folder, served.url)

        reach = LocalMemory(settings.home, "ana")

        async def talk() -> None:
            async with McpClient(MemoryServer(reach)) as client:
                added = await call(client, "add_memory", text="I play the violin", at="2025-03-10T09:30:00Z")
                assert added["new"] == 1
                found = await call(client, "search_memories", query="violin", between=["March 2025"])
                assert found["memories"][0]["text"] == "I play the violin"

        asyncio.run(talk())
        assert reach._memory is None, "a model was loaded although a server runs"
        with served.client() as http:
            assert http.get("/banks/ana/stats").json()["turns"] == 1
        reach.close()
        withdraw(settings.folder, served.state.auth.announced)
    assert running(settings.folder) is None


def test_the_note_of_a_server_that_is_gone_is_not_believed(tmp_path: Path) -> None:
    note = announce(tmp_path, "http://127.0.0.1:9")
    assert running(tmp_path) == note
    path = tmp_path / "running.json"
    path.write_text(json.dumps({"url": note.url, "pid": 2**22 + 1, "token": note.token}))
    assert running(tmp_path) is None
    path.write_text("{")
    assert running(tmp_path) is None
    assert path.stat().st_mode & 0o077 == 0


def test_a_key_reaches_only_its_bank_over_mcp(served: Served) -> None:
    keys = {bank: served.key("write", bank) for bank in ("a", "b")}
    words = {"a": "the violin is under the stairs", "b": "the cello is in the attic"}

    async def talk() -> None:
        for bank in ("a", "b"):
            async with at_http(served, keys[bank], bank) as client:
                await call(client, "add_memory", text=words[bank])
        for bank, other in (("a", "b"), ("b", "a")):
            async with at_http(served, keys[bank], bank) as client:
                for tool, given in (
                    ("search_memories", {"query": words[other]}),
                    ("search_turns", {}),
                    ("search_turns", {"query": "the", "match": "words"}),
                    ("timeline", {}),
                    ("forget", {"between": ["2000-01-01", "2100-01-01"]}),
                ):
                    said = json.dumps(await call(client, tool, **given))
                    assert words[other] not in said
                said = (await client.read_resource("everwhen://profile")).contents[0].text  # type: ignore[union-attr]
                assert words[other] not in said
                assert words[bank] in json.dumps(
                    await call(client, "search_turns", query="the", match="words")
                )

    asyncio.run(talk())
    ask = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_turns", "arguments": {"query": "the"}},
    }
    for path, key, status in [
        ("/mcp/b", keys["a"], 403), ("/mcp", keys["a"], 403), ("/mcp/b", None, 401), ("/mcp/..%2Fb", keys["a"], 404),
        ("/mcp/b/", "nonsense", 401), ("/mcp/a/b", keys["a"], 404),
    ]:  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        answer = httpx.post(f"{served.url}{path}", json=ask, headers=headers)
        assert answer.status_code == status, (path, answer.text)
        assert "attic" not in answer.text


def test_a_key_that_may_read_cannot_write_over_mcp(served: Served) -> None:
    async def talk() -> None:
        async with at_http(served, served.key("write", "a"), "a") as client:
            await call(client, "add_memory", text="the violin is under the stairs")
        async with at_http(served, served.key("read", "a"), "a") as client:
            assert (await call(client, "search_turns", query="violin"))["turns"]
            assert "needs the scope write" in await refused(client, "add_memory", text="a cello")
            assert "needs the scope write" in await refused(client, "forget", entity="Ana")
            assert "needs the scope write" in await refused(
                client, "correct_fact", subject="Ana", predicate="plays", object="cello"
            )

    asyncio.run(talk())
    events = [json.loads(line) for line in served.state.audit.path.read_text().splitlines()]
    assert [line["event"] for line in events if line["route"] == "mcp add_memory"] == ["write", "denied"]


def test_forgetting_over_mcp_is_written_down_and_everything_needs_admin(served: Served) -> None:
    async def talk() -> None:
        async with at_http(served, served.key("write", "a"), "a") as client:
            assert "there is no bank" in await refused(client, "forget", session="s")
            added = await call(client, "add_memory", text="the violin is under the stairs")
            assert "needs the scope admin" in await refused(client, "forget", everything=True, dry_run=False)
            seen = await call(client, "forget", turns=added["turns"])
            await call(client, "forget", turns=added["turns"], dry_run=False, token=seen["token"])

    asyncio.run(talk())
    events = [json.loads(line) for line in served.state.audit.path.read_text().splitlines()]
    assert [(line["event"], line["dry_run"]) for line in events if line["route"] == "mcp forget"] == [
        ("denied", False),
        ("delete", True),
        ("delete", False),
    ]


WAYS: tuple[dict[str, Any], ...] = (
    {"everything": True}, {"session": "s"}, {"entity": "Ana"}, {"between": ["2025"]}, {"turns": ["t1"]},
)  # fmt: skip


async def forget_in_two_steps(client: McpClient) -> None:
    """Nothing goes before a dry run of the same call was seen; what it says is what goes."""

    async def stays(**given: Any) -> None:
        assert "nothing was forgotten" in await refused(client, "forget", dry_run=False, **given)

    await call(client, "add_memory", text="Ana plays the violin", session="s", id="t1", at="2025-03-10")
    tokens = {}
    for way in WAYS:
        for token in (None, "", "0" * 16, "\u2028"):
            await stays(**way, **({} if token is None else {"token": token}))
        tokens[json.dumps(way)] = (await call(client, "forget", **way))["token"]
    assert len(set(tokens.values())) == len(WAYS)
    for way in WAYS:
        for other, token in tokens.items():
            if other != json.dumps(way):
                await stays(**way, token=token)
    await call(client, "add_memory", text="Ana has a cello, too", session="s", id="t2", at="2025-03-11")
    for way in WAYS[:-1]:  # there is more now than was seen
        await stays(**way, token=tokens[json.dumps(way)])
    seen = await call(client, "forget", everything=True)
    assert seen["turns"] == ["t1", "t2"]
    gone = await call(client, "forget", everything=True, dry_run=False, token=seen["token"])
    assert gone["turns"] == ["t1", "t2"] and not gone["dry_run"]
    assert (await call(client, "search_turns"))["turns"] == []


def test_nothing_is_forgotten_over_http_before_it_was_seen(served: Served) -> None:
    async def talk() -> None:
        async with at_http(served, served.key("admin", "a"), "a") as client:
            await forget_in_two_steps(client)
        async with at_http(served, served.key("admin", "a"), "a") as client:
            await call(client, "add_memory", text="Ana plays the violin", session="s", id="t3")
            seen = await call(client, "forget", session="s")
        async with at_http(served, served.key("admin", "a"), "a") as other:  # who has seen nothing
            asked = {"session": "s", "dry_run": False, "token": seen["token"]}
            assert "nothing was forgotten" in await refused(other, "forget", **asked)

    asyncio.run(talk())


def test_nothing_is_forgotten_over_stdio_before_it_was_seen(tmp_path: Path) -> None:
    async def talk() -> None:
        async with at_stdio(tmp_path, "a") as client:
            await forget_in_two_steps(client)

    asyncio.run(talk())
