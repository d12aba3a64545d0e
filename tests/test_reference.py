"""The reference is what the code says: docs/reference/ is held against what scripts/reference.py would write now."""

from __future__ import annotations

import importlib.util
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from everwhen.api.operations import operations
from everwhen.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = ("python.md", "cli.md", "http.md", "mcp.md", "settings.md")


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    found = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert found is not None and found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def made(reference: ModuleType) -> dict[str, str]:
    pages: dict[str, str] = reference.pages()
    return pages


def test_the_pages_are_these(made: dict[str, str]) -> None:
    assert set(made) == set(PAGES) == {one.name for one in (ROOT / "docs" / "reference").iterdir()}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_the_code_says(made: dict[str, str], page: str) -> None:
    kept = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert kept == made[page], f"docs/reference/{page} is stale; `make reference` writes it anew"


def test_the_mcp_server_says_of_itself_what_is_kept_of_it(reference: ModuleType) -> None:
    kept = reference.LISTING.read_text(encoding="utf-8")
    assert kept == reference.listing(), f"{reference.LISTING.name} is stale; `make reference` writes it anew"


def test_every_operation_and_every_setting_is_there(made: dict[str, str]) -> None:
    assert not [name for name in operations() if f"\n### {name}\n" not in made["python.md"]]
    assert not [one.name for one in fields(Settings) if f"| `{one.name}` |" not in made["settings.md"]]


def test_every_setting_says_what_it_does(made: dict[str, str]) -> None:
    rows = [line for line in made["settings.md"].split("## Keys")[0].splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.rstrip(" |").count("|") < 3]
