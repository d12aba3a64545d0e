"""Public conversations become banks: named speakers, dates that ascend, no placeholder left."""

from __future__ import annotations

import json
import lzma
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import banks


def dialogue(source: str, number: int) -> dict[str, Any]:
    return {
        "source": source,
        "turns": [
            ["1", f"Hello [Person 2] , it is [your name] 's day number {number} !"],
            ["2", "I do n't know , {user 1} ."],
        ],
    }


@pytest.fixture
def dialogues() -> list[dict[str, Any]]:
    some = [dialogue("synthetic-persona-chat", number) for number in range(banks.SESSIONS + 3)]
    return [*some, *(dialogue("taskmaster-4", number) for number in range(5))]


def test_each_dialogue_stands_in_one_bank_of_its_source(dialogues: list[dict[str, Any]]) -> None:
    made = list(banks.make_banks(dialogues, seed=1))
    assert [len(bank["sessions"]) for bank in made] == [banks.SESSIONS, 3, 5]
    used = [session["dialogue"] for bank in made for session in bank["sessions"]]
    assert sorted(used) == list(range(len(dialogues)))
    for bank in made:
        assert {dialogues[session["dialogue"]]["source"] for session in bank["sessions"]} == {bank["source"]}


def test_speakers_are_two_names_through_a_bank_and_user_and_assistant_where_one_assists(
    dialogues: list[dict[str, Any]],
) -> None:
    people, _, assisted = banks.make_banks(dialogues, seed=1)
    assert len(set(people["names"])) == 2
    assert set(people["names"]) <= set(banks.NAMES)
    for bank in (people, assisted):
        for session in bank["sessions"]:
            assert [speaker for speaker, _ in session["turns"]] == bank["names"]
    assert assisted["names"] == ["user", "assistant"]


def test_the_characters_of_a_series_keep_their_first_names() -> None:
    shows = [{"source": "friendsqa", "turns": [["Monica Geller", "Hi !"]], "qa": [{"question": "Who?"}]}]
    (bank,) = banks.make_banks(shows, seed=1)
    assert bank["sessions"][0]["turns"] == [["Monica", "Hi!"]]
    assert bank["sessions"][0]["qa"] == [{"question": "Who?"}]


def test_no_placeholder_and_no_blank_of_a_tokenizer_is_left(dialogues: list[dict[str, Any]]) -> None:
    for bank in banks.make_banks(dialogues, seed=1):
        for session in bank["sessions"]:
            (_, hello), (_, answer) = session["turns"]
            first, second = bank["names"]
            assert re.fullmatch(rf"Hello ({first}|{second}), it is {second}'s day number \d+!", hello)
            assert answer == f"I don't know, {first}."


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("I am [Name]", "I am Ana"),
        ("You are [the other person's name]", "You are Ben"),
        ("Hi {user}", "Hi Ana"),
        ("Hi <Speaker 1>", "Hi Ana"),
        ("I 'm gon na go ,  ok ?", "I'm gonna go, ok?"),
        ("see [1] (really)", "see [1] (really)"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert banks.clean(text, ["Ana", "Ben"], "Ana") == cleaned


def test_sessions_ascend_in_time(dialogues: list[dict[str, Any]]) -> None:
    for bank in banks.make_banks(dialogues, seed=1):
        times = [datetime.fromisoformat(session["at"]) for session in bank["sessions"]]
        assert times == sorted(set(times))


def test_the_same_seed_gives_the_same_banks(dialogues: list[dict[str, Any]]) -> None:
    first, again, other = (list(banks.make_banks(dialogues, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_command_writes_the_same_bytes_twice_and_small_takes_four_banks_of_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [dialogue("topical-chat", number) for number in range(banks.SESSIONS * 5)]
    source = tmp_path / "dialogues.json.xz"
    source.write_bytes(lzma.compress(json.dumps(many).encode(), preset=0))
    for name in ("a", "b"):
        out = tmp_path / name
        monkeypatch.setattr(
            sys, "argv", ["banks.py", "--dialogues", str(source), "--out", str(out), "--small"]
        )
        banks.main()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len(banks.read_json(tmp_path / "a")) == 4
