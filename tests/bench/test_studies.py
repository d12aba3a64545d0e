"""The registry of studies: what is there is found by name, and says what it asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen.api.memory import Memory
from everwhen.errors import NotFound
from everwhen.store.sqlite.connection import bank_path
from everwhen_bench import studies
from everwhen_bench.studies import channels, prefix, satf, writing
from tests.bench.test_bench_locomo import SAMPLE

START = datetime(2024, 1, 1, tzinfo=UTC)


def test_every_study_says_what_it_asks() -> None:
    for name, asks in studies.names().items():
        assert asks.endswith((".", "?")), name


def test_a_study_that_is_not_there_is_refused_with_the_names_of_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there are:"):
        studies.run("nothing", studies.Request(tmp_path))


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[studies.Request]:
    folder = tmp_path_factory.mktemp("study")
    (folder / "locomo.json").write_text(json.dumps([SAMPLE]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_HOME", str(folder / "home"))
        yield studies.Request(folder / "locomo.json")


@pytest.mark.parametrize("name", ["satf", "channels", "narratives", "stages", "writing"])
def test_a_study_brings_tables_and_the_figures_behind_them(name: str, request_: studies.Request) -> None:
    result = studies.run(name, request_)
    json.dumps(result, allow_nan=False)
    assert result["study"] == name and result["data"] == "locomo.json"
    for table in result["tables"]:
        assert table["rows"] and all(len(row) == len(table["heads"]) for row in table["rows"])
    assert result["figures"]["questions"] == 3


TALK = (
    ("I live in Leeds.", "Good to know."),
    ("My sister Marta works at a bakery.", "That sounds warm."),
    ("I have a tortoise called Basil.", "What does he eat?"),
    ("Basil eats nothing but dandelions.", "He must like the spring."),
    ("What shall I cook for Marta?", "Bread she will have enough of."),
    ("I play the violin on Thursdays.", "For how long already?"),
    ("Does Basil need a lamp in winter?", "A warm one."),
    ("We went to the lake yesterday.", "Was it cold?"),
    ("Where could I play the violin with others?", "Ask at the library."),
    ("Marta asks for the lake again.", "Then go on Sunday."),
    ("Basil has found the strawberries.", "So much for dandelions."),
    ("Is Sunday still free?", "It is."),
)
AT_LENGTH = "Take your time with it, there is no hurry, and nobody but you can say what feels right. " * 5
"""An assistant's answers are long: without a history the two ways hardly differ."""


def test_more_of_a_prompt_stays_where_memories_stand_before_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [text for asked, answered in TALK for text in (asked, f"{answered} {AT_LENGTH}")]
    sessions: dict[str, Any] = {"speaker_a": "Ines", "speaker_b": "Tom"}
    for number, start in enumerate(range(0, len(told), 8), 1):
        sessions[f"session_{number}_date_time"] = f"1:56 pm on {number + 7} May, 2023"
        sessions[f"session_{number}"] = [
            {"speaker": ("Ines", "Tom")[place % 2], "dia_id": f"D{number}:{place + 1}", "text": text}
            for place, text in enumerate(told[start : start + 8])
        ]
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps([{"sample_id": "conv-1", "conversation": sessions, "qa": []}]))
    monkeypatch.setenv("EVERWHEN_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(prefix, "TURNS", 8)

    result = studies.run("prefix", studies.Request(data))
    json.dumps(result, allow_nan=False)
    runs = {(one["when"], one["way"]): one for one in result["figures"]["runs"]}
    for when in ("in one sitting", "on its own days"):
        ours, rewritten, kept = (runs[when, way] for way in prefix.WAYS)
        assert ours["calls"] == rewritten["calls"] == kept["calls"] == 8
        assert 2 * rewritten["shared"] / rewritten["sent"] < ours["shared"] / ours["sent"] < 1
        assert kept["sent"] > ours["sent"]


def test_satf_with_alpha_nought_changes_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path, extract="none", cache_entries=0) as memory:
        for day in range(6):
            memory.add(f"Basil ate {day} figs", session=f"s{day}", at=START + timedelta(days=day**2))
        found = memory.recall("what did Basil eat").memories
    assert satf.rescored(found, satf.Numbers(alpha=0.0), 25.0) == (list(found), True)
    kept, active = satf.rescored(found, satf.Numbers(gamma=1.1), 25.0)
    assert (list(kept), active) == (list(found), False)


def test_two_hops_reach_what_two_links_lead_to_and_no_further() -> None:
    edges = {1: [(2, 0.9), (5, 0.01)], 2: [(3, 0.5)], 3: [(4, 1.0)]}
    numbers = {"decay": 0.8, "min_edge": 0.1, "stop": 0.1}
    neighbours = lambda units: {unit: edges.get(unit, []) for unit in units}  # noqa: E731
    reached = channels.two_hops(neighbours, {1: 0.9}, **numbers, limit=10)
    assert reached == {1: 0.9, 2: 0.8, 3: pytest.approx(0.64)}
    assert set(channels.two_hops(neighbours, {1: 0.9}, **numbers, limit=2)) == {1, 2}


def test_the_bytes_of_a_bank_are_told_by_what_they_hold(tmp_path: Path) -> None:
    with Memory.open(tmp_path, extract="none", cache_entries=0) as memory:
        memory.add("Basil ate a fig")
    held = writing.storage(bank_path(tmp_path, "default"))
    assert held["vectors"] > 0 and held["words and terms"] > 0
    assert sum(held.values()) <= bank_path(tmp_path, "default").stat().st_size
