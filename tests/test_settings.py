"""Every setting acts: what is set changes what is recalled, asked or written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import everwhen
from everwhen import Memory, UsageError
from everwhen.api.operations.recipe_body import read_recipe
from everwhen.cli.app import run
from everwhen.settings import Settings
from everwhen.types.recall import Recipe
from tests.scripted_server import ScriptedServer, data

START = datetime(2025, 3, 3, 10, tzinfo=UTC)
ASKED = datetime(2025, 6, 1, tzinfo=UTC)
TALK = (
    "I had a violin lesson with Carlos today.",
    "The violin lesson was long, my arm hurts.",
    "Carlos has a violin from 1910.",
    "My lesson on Friday was better.",
    "Rain all day long.",
    "Carlos bought a kayak and a violin.",
)
QUESTION = "Which violin lesson did I have in March 2025?"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a bank that has events, names and links."""
    home = tmp_path_factory.mktemp("home")
    with Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add_many(
            {
                "content": f"{text} {thing} {week}{place}",
                "name": "Ana",
                "id": f"t{week}{place}",
                "session": f"s{week}",
                "timestamp": START + timedelta(days=7 * week, hours=5 * place),
            }
            for week, thing in enumerate(("kayak", "garden", "piano", "bicycle"))
            for place, text in enumerate(TALK)
        )
        memory.flush()
    return home


LOOSE: dict[str, Any] = {"graph_seed_similarity": 0.1, "graph_similarity": 0.0, "graph_stop": 0.001} | {
    "temporal_similarity": 0.05,
    "graph_recall": True,
}
"""Floors that the fake embedder's cosines reach, and the channel that is not on by itself."""


def found(home: Path, budget: str | int, **settings: Any) -> dict[str, dict[str, float]]:
    """What is recalled, with the score of each channel."""
    chosen = LOOSE | {"extract": "none", "count_access": False, "cache_entries": 0} | settings
    with Memory.open(home, "b", **chosen) as memory:
        recalled = memory.recall(QUESTION, budget=budget, at=ASKED, max_tokens=100_000)
    return {one.id: dict(one.why.scores) for one in recalled}


@pytest.mark.parametrize(
    ("name", "value", "budget"),
    [
        ("candidates", {"mid": 1}, "mid"),
        ("min_similarity", 0.9, 40),
        ("graph_recall", False, 40),
        ("graph_seeds", 0, 40),
        ("graph_seed_similarity", 0.99, 40),
        ("graph_similarity", 0.99, 40),
        ("graph_decay", 0.2, 40),
        ("graph_stop", 0.99, 40),
        ("min_edge", 1.0, 400),
        ("entity_fan_out", 1000, 400),
        ("temporal_similarity", 0.99, 40),
    ],
)
def test_a_number_of_recall_changes_what_is_recalled(
    told: Path, name: str, value: Any, budget: str | int
) -> None:
    assert found(told, budget, **{name: value}) != found(told, budget)
    channel = name.partition("_")[0]
    if channel in ("graph", "temporal"):  # and it changes its own channel
        changed, before = found(told, budget, **{name: value}), found(told, budget)
        assert {id_: one.get(channel) for id_, one in changed.items()} != {
            id_: one.get(channel) for id_, one in before.items()
        }


def test_what_a_temporal_link_passes_on_is_set(home: Path) -> None:
    """Beside the middle of the month stands more than at its edge, unless its neighbour passes on nearly nothing."""
    said = {
        "middle": (16, 0, "violin lesson"),
        "edge": (1, 0, "violin lesson"),
        "beside": (16, 1, "violin lesson rain"),
    }
    with Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0) as memory:
        for id_, (day, minute, text) in said.items():
            at = datetime(2025, 3, day, 12 * (day > 1), minute, tzinfo=UTC)
            memory.add({"content": text, "id": id_}, session=id_, at=at)
        memory.flush()

    def in_time(**settings: Any) -> list[str]:
        with Memory.open(home, "b", extract="none", **LOOSE | settings) as memory:
            found = memory.recall("violin lesson in March 2025", budget=2, at=ASKED)
        ranks = {one.id: one.why.ranks["temporal"] for one in found if "temporal" in one.why.ranks}
        return sorted(ranks, key=lambda id_: ranks[id_])

    assert in_time() == ["middle", "beside"]
    assert in_time(temporal_decay=0.01) == ["middle", "edge"]


