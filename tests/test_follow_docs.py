"""The quick part of `make follow-docs`: the README, done word by word by a shell and an interpreter of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripted_server import ScriptedServer, text

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    found = importlib.util.spec_from_file_location("follow_docs", ROOT / "scripts" / "follow_docs.py")
    assert found is not None and found.loader is not None
    made = importlib.util.module_from_spec(found)
    sys.modules["follow_docs"] = made  # dataclasses look their module up
    found.loader.exec_module(made)
    return made


@pytest.fixture
def environment() -> dict[str, str]:
    return {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.timeout(900)  # ten processes, each of which loads its models
def test_the_readme_succeeds_word_by_word(
    script: ModuleType, environment: dict[str, str], tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.always(text("I see."))
        model = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        steps = script.follow(ROOT / "README.md", script.here({**environment, **model}, tmp_path))
        asked = [one.prompt for one in server.asked]
    assert not [str(step) for step in steps if step.failed]
    done = [step.what for step in steps if step.done == "ok"]
    assert sum(what.startswith("python:") for what in done) == 2
    assert [what.split()[1] for what in done if what.startswith("everwhen")] == [
        "add",
        "recall",
        "when",
        "setup",
        "setup",
    ]
    assert "allergic to nuts" in asked[-1], "the second call has what the first one said"


def test_a_line_or_a_block_that_fails_is_told_with_its_output(
    script: ModuleType, environment: dict[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ everwhen recall\n$ everwhen bank list\n```\n\n```python\nkept = 1\n```\n\n"
        "```python\nassert kept == 2\n```\n",
        encoding="utf-8",
    )
    steps = script.follow(page, script.here(environment, tmp_path))
    assert [step.done for step in steps] == ["FAILED", "ok", "ok", "FAILED"]
    assert "Missing argument" in str(steps[0]) and "AssertionError" in str(steps[3])


def test_every_guide_that_is_followed_exists(script: ModuleType) -> None:
    assert not [page for page in script.GUIDES if not (ROOT / page).exists()]
