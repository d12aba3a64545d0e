"""The LoCoMo runner, on a small conversation of our own, with the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everwhen.errors import UsageError
from everwhen.store.sqlite.connection import bank_names
from everwhen_bench import locomo
from everwhen_bench.locomo import evidence

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ines",
        "speaker_b": "Tom",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ines", "dia_id": "D1:1", "text": "I adopted a tortoise called Basil last week."},
            {"speaker": "Tom", "dia_id": "D1:2", "text": "Does the tortoise like strawberries?"},
            {"speaker": "Ines", "dia_id": "D1:3", "text": "Basil eats nothing but dandelions."},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [
            {"speaker": "Tom", "dia_id": "D2:1", "text": "My violin exam is on Friday."},
            {"speaker": "Ines", "dia_id": "D2:2", "text": "Good luck with the violin, play the Bach."},
            {"speaker": "Tom", "dia_id": "D2:3", "text": "Look!", "blip_caption": "a violin on a red chair"},
        ],
    },
    "qa": [
        {"question": "What is Ines's tortoise called?", "category": 4, "evidence": ["D1:1"]},
        {
            "question": "What does Basil the tortoise eat?",
            "category": 1,
            "evidence": ["D1:3; D:1:02", "D9:9"],
        },
        {"question": "When is the violin exam?", "category": 2, "evidence": ["D2:1"]},
        {"question": "What would Tom play?", "category": 3, "evidence": ["D"]},
        {"question": "What colour is Tom's submarine?", "category": 5, "evidence": ["D1:1"]},
    ],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "locomo.json"
    path.write_text(json.dumps([SAMPLE, {**SAMPLE, "sample_id": "conv-2"}]))
    return path


@pytest.fixture(scope="module")
def result(data: Path, home: Path) -> dict[str, Any]:
    return locomo.run(data, limit=1, home=home)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (["D1:1", "D1:3"], ["D1:1", "D1:3"]),
        (["D1:1; D1:3"], ["D1:1", "D1:3"]),
        (["D1:1 D1:3", "D1:1"], ["D1:1", "D1:3"]),
        (["D:1:3"], ["D1:3"]),
        (["D01:03"], ["D1:3"]),
        (["D", "", "D7:1", "1:3", "D1"], []),
    ],
)
def test_evidence_is_put_right_where_it_is_plain_and_dropped_where_it_is_not(
    raw: list[str], expected: list[str]
) -> None:
    assert evidence(raw, {"D1:1", "D1:2", "D1:3"}) == expected


def test_a_run_lists_single_turns_of_the_conversation_each_once(result: dict[str, Any]) -> None:
    known = {f"D{session}:{turn}" for session in (1, 2) for turn in (1, 2, 3)}
    assert [run["qa_index"] for run in result["runs"]] == [0, 1, 2, 3, 4]
    for run in result["runs"]:
        assert set(run) == {
            "sample_id",
            "qa_index",
            "category",
            "ranked",
            "context",
            "when",
            "answerable",
            "ms",
        }
        assert set(run["ranked"]) <= known
        assert len(run["ranked"]) == len(set(run["ranked"]))
        assert set(run["context"]) == {"512", "1024", "4096"}
        assert run["ms"] > 0
        assert isinstance(run["answerable"], float)


def test_the_obvious_turns_come_first(result: dict[str, Any]) -> None:
    assert result["runs"][0]["ranked"][0] == "D1:1"
    assert result["runs"][2]["ranked"][0] == "D2:1"
    assert "D2:1" in result["runs"][2]["context"]["512"]


def test_figures_leave_out_what_cannot_be_scored_and_count_it(result: dict[str, Any]) -> None:
    assert result["questions"] == 3
    assert result["left_out"] == {"no_evidence": 1, "adversarial": 1}
    assert set(result["by_category"]) == {"1", "2", "4"}
    assert result["turn"]["recall@10"] == 1.0
    assert result["session"]["recall@5"] == 1.0
    assert result["tokens"]["4096"] == 1.0
    assert result["over_budget"] == 0
    assert result["abstention"]["n"] == 1
    assert 0 <= result["abstention"]["auroc"] <= 1
    assert result["ingest"]["turns"] == 6
    assert result["latency_ms"]["recall_p50"] <= result["latency_ms"]["recall_p99"]


def test_the_output_has_every_key_of_the_contract_and_is_plain_json(result: dict[str, Any]) -> None:
    promised = (
        "questions turn session tokens by_category when abstention latency_ms stages_ms ingest ablations runs"
    )
    assert set(promised.split()) <= set(result)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert (result["bench"], result["data"], result["when"]) == ("locomo", "locomo.json", None)


def test_banks_stay_in_a_home_that_was_named(result: dict[str, Any], home: Path) -> None:
    assert bank_names(home) == ["bench-locomo-conv-1"]


def test_without_a_home_only_the_cache_stays(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_HOME", str(tmp_path))
    heard: list[int] = []
    locomo.run(data, limit=1, progress=heard.append)
    assert heard == [1, 2, 3, 4, 5]
    assert bank_names(tmp_path / "bench") == []
    assert not list((tmp_path / "bench" / "banks").iterdir())


def test_a_second_run_does_not_count_the_first_ones_memories(
    data: Path, home: Path, result: dict[str, Any]
) -> None:
    again = locomo.run(data, limit=1, home=home)
    assert [run["ranked"] for run in again["runs"]] == [run["ranked"] for run in result["runs"]]
    assert again["ingest"]["turns"] == 6


def test_when_questions_are_answered_and_scored(data: Path, home: Path, tmp_path: Path) -> None:
    gold = tmp_path / "when.json"
    friday = {"start": "2023-06-02", "end": "2023-06-03"}
    asked = [
        {"sample_id": "conv-1", "qa_index": 2, **friday},
        {"sample_id": "conv-7", "qa_index": 0, **friday},
    ]
    gold.write_text(json.dumps(asked))
    result = locomo.run(data, when=gold, limit=1, home=home)
    assert result["when"] == {
        "n": 1,
        "answered": 1,
        "accuracy": 1.0,
        "precision": 1.0,
        "risk_coverage": [[1.0, 1.0]],
    }
    dated = [run["when"] for run in result["runs"]]
    assert dated[:2] == [None, None] and dated[3:] == [None, None]
    assert (dated[2]["start"], dated[2]["end"]) == ("2023-06-02T00:00:00Z", "2023-06-03T00:00:00Z")
    json.dumps(result, allow_nan=False)


def test_a_file_that_holds_no_when_questions_is_refused(data: Path, home: Path, tmp_path: Path) -> None:
    gold = tmp_path / "when.json"
    for text in ("[1]", json.dumps([{"sample_id": "conv-1", "qa_index": 2}])):
        gold.write_text(text)
        with pytest.raises(UsageError, match="not a list of when questions"):
            locomo.run(data, when=gold, limit=1, home=home)


def test_nothing_asked_is_nothing_measured(data: Path, home: Path) -> None:
    result = locomo.run(data, limit=0, home=home)
    assert (result["questions"], result["turn"], result["runs"]) == (0, {}, [])
    json.dumps(result, allow_nan=False)
