"""The format of `training/written`, and that every file there keeps to it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import written

FILE = """# bank: two friends, Mira and Tom
@ 2024-03-05 19:10
0 Mira: Finally got the keys to the flat: Bell Street!
1 Tom: No way, congrats.
@ 2024-03-19 08:30
2 Tom: My dog moved in too

? fact | Where is Mira's new flat? | Bell Street | 0 | true
? first Mira | What street is my flat on? | Bell Street | 0 | true
? list | What happened? | keys, dog | 0 2 | true
? none Tom | What is Tom's dog called? |  | 2 |
"""


def read(folder: Path, text: str) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    path = folder / "friends.txt"
    path.write_text(text, encoding="utf-8")
    return written.read_bank(path)


def test_sessions_turns_and_questions_are_read(tmp_path: Path) -> None:
    bank, questions, faults = read(tmp_path, FILE)
    assert faults == []
    assert (bank["id"], bank["names"]) == ("friends", ["Mira", "Tom"])
    assert [session["at"] for session in bank["sessions"]] == ["2024-03-05 19:10", "2024-03-19 08:30"]
    assert bank["sessions"][0]["turns"][0] == ["Mira", "Finally got the keys to the flat: Bell Street!"]
    assert [one["kind"] for one in questions] == ["fact", "first", "list", "none"]
    assert questions[1] == {
        "kind": "first",
        "person": "Mira",
        "question": "What street is my flat on?",
        "answer": "Bell Street",
        "places": [[0, 0]],
        "speaker": "Mira",
        "status": "true",
    }
    assert questions[2]["places"] == [[0, 0], [1, 0]]
    assert (questions[3]["answer"], questions[3]["status"], questions[3]["speaker"]) == ("", "", "Tom")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("? fact | Where? | Bell Street | 0", "line 12: a question has five parts"),
        ("? riddle | Where? | Bell Street | 0 | true", "line 12: unknown kind 'riddle'"),
        ("? fact | Where? | Bell Street | 9 | true", "line 12: it names no turn, or one that is not there"),
        ("? fact | Where? | Bell Street |  | true", "line 12: it names no turn, or one that is not there"),
        ("? fact | Where? | Bell Street | 0 | maybe", "line 12: unknown status 'maybe'"),
        ("Tom says hello", "line 12: neither session, turn nor question"),
    ],
)
def test_a_fault_is_named_with_its_line_and_left_out(tmp_path: Path, line: str, fault: str) -> None:
    _, questions, faults = read(tmp_path, f"{FILE}{line}\n")
    assert faults == [fault]
    assert len(questions) == 4


@pytest.fixture(scope="module")
def banks() -> list[tuple[Path, dict[str, Any], list[dict[str, Any]], list[str]]]:
    return [(path, *written.read_bank(path)) for path in sorted(written.FOLDER.glob("*.txt"))]


def test_no_file_has_a_fault(banks: list[Any]) -> None:
    assert [(path.name, faults) for path, _, _, faults in banks if faults] == []


def test_as_many_conversations_turns_and_questions_as_the_documents_say(banks: list[Any]) -> None:
    turns = sum(len(session["turns"]) for _, bank, _, _ in banks for session in bank["sessions"])
    kinds = Counter(one["kind"] for _, _, questions, _ in banks for one in questions)
    assert set(kinds) == set(written.KINDS)
    renewed = sum(len(bank["renewals"]) for _, bank, _, _ in banks)
    readme = (written.FOLDER / "README.md").read_text(encoding="utf-8")
    noted = sum(len(bank["facts"]) for _, bank, _, _ in banks)
    counted = f"{len(banks)} conversations, {turns:,} turns, {sum(kinds.values()):,} questions, {renewed:,} renewals"
    assert f"{counted} and {noted:,} facts" in readme


def test_what_was_replaced_is_said_before_what_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "bank.txt"
    talk = "@ 2024-03-05 19:10\n0 Mira: Dentist on Tuesday.\n1 Tom: Ouch.\n2 Mira: Make that Thursday.\n"
    path.write_text(f"{talk}~ When is the dentist? | 2 | 0 | 1\n~ When? | 0 | 2 |\n", encoding="utf-8")
    bank, _, faults = written.read_bank(path)
    assert bank["renewals"] == [
        {"question": "When is the dentist?", "holds": [[0, 2]], "older": [[0, 0]], "others": [[0, 1]]}
    ]
    assert faults == ["line 6: what was replaced is said before what replaces it"]


def test_turns_are_numbered_from_zero_and_sessions_ascend(banks: list[Any]) -> None:
    for path, bank, _, _ in banks:
        text = path.read_text(encoding="utf-8")
        numbers = [int(one) for one in re.findall(r"^(\d+) [^:\n]{1,30}: ", text, re.MULTILINE)]
        assert numbers == list(range(len(numbers))), path.name
        times = [session["at"] for session in bank["sessions"]]
        assert times == sorted(times), path.name


def test_answers_are_what_their_kind_asks_for(banks: list[Any]) -> None:
    for path, bank, questions, _ in banks:
        for one in questions:
            session, turn = one["places"][0]
            text = bank["sessions"][session]["turns"][turn][1]
            if one["kind"] in ("fact", "para", "first", "you"):
                assert one["answer"].lower().strip(" .") in text.lower(), (path.name, one)
            elif one["kind"] in ("yes", "no"):
                assert one["answer"].lower() == one["kind"], (path.name, one)
            elif one["kind"] == "none":
                assert one["answer"] == "", (path.name, one)
