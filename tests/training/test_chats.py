"""The users of `training/chats` and the pairs of `training/pairs` keep to their formats."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import chats
import written

FILE = """@ 2025-02-11 22:30
0 user: what do I start with?
1 assistant: Three things:

  1. **Weight**
  2. Water
@ 2025-02-19 07:12
2 user: 250 kg
"""
TRAINING = Path(chats.__file__).parent


def test_turns_have_several_lines_and_queries_their_evidence(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text(FILE, encoding="utf-8")
    (tmp_path / "queries.txt").write_text("fact | how heavy? | 1.2 | 250 kg | 1.1\n", encoding="utf-8")
    user = chats.read(tmp_path)
    assert [one.id for one in user.messages] == ["1.0", "1.1", "1.2"]
    assert user.messages[1].text == "Three things:\n\n1. **Weight**\n2. Water"
    assert [one.session for one in user.messages] == ["1-1", "1-1", "1-2"]
    assert user.queries == [chats.Query("fact", "how heavy?", ("1.2",), "250 kg", ("1.1",))]
    assert user.asked_at.date() == date(2025, 2, 20)


def test_a_query_of_a_turn_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text(FILE, encoding="utf-8")
    (tmp_path / "queries.txt").write_text("fact | how heavy? | 1.9 | 250 kg |\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: unknown kind or turn"):
        chats.read(tmp_path)


def test_each_user_has_turns_of_both_and_only_a_near_miss_has_no_evidence() -> None:
    for folder in sorted(one for one in chats.FOLDER.iterdir() if one.is_dir()):
        user = chats.read(folder)
        roles = [one.role for one in user.messages]
        assert len(roles) >= 200 and abs(roles.count("user") - roles.count("assistant")) <= len(roles) * 0.05
        assert all((one.kind == "none") != bool(one.evidence) for one in user.queries), folder.name


def test_the_locked_users_are_apart() -> None:
    seen, locked = ({one.name for one in chats.read_all(locked=which)} for which in (False, True))
    assert locked == chats.LOCKED and not seen & locked


def test_each_question_about_a_pair_names_its_turns_and_an_interval() -> None:
    turns = {
        file.stem: sum(len(one["turns"]) for one in written.read_bank(file)[0]["sessions"])
        for file in (TRAINING / "pairs").glob("*.txt")
    }
    for line in (TRAINING / "when_pairs.jsonl").read_text("utf-8").splitlines():
        asked = json.loads(line)
        if asked.get("answerable", True):
            assert date.fromisoformat(asked["start"]) < date.fromisoformat(asked["end"])
            assert all(place < turns[asked["talk"]] for place in asked["evidence"])
