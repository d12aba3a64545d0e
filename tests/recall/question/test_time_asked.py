"""What a question asks of time."""

from __future__ import annotations

import pytest

from everwhen.recall.question import parse


@pytest.mark.parametrize(
    ("words", "event", "ahead", "grain", "order"),
    [
        ("When did Ana move to Porto?", "Ana move to Porto", False, None, None),
        ("In which month will Ana move?", "Ana move", True, "month", None),
        ("What year did Rui start surfing?", "Rui start surfing", False, "year", None),
        ("When is Ana going to sing?", "Ana going to sing", True, None, None),
        ("When is the exam?", "the exam", None, None, None),
        ("the move to Porto", "the move to Porto", None, None, None),
        ("When did Ana first meet Rui?", "Ana first meet Rui", False, None, "first"),
        ("When did Ana finish her first novel?", "Ana finish her first novel", False, None, None),
        ("When was the last time Ana sang?", "Ana sang", False, None, "last"),
        ("When did Ana most recently sing?", "Ana  sing", False, None, "last"),
        ("When did Ana travel last year?", "Ana travel last year", False, None, None),
    ],
)
def test_a_question_is_taken_apart(
    words: str, event: str, ahead: bool | None, grain: str | None, order: str | None
) -> None:
    read = parse(words)
    assert (read.event, read.ahead, read.grain, read.order) == (event, ahead, grain, order)


def test_since_ago_and_duration_are_told_apart() -> None:
    forms = {
        "Since when does Ana sing?": "since",
        "How long has Ana lived here?": "since",
        "How long ago did Ana move?": "ago",
        "How many days ago did I move?": "ago",
        "How long was the flight?": "lasting",
        "When did Ana move?": "when",
    }
    assert {words: parse(words).form for words in forms} == forms
