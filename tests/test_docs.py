"""Documents are executed: every code block of the README and of docs/ runs, in the order of the page."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everwhen.cli.app import run
from tests.scripted_server import ScriptedServer, text

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "src" / "everwhen_time" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
GENERATED = ("python.md", "cli.md", "http.md", "mcp.md", "settings.md")
"""Pages in docs/reference/, which `make reference` writes."""
LINKING = [
    *PAGES,
    ROOT / "SECURITY.md",
    ROOT / "benchmarks" / "README.md",
    ROOT / "training" / "README.md",
    *sorted((ROOT / "benchmarks" / "history").glob("*.md")),
]
"""Pages whose links are followed."""
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_code_block_of_the_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    server: ScriptedServer,
) -> None:
    server.always(text("I see."))
    for name, address in (("OPENAI", server.url), ("ANTHROPIC", server.root)):
        monkeypatch.setenv(f"{name}_BASE_URL", address)
        monkeypatch.setenv(f"{name}_API_KEY", "none")
    if page.name == "scale.md":  # its commands are about a database
        monkeypatch.setenv("EVERWHEN_STORE", request.getfixturevalue("postgres_url"))
    monkeypatch.chdir(tmp_path)  # what a block writes is gone afterwards
    monkeypatch.setenv("HOME", str(tmp_path))  # as is what `setup` writes for other programs
    names: dict[str, Any] = {"__name__": "__main__"}
    for kind, block in blocks(page):
        if kind == "python":
            exec(compile(block, str(page), "exec", dont_inherit=True), names)
        elif kind == "console":
            _commands(block)
        elif kind == "json":
            json.loads(block)
        else:
            assert kind in ("text", "toml", "sql", "mermaid"), f"{page.name} has a block of kind {kind}"


def _commands(text: str) -> None:
    """Run the lines of a terminal session that call everwhen; the others must name what exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        words = shlex.split(line[2:], comments=True)
        if words[0] == "everwhen" and words[1] in (
            "serve",
            "ui",
        ):  # goes on until it is ended: scripts/follow_docs.py
            assert run([words[1], "--help"]) == 0, line
        elif words[0] == "everwhen" and words[1] != "bench":
            assert run(words[1:]) == 0, line
        elif words[0] == "make":
            for target in words[1:]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), line
        else:
            assert words[0] in ("pip", "uvx", "git", "cd", "everwhen", "export", "curl", "jq"), line


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub and the site link to them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-")
        for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        there = page.parent / path if path else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            wrong.append(target)
    assert not wrong


def test_code_names_pages_that_exist() -> None:
    """Errors, comments and help name pages by their path."""
    for folder in ("src", "tests", "scripts", "benchmarks", "training", "examples"):
        for file in (ROOT / folder).rglob("*.py"):
            for name in re.findall(
                r"\b(?:docs|benchmarks/history)/[\w/-]+\.md\b", file.read_text(encoding="utf-8")
            ):
                assert (ROOT / name).exists(), f"{file.relative_to(ROOT)} names {name}"


def test_the_readme_fits_three_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_figure_beside_other_memories_is_the_same_wherever_it_stands() -> None:
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    (measured,) = re.findall(
        r"<!-- peers-locomo-quality -->.*?^\| everwhen \| \S+ \| (\S+) ", results, re.M | re.S
    )
    figure = measured.strip("*")
    assert f"and {figure} with the other memories" in results
    assert f"| **{figure}** |" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["results.md", "performance.md"])
def test_a_page_of_figures_has_at_most_150_lines(name: str) -> None:
    assert len((ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()) <= 150


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    written = [str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert sorted(listed) == sorted([*written, *(f"reference/{name}" for name in GENERATED)])


def test_the_files_that_the_architecture_lists_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- files-passed -->\n(.*?)<!-- /files-passed -->", page, re.DOTALL)
    named = re.findall(r"`([\w/]+\.py)`", block)
    gone = [
        name for name in named if not any((ROOT / "src" / base / name).exists() for base in (".", "everwhen"))
    ]
    assert named and not gone, "run python scripts/files_passed.py --write"
