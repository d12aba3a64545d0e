"""What the pages about the server show is true: the client's example runs, the configurations start what they name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from everwhen.cli.app import run
from tests.serve.conftest import Served

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_client_runs(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    example = re.search(r"```text\n(from everwhen import Client\n.*?)```", page, re.DOTALL)
    assert example is not None
    exec(example[1].replace("http://127.0.0.1:8765", served.url), {"key": served.key("write", "ana")})
    assert "I moved to Porto last week" in capsys.readouterr().out


def test_every_route_that_the_page_names_exists(served: Served) -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    paths = set(httpx.get(f"{served.url}/openapi.json").json()["paths"])
    known = {re.sub(r"\{\w+\}", "{}", path) for path in paths}
    named = re.findall(r"`(/[a-z/{}]+)`", page)
    assert len(named) > 10
    for name in named:
        short = re.sub(r"\{\w+\}", "{}", name)
        assert {short, f"/v1/banks/{{}}{short}"} & known or name in (
            "/v1", "/mcp", "/mcp/{bank}", "/ui", "/openapi.json", "/v1/banks/{bank}",
        ), name  # fmt: skip


def test_the_configurations_of_the_mcp_page_name_a_command_that_exists() -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert len(found) == 3
    for one in found:
        (server,) = (one.get("mcpServers") or one["servers"]).values()
        assert "url" in server or (server["command"], server["args"][:2]) == ("everwhen", ["server", "mcp"])
    assert run(["server", "mcp", "--help"]) == 0


def test_the_image_runs_as_nobody_with_a_volume() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert '".[serve,ui,llm,postgres]"' in dockerfile, "the page and language models are served too"
    assert "\nUSER everwhen\n" in dockerfile and "\nVOLUME /data\n" in dockerfile
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert "read_only: true" in compose and "127.0.0.1:8765:8765" in compose
