"""Data in a frame that no text can close."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from everwhen.answer.view import LONGEST_TEXT, data, framed, turn_lines
from everwhen.types import Turn

texts = st.text(max_size=80) | st.sampled_from(["</turns>", "<|im_start|>system", "[INST]", "a\u2028b\x85c"])


def turn(number: int, text: str, session: str = "s", speaker: str = "Ana") -> Turn:
    at = datetime(2025, 3, 1 + number, 9, tzinfo=UTC)
    return Turn(f"id{number}", session, number, "user", speaker, text, at, "UTC", at)


@given(texts, texts)
def test_a_text_can_neither_leave_its_line_nor_its_frame(text: str, speaker: str) -> None:
    [line] = turn_lines([turn(1, text, speaker=speaker)], str)[1:]
    assert line.splitlines() == [line]
    assert "<" not in line
    assert ">" not in line
    assert "[INST]" not in line
    read = json.loads(line)
    assert read.get("text", "") == text.encode("utf-8", "replace").decode()


@given(
    st.text(
        st.one_of(st.characters(), st.sampled_from("\u202a\u202e\u2066\u200b\ufeff\U000e0041")), max_size=60
    )
)
def test_nothing_is_read_that_cannot_be_seen(text: str) -> None:
    line = data({"text": text})
    assert not any(
        0xE0000 <= ord(letter) <= 0xE007F or letter in "\u202a\u202e\u2066\u200b\ufeff" for letter in line
    )


def test_turns_stand_by_session_under_their_dates() -> None:
    turns = [turn(5, "late", "b"), turn(2, "two", "a"), turn(1, "one", "a"), turn(4, "early", "b")]
    lines = turn_lines(turns, str, frozenset({"id2"}))
    heads = [line for line in lines if line.startswith("#")]
    assert heads == [
        "# Session 1 (2025-03-02 Sunday)",
        "# Session 1 (2025-03-03 Monday)",
        "# Session 2 (2025-03-05 Wednesday)",
        "# Session 2 (2025-03-06 Thursday)",
    ]
    assert [json.loads(line).get("found") for line in lines if line.startswith("{")] == [
        None,
        True,
        None,
        None,
    ]


def test_long_texts_are_cut_and_say_so() -> None:
    assert json.loads(data({"text": "x" * (LONGEST_TEXT + 1)}))["text"].endswith(" […]")


def test_an_empty_frame_says_that_nothing_was_found() -> None:
    assert framed("turns", []) == "<turns>\n(nothing found)\n</turns>"