@pytest.mark.parametrize(("name", "value"), [("SIGMA", 0.01), ("ALPHA", 0.0), ("GAMMA", 1.0), ("ANCHORS", 1)])
def test_the_numbers_of_satf_change_its_scores(
    told: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: float,
) -> None:
    def asked() -> list[tuple[str, float]]:
        code = run(["recall", QUESTION, "--bank", "b", "--home", str(told), "--satf", "--json"])
        assert code == 0
        return [(one["id"], one["score"]) for one in json.loads(capsys.readouterr().out)["memories"]]

    before = asked()
    monkeypatch.setenv(f"EVERWHEN_SATF_{name}", str(value))
    assert asked() != before


@pytest.mark.parametrize("name", ["graph_decay", "graph_stop", "min_edge", "temporal_decay", "satf_gamma"])
def test_a_share_lies_between_0_and_1(name: str) -> None:
    with pytest.raises(UsageError, match=f"setting {name} is a share, from 0 to 1, got 1.5"):
        Settings(**{name: 1.5})
    with pytest.raises(UsageError, match="graph_similarity is a cosine"):
        Settings(graph_similarity=-2)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer() as running:
        yield running


def opened(home: Path, server: ScriptedServer, **settings: Any) -> Memory:
    return Memory.open(
        home, "b", embedder="fake", cache_entries=0, llm_base_url=server.url, llm_attempts=1, **settings
    )


def test_extraction_and_planning_ask_at_the_temperature_and_the_address_that_are_set(
    home: Path, server: ScriptedServer
) -> None:
    server.always(data({"events": [], "narratives": [], "complexity": "simple", "keywords": []}))
    model = {"extract": "llm:openai:scripted", "recall_llm": "llm:openai:scripted"}
    with opened(home, server, llm_temperature=0.3, tree_recall=True, **model) as memory:
        memory.add("I bought a kayak.", at=START)
        memory.flush()
        extracted = len(server.asked)
        memory.recall("kayak")
    assert 0 < extracted < len(server.asked)
    assert {asked.body["temperature"] for asked in server.asked} == {0.3}


@pytest.mark.parametrize(("given", "sent"), [({}, 0.7), ({"consolidation_temperature": 0.2}, 0.2)])
def test_summaries_are_asked_for_at_their_own_temperature(
    home: Path, server: ScriptedServer, given: dict[str, float], sent: float
) -> None:
    server.always(data({"sentences": []}))
    with opened(home, server, extract="none", consolidate="llm:openai:scripted", **given) as memory:
        memory.add(["I bought a kayak.", "It is heavy."], at=START)
        memory.consolidate("end")
    assert server.asked and {asked.body["temperature"] for asked in server.asked} == {sent}


SOURCES = {
    path: path.read_text("utf-8")
    for path in Path(everwhen.__file__).parent.rglob("*.py")
    if path.name != "settings.py"
}


@pytest.mark.parametrize("name", [one.name for one in fields(Settings)])
def test_every_setting_is_read_where_something_is_done(name: str) -> None:
    """A name that stands only in `settings.py` is a setting that changes nothing."""
    read = re.compile(rf"\.{name}\b")
    assert any(read.search(text) for text in SOURCES.values()), f"nobody reads the setting {name}"


def test_a_recipe_over_http_has_the_numbers_of_the_library() -> None:
    assert read_recipe("recall", {}) == Recipe()
