"""The bank in other people's agents: Anthropic's memory tool, a LangGraph store, a pydantic-ai toolset."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.agents.adapters.anthropic_memory import MemoryFiles
from everwhen.errors import ModelError, UsageError


@pytest.fixture
def files(quick: Memory) -> MemoryFiles:
    return quick.memory_files()


def do(files: MemoryFiles, command: str, **arguments: Any) -> str:
    return files.call({"command": command, **arguments})


def test_files_are_made_seen_changed_moved_and_deleted(files: MemoryFiles) -> None:
    path = "/memories/people/ana.txt"
    assert do(files, "create", path=path, file_text="tea\nrain\n") == f"File created successfully at: {path}"
    assert do(files, "view", path=path) == (
        f"Here's the content of {path} with line numbers:\n     1\ttea\n     2\train\n     3\t"
    )
    assert do(files, "str_replace", path=path, old_str="tea", new_str="mate").startswith(
        "The memory file has been edited.\n     1\tmate"
    )
    assert do(files, "insert", path=path, insert_line=1, insert_text="dogs\n").endswith("has been edited.")
    assert do(files, "view", path=path, view_range=[1, 2]).endswith("     1\tmate\n     2\tdogs")
    listed = do(files, "view", path="/memories").splitlines()
    assert [line.split("\t")[1] for line in listed[1:]] == ["/memories", "/memories/people", path]
    assert do(files, "rename", old_path="/memories/people", new_path="/memories/friends").startswith(
        "Success"
    )
    assert "does not exist" in do(files, "view", path=path)
    assert do(files, "delete", path="/memories/friends") == "Successfully deleted /memories/friends"
    assert len(do(files, "view", path="/memories").splitlines()) == 2


def test_no_version_is_lost_and_all_are_recalled(quick: Memory, files: MemoryFiles) -> None:
    do(files, "create", path="/memories/a", file_text="drinks tea")
    do(files, "str_replace", path="/memories/a", old_str="tea", new_str="mate")
    do(files, "delete", path="/memories/a")
    assert [turn.text for turn in quick.turns("memories")] == [
        "drinks tea",
        "drinks mate",
        "/memories/a was removed",
    ]
    assert any("mate" in one.text for one in quick.recall("drinks mate"))


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/memories/../etc/passwd",
        "/memories/..",
        "memories/a",
        "/memoriesx/a",
        "/memories/./a",
        "/memories//a",
        "/memories/%2e%2e/a",
        "/memories/a\\..\\b",
        "/memories/a\x00b",
        "",
        None,
        7,
    ],
)
def test_no_path_leads_out(files: MemoryFiles, path: Any) -> None:
    for command in ("view", "create", "delete"):
        assert do(files, command, path=path, file_text="x").startswith("Error: ")
    assert do(files, "rename", old_path=path, new_path="/memories/b").startswith("Error: ")


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("create", {"path": "/memories/a", "file_text": "again"}, "already exists"),
        ("create", {"path": "/memories/a/b", "file_text": "x"}, "is a file, not a directory"),
        ("create", {"path": "/memories/new"}, "file_text must be text"),
        (
            "str_replace",
            {"path": "/memories/a", "old_str": "zebra", "new_str": ""},
            "did not appear verbatim",
        ),
        ("str_replace", {"path": "/memories/a", "old_str": "o", "new_str": ""}, "Multiple occurrences"),
        ("str_replace", {"path": "/memories/none", "old_str": "o", "new_str": ""}, "does not exist"),
        ("insert", {"path": "/memories/a", "insert_line": 9, "insert_text": "x"}, "Invalid `insert_line`"),
        ("view", {"path": "/memories/a", "view_range": [5, 9]}, "lies outside"),
        ("view", {"path": "/memories/a", "view_range": "all"}, "pair of line numbers"),
        ("delete", {"path": "/memories"}, "cannot be written, moved or deleted"),
        ("rename", {"old_path": "/memories/a", "new_path": "/memories/a/b"}, "cannot be moved"),
        ("rename", {"old_path": "/memories/a", "new_path": "/memories/c"}, "already exists"),
        ("format", {}, "unknown command"),
        ("__init__", {}, "unknown command"),
    ],
)
def test_what_is_wrong_is_said(
    files: MemoryFiles, command: str, arguments: dict[str, Any], message: str
) -> None:
    do(files, "create", path="/memories/a", file_text="foo boo")
    do(files, "create", path="/memories/c", file_text="c")
    said = do(files, command, **arguments)
    assert said.startswith("Error: ")
    assert message in said


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=40).filter(lambda text: "\x00" not in text))
def test_a_file_comes_back_as_it_was_written(files: MemoryFiles, text: str) -> None:
    do(files, "delete", path="/memories/f")
    do(files, "create", path="/memories/f", file_text=text)
    assert files._shelf.documents()["/memories/f"].text == text


def test_tool_use_blocks_get_their_results(files: MemoryFiles) -> None:
    blocks = [
        {"type": "text", "text": "hm"},
        {"type": "tool_use", "id": "u1", "name": "memory", "input": {"command": "view", "path": "/memories"}},
        {"type": "tool_use", "id": "u2", "name": "memory", "input": {"command": "view", "path": "/x"}},
        {"type": "tool_use", "id": "u3", "name": "other", "input": {}},
    ]
    first, second = files.results(blocks)
    assert (first["tool_use_id"], first["is_error"]) == ("u1", False)
    assert (second["tool_use_id"], second["is_error"]) == ("u2", True)
    assert files.tool == {"type": "memory_20250818", "name": "memory"}


def test_a_pydantic_ai_agent_uses_the_tools(bank: Memory) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(call_tools=["timeline"]), toolsets=[bank.tools().pydantic_ai()])
    assert "Ana moved to Porto" in agent.run_sync("What happened?").output.encode().decode("unicode_escape")


# LangGraph


def test_without_langgraph_the_command_is_named(quick: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "everwhen.agents.adapters.langgraph", raising=False)
    monkeypatch.setitem(sys.modules, "langgraph", None)
    monkeypatch.setitem(sys.modules, "langgraph.store.base", None)
    with pytest.raises(ModelError, match="pip install langgraph-checkpoint"):
        quick.langgraph_store()


ITEMS = {"lunch": {"text": "likes sushi", "n": 3}, "car": {"text": "drives a red Fiat", "n": 1}}


@pytest.fixture
def store(home: Path) -> Any:
    pytest.importorskip("langgraph.store.base", reason="pip install langgraph-checkpoint")
    with Memory.open(home, "graph", cache_entries=0, extract="none") as memory:
        yield memory.langgraph_store()


def test_items_are_put_got_replaced_and_deleted(store: Any) -> None:
    store.put(("users", "ana"), "lunch", {"text": "likes sushi"})
    first = store.get(("users", "ana"), "lunch")
    store.put(("users", "ana"), "lunch", {"text": "likes ramen"})
    item = store.get(("users", "ana"), "lunch")
    assert item.value == {"text": "likes ramen"}
    assert (item.key, item.namespace) == ("lunch", ("users", "ana"))
    assert item.created_at == first.created_at < item.updated_at
    store.delete(("users", "ana"), "lunch")
    store.delete(("users", "ana"), "never")
    assert store.get(("users", "ana"), "lunch") is None
    assert store.get(("users", "bob"), "lunch") is None


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a long walk " + "é" * 20_000},
        {"text": "a walk", "stops": {str(n): n for n in range(100)}},
        {"text": "a walk", "deep": [[[[[[[["end"]]]]]]]]},
    ],
    ids=["long", "wide", "deep"],
)
def test_an_item_too_large_for_metadata_comes_back_as_it_was_put(store: Any, value: dict[str, Any]) -> None:
    store.put(("users", "ana"), "walk", value)
    assert store.get(("users", "ana"), "walk").value == value
    assert [item.value for item in store.search(("users",), query="walk")] == [value]
    with pytest.raises(UsageError, match="plain JSON"):
        store.put(("users", "ana"), "walk", {"text": "a walk", "x": object()})


def test_items_are_searched_by_meaning_filter_and_namespace(store: Any) -> None:
    for key, value in ITEMS.items():
        store.put(("users", "ana"), key, value)
    store.put(("teams",), "plan", {"text": "sushi for the whole team"})
    best = store.search(("users",), query="what vehicle does she have?")
    assert best[0].key == "car"
    assert best[0].score == pytest.approx(1.0)
    assert [item.key for item in store.search(("users",), filter={"n": {"$gte": 2}})] == ["lunch"]
    assert [item.key for item in store.search(("users",), filter={"n": 1})] == ["car"]
    assert [item.key for item in store.search(("users",), limit=1, offset=1)] == ["lunch"]
    with pytest.raises(ValueError, match="unknown operator"):
        store.search(("users",), filter={"n": {"$near": 2}})


def test_namespaces_are_listed(store: Any) -> None:
    for namespace in (("a", "b", "c"), ("a", "b"), ("x", "c")):
        store.put(namespace, "k", {"text": "t"})
    assert store.list_namespaces() == [("a", "b"), ("a", "b", "c"), ("x", "c")]
    assert store.list_namespaces(prefix=("a",)) == [("a", "b"), ("a", "b", "c")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("x", "c")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("x",)]
    assert store.list_namespaces(prefix=("*", "b"), limit=1) == [("a", "b")]


def test_the_asynchronous_half_works_too(store: Any) -> None:
    async def both() -> Any:
        await store.aput(("a",), "k", {"text": "t"})
        return await store.aget(("a",), "k")

    assert asyncio.run(both()).value == {"text": "t"}
