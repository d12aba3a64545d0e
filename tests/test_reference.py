"""The reference is made from the code by scripts/reference.py, and leaves nothing out."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import typer.main

from everwhen.api.operations.surface import operations
from everwhen.cli.app import app
from everwhen.settings import Settings

ROOT = Path(__file__).parents[1]


def _script(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert found is not None and found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return _script("reference")


@pytest.fixture(scope="module")
def made(reference: ModuleType) -> dict[str, str]:
    pages: dict[str, str] = reference.pages()
    return pages


def test_there_is_a_page_for_each_link_of_the_site(made: dict[str, str]) -> None:
    assert set(made) == set(_script("site_hooks").REFERENCE.values())


def test_the_mcp_server_answers_about_itself_as_the_kept_file_says(reference: ModuleType) -> None:
    kept = reference.LISTING.read_text(encoding="utf-8")
    assert kept == reference.listing(), f"{reference.LISTING.name} is stale; `make reference` writes it anew"


def test_every_operation_and_every_setting_is_there(made: dict[str, str]) -> None:
    assert not [name for name in operations() if f"\n### {name}\n" not in made["python.md"]]
    assert not [one.name for one in fields(Settings) if f"| `{one.name}` |" not in made["settings.md"]]


def test_every_command_that_help_lists_is_there(made: dict[str, str]) -> None:
    top = typer.main.get_command(app)
    shown = [name for name in top.list_commands(None) if not top.get_command(None, name).hidden]  # type: ignore[attr-defined]
    assert len(shown) > 10 and not [name for name in shown if f"\n## everwhen {name}\n" not in made["cli.md"]]


def test_routes_and_tools_have_a_description_and_their_fields(made: dict[str, str]) -> None:
    recall = made["http.md"].split("## POST /v1/banks/{bank}/recall\n")[1].split("\n## ")[0]
    assert "| `query` | body | needed |" in recall and "| `known_at` | body |" in recall
    search = made["mcp.md"].split("## search_memories\n")[1].split("\n## ")[0]
    assert "| `query` | needed |" in search and "| `as_of` |" in search


def test_every_setting_says_what_it_does(made: dict[str, str]) -> None:
    rows = [line for line in made["settings.md"].split("## Keys")[0].splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.rstrip(" |").count("|") < 3]


def test_links_to_the_reference_lead_to_the_generated_pages_on_the_site() -> None:
    hooks = _script("site_hooks")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="serve.md"))
    assert hooks.on_page_markdown("[x](reference.md#commands)", page) == "[x](reference/cli.md)"
    index = SimpleNamespace(file=SimpleNamespace(src_uri="reference.md"))
    text = hooks.on_page_markdown((ROOT / "docs" / "reference.md").read_text("utf-8"), index)
    assert sorted(re.findall(r"\]\(reference/([\w.]+)\)", text)) == sorted(hooks.REFERENCE.values())
