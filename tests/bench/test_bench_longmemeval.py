"""The LongMemEval runner, on haystacks of our own, with the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everwhen_bench import longmemeval

TORTOISE = [
    {"role": "user", "content": "My tortoise Basil turned forty today.", "has_answer": True},
    {"role": "assistant", "content": "Happy birthday to Basil!"},
]
VIOLIN = [
    {"role": "user", "content": "I broke a string of my violin."},
    {"role": "assistant", "content": "Ouch."},
]
SOUP = [{"role": "user", "content": "How long does lentil soup take?"}]


def _question(name: str, question: str, kind: str, **changes: Any) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": kind,
        "question": question,
        "answer": "",
        "question_date": "2023/05/30 (Tue) 09:00",
        "haystack_session_ids": ["s-tortoise", "s-violin", "s-soup", "s-violin"],
        "haystack_dates": [
            "2023/05/20 (Sat) 18:00",
            "2023/05/21 (Sun) 10:00",
            "2023/05/22 (Mon) 11:00",
            "2023/05/29 (Mon) 12:00",
        ],
        "haystack_sessions": [TORTOISE, VIOLIN, SOUP, VIOLIN],
        "answer_session_ids": ["s-tortoise"],
        **changes,
    }


QUESTIONS = [
    _question("q1", "How old is my tortoise Basil?", "single-session-user"),
    _question("q2", "What broke on my violin?", "multi-session", answer_session_ids=["s-violin", "s-gone"]),
    _question("q3_abs", "What is my parrot called?", "single-session-user"),
]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("lme")
    (folder / "lme.json").write_text(json.dumps(QUESTIONS))
    return longmemeval.run(folder / "lme.json", home=folder)


def test_ranks_are_places_in_the_file_each_once(result: dict[str, Any]) -> None:
    places = {("s-tortoise", 0), ("s-tortoise", 1), ("s-violin", 0), ("s-violin", 1), ("s-soup", 0)}
    for run in result["runs"]:
        assert set(run) == {"question_id", "question_type", "ranked", "context", "answerable", "ms"}
        ranked = [tuple(pair) for pair in run["ranked"]]
        assert set(ranked) <= places
        assert len(ranked) == len(set(ranked))
    assert result["runs"][0]["ranked"][0] == ["s-tortoise", 0]
    assert ["s-tortoise", 0] in result["runs"][0]["context"]["512"]


def test_turns_are_scored_by_has_answer_and_sessions_by_the_answer_sessions(result: dict[str, Any]) -> None:
    assert result["questions"] == 2
    # No turn of the violin says has_answer for q2 but the tortoise's does: it is the file's word that counts.
    assert result["by_type"]["single-session-user"]["turn"]["recall@5"] == 1.0
    assert result["by_type"]["multi-session"]["session"]["recall@5"] == 1.0


def test_abstention_questions_count_for_confidence_alone(result: dict[str, Any]) -> None:
    assert result["abstention"]["n"] == 1
    assert result["abstention"]["auroc"] == 1.0
    assert result["left_out"] == {"no_evidence_turn": 0, "abstention": 1}


def test_a_question_without_an_evidence_turn_still_has_its_session(tmp_path: Path) -> None:
    path = tmp_path / "lme.json"
    silent = [{"role": "user", "content": "I broke a string of my violin."}]
    path.write_text(
        json.dumps(
            [
                _question(
                    "q4",
                    "What broke on my violin?",
                    "multi-session",
                    haystack_session_ids=["s-violin"],
                    haystack_dates=["2023/05/21 (Sun) 10:00"],
                    haystack_sessions=[silent],
                    answer_session_ids=["s-violin"],
                )
            ]
        )
    )
    result = longmemeval.run(path, home=tmp_path)
    assert result["turn"] == {}
    assert result["session"]["recall@5"] == 1.0
    assert result["left_out"]["no_evidence_turn"] == 1


def test_the_output_is_plain_json_with_every_key_of_the_contract(result: dict[str, Any]) -> None:
    promised = (
        "questions turn session tokens by_type when abstention latency_ms stages_ms ingest ablations runs"
    )
    assert set(promised.split()) <= set(result)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["ingest"]["turns"] == 7 * 3
