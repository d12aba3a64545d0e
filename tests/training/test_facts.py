"""What the reader learns from noted facts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import facts
import written

BANK = """# bank: a user and an assistant
@ 2024-03-05 19:10
0 user: I live in Ghent and my sister Ana works as a nurse.
1 assistant: Noted!
2 user: not Ghent any more btw, Bruges

! lives in | I | Ghent | 0 | true
! works as | my sister Ana | nurse | 0 | true
! lives in | - | Ghent | 2 | ended
! lives in | - | Bruges | 2 | true
! lives in | - | Paris | 2 | true
! owns nothing | I | Ghent | 0 | true
"""


@pytest.fixture
def bank(tmp_path: Path) -> dict[str, object]:
    path = tmp_path / "one.txt"
    path.write_text(BANK, "utf-8")
    held, _, faults = written.read_bank(path)
    assert [fault.partition(": ")[2] for fault in faults] == [
        "the turn does not have 'Paris'",
        "unknown relation 'owns nothing'",
    ]
    return dict(held)


def test_a_fact_is_asked_for_by_its_value_and_by_its_subject(bank: dict[str, object]) -> None:
    rows = facts.rows_of(bank, random.Random(1))
    told = {
        (row["question"], f"{row['speaker']}: {row['text']}"[slice(*row["place"])], row["status"])
        for row in rows
        if row["kind"] == "span"
    }
    assert ("Who lives in Ghent?", "I", "true") in told
    assert ("Who works as nurse?", "my sister Ana", "true") in told
    assert ("Who lives in Bruges?", "user", "true") in told  # no words say whose: the speaker's
    assert ("Who lives in Ghent?", "user", "ended") in told


def test_the_same_question_about_somebody_else_is_not_answered(bank: dict[str, object]) -> None:
    rows = facts.rows_of(bank, random.Random(1))
    refused = [row for row in rows if row["kind"] == "none"]
    assert refused
    assert all("place" not in row and "status" not in row for row in refused)
    assert not {row["question"] for row in refused} & {
        row["question"] for row in rows if row["kind"] == "span"
    }


def test_of_whom_the_same_is_told_is_never_taken_for_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    lines = ["@ 2024-03-05 19:10", "0 Mira: Tom lives in Ghent and Ana lives in Bruges, Ana is a nurse."]
    lines += [
        "! lives in | Tom | Ghent | 0 | true",
        "! lives in | Ana | Bruges | 0 | true",
        "! works as | Ana | nurse | 0 | true",
    ]
    path.write_text("\n".join(lines), "utf-8")
    bank, _, _ = written.read_bank(path)
    for seed in range(20):
        rows = facts.rows_of(bank, random.Random(seed))
        refused = {row["question"] for row in rows if row["kind"] == "none"}
        assert not refused & {"Where does Tom live?", "Where does Ana live?"}


def test_what_a_reader_mistook_for_a_fact_is_nobodys_and_what_it_saw_rightly_is_told(tmp_path: Path) -> None:
    path = tmp_path / "three.txt"
    lines = [
        "@ 2024-03-05 19:10",
        "0 user: Elias is at Martti school, with Oskari.",
        "! called | - | Elias | 0 | true",
    ]
    lines += ["+ studies at | Martti school | 0", "- lives in | Martti school | 0", "- lives in | Ghent | 0"]
    path.write_text("\n".join(lines), "utf-8")
    bank, _, faults = written.read_bank(path)
    assert faults == ["line 6: the turn does not have 'Ghent'"]
    refused = {row["question"] for row in facts.rows_of(bank, random.Random(1)) if row["kind"] == "none"}
    assert "Who lives in Martti school?" in refused
    assert bank["told too"] == [{"relation": "studies at", "value": "Martti school", "place": [0, 0]}]


def test_a_word_is_found_as_a_whole_and_near_to_the_value() -> None:
    assert written.place_in("If I say I, I mean it", "i", near=12) == (12, 13)
    assert written.place_in("Leeds", "lee") is None
