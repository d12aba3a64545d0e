"""The examples run, against servers that answer from a script."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from tests.scripted_server import ScriptedServer, call, calls, text

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _at_the_server(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.root)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_tested() -> None:
    tested = {"openai_tools", "pydantic_ai_agent", "langgraph_store", "anthropic_memory_tool"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_openais_client(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.then(
        calls(("search_events", {"query": "moving"}), ("timeline", {"bank": "other"})),
        text("In the week of 3 March 2025, to Porto."),
    )
    assert run("openai_tools", capsys) == "In the week of 3 March 2025, to Porto.\n"
    told = json.dumps(server.asked[1].body["messages"])
    assert "the week of 3 March 2025" in told
    assert "takes no 'bank'" in told


def test_a_pydantic_ai_agent(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.then(call("grep_events", {"pattern": "beagle"}), text("On 7 April 2025."))
    assert run("pydantic_ai_agent", capsys) == "On 7 April 2025.\n"
    assert "7 April 2025" in json.dumps(server.asked[1].body["messages"])


def test_a_langgraph_node(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langgraph.store.base", reason="pip install langgraph-checkpoint")
    server.then(text("A salad."))
    assert run("langgraph_store", capsys) == "A salad.\n3 versions are kept\n"
    assert "no meat and no fish" in server.asked[0].prompt


def test_claudes_memory_tool(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    create = {"command": "create", "path": "/memories/drinks.txt", "file_text": "drinks mate"}
    server.then(
        call("memory", {"command": "view", "path": "/memories"}), call("memory", create), text("Noted.")
    )
    assert run("anthropic_memory_tool", capsys) == "Noted.\n/memories/drinks.txt | drinks mate\n"
    results = [
        message["content"] for message in server.asked[2].body["messages"] if message["role"] == "user"
    ]
    assert results[-1][0]["content"] == "File created successfully at: /memories/drinks.txt"
