"""Events, entities and the graph from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import Shell, shell  # noqa: F401


@pytest.fixture
def told(shell: Shell) -> Shell:  # noqa: F811
    at = "2025-06-02T09:00:00Z"
    shell("add", "I moved to Porto yesterday with Rui.", "Rui never called me.", "--name", "Ana", "--at", at)
    return shell


def test_events_are_shown_with_their_dates(told: Shell) -> None:
    code, out, _ = told("show", "events")
    assert code == 0
    assert "1 June 2025" in out
    assert "Ana moved to Porto with Rui" in out and "yesterday" not in out
    (event,) = told.json("show", "events", "--status", "happened", "--subject", "Ana")
    assert (event["verb"], event["object"]) == ("move", "to Porto")
    assert event["occurred"] == {
        "start": "2025-06-01T00:00:00Z",
        "end": "2025-06-02T00:00:00Z",
        "grain": "day",
    }
    assert told.json("show", "events", "--between", "2025-01-01", "2025-02-01") == []


def test_entities_can_be_merged_and_it_can_be_taken_back(told: Shell) -> None:
    assert {one["name"] for one in told.json("show", "entities")} == {"Ana", "Porto", "Rui"}
    assert told.json("entity", "merge", "Ana", "Rui")["aliases"] == ["Rui"]
    assert {one["name"] for one in told.json("show", "entities")} == {"Ana", "Porto"}
    assert told("entity", "undo") == (0, "took back: merge\n", "")
    assert {one["name"] for one in told.json("show", "entities")} == {"Ana", "Porto", "Rui"}
    assert told("entity", "rename", "Rui", "Rui Costa")[0] == 0
    assert told.json("entity", "split", "Rui Costa", "Rui")["name"] == "Rui"
    code, _, err = told("entity", "merge", "Ana", "Nobody Here")
    assert (code, "nobody and nothing is called" in err) == (3, True)


def test_the_graph_of_an_entity_is_a_tree(told: Shell) -> None:
    code, out, _ = told("show", "graph", "Ana")
    assert code == 0
    assert "Ana (person)" in out
    assert "moved to Porto" in out
    found = told.json("show", "graph", "Rui")
    assert {one["name"] for one in found["with"]} == {"Ana", "Porto"}


def test_what_was_added_in_haste_is_extracted_later(shell: Shell) -> None:  # noqa: F811
    shell("add", "I bought a lamp yesterday", "--name", "Ana", "--no-wait")
    assert shell.json("bank", "stats")["pending"] == 1
    assert shell.json("bank", "process") == 1
    assert shell.json("bank", "stats")["events"] == 1
    assert shell.json("bank", "reextract") == 1
    assert "nothing was pending" in shell("bank", "process")[1]


def test_the_extraction_bench_scores_the_cited_turns(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    turns = [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "I sold my bike yesterday."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Great!"},
    ]
    sample = {
        "sample_id": "c1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
    }
    asked = {"sample_id": "c1", "question": "When?", "answer": "7 May 2023", "kind": "day"}
    gold = [
        {**asked, "qa_index": 0, "start": "2023-05-07", "end": "2023-05-08", "evidence": ["D1:1"]},
        {**asked, "qa_index": 1, "start": "2023-05-07", "end": "2023-05-08", "evidence": ["D1:2"]},
    ]
    data, when, out = (tmp_path / name for name in ("data.json", "when.json", "out.json"))
    data.write_text(json.dumps([sample]))
    when.write_text(json.dumps(gold))
    found = shell.json("bench", "extraction", "--data", str(data), "--when", str(when), "--out", str(out))
    assert found["accuracy"] == {"n": 2, "right": 1, "accuracy": 0.5}
    assert found["confusion"] == {"day": {"right": 1, "no event": 1}}
    assert [run["verdict"] for run in json.loads(out.read_text())["runs"]] == ["right", "no event"]


def test_a_read_that_does_not_wait_says_what_is_missing(
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell("add", "I moved to Porto yesterday.", "--no-wait")
    monkeypatch.setenv("EVERWHEN_WAIT_SECONDS", "0")
    code, out, err = shell("show", "events", "--json")
    assert (code, json.loads(out)) == (0, [])
    assert "1 turns are not read yet" in err
    monkeypatch.setenv("EVERWHEN_WAIT_SECONDS", "300")
    assert shell("bank", "process")[0] == 0
    assert "not read yet" not in shell("show", "events")[2]
