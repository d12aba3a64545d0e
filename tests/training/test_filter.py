"""The round trip: which questions stay, by what the model answers from their turn and from the turns around it."""

from __future__ import annotations

from typing import Any

import pytest

import filter as round_trip

BANKS: list[dict[str, Any]] = [
    {
        "sessions": [
            {"turns": [["Ana", f"turn {number}"] for number in range(6)]},
            {"turns": [["Ben", "alone"]]},
        ]
    }
]


def question(kind: str, answer: str, places: list[list[int]] | None = None) -> dict[str, Any]:
    return {
        "id": "x",
        "kind": kind,
        "answer": answer,
        "question": "What now?",
        "places": places or [[0, 0, 2]],
    }


def kept(kind: str, answer: str, own: str, around: str = "not told") -> bool:
    return round_trip.is_kept(question(kind, answer), {"x/own": own, "x/around": around})


def test_one_prompt_shows_the_turn_alone_and_one_shows_what_stands_around_it() -> None:
    own, around = round_trip.make_prompts(question("fact", "x"), BANKS)
    assert own["id"] == "x/own"
    assert own["user"] == "Lines:\nAna: turn 2\n\nQuestion: What now?"
    assert around["id"] == "x/around"
    assert (
        around["user"] == "Lines:\nAna: turn 0\nAna: turn 1\nAna: turn 3\nAna: turn 4\n\nQuestion: What now?"
    )


def test_several_turns_are_shown_together_and_once() -> None:
    (own,) = round_trip.make_prompts(question("join", "x", [[0, 0, 5], [0, 1, 0]]), BANKS)
    assert "Ana: turn 5\nBen: alone" in own["user"]


def test_a_turn_without_neighbours_has_one_prompt() -> None:
    assert len(round_trip.make_prompts(question("fact", "x", [[0, 1, 0]]), BANKS)) == 1


@pytest.mark.parametrize(
    ("own", "around", "stays"),
    [
        ("a copper pan", "not told", True),
        ("copper pan, bought there", "iron lid", True),
        ("a book", "not told", False),
        ("not told", "not told", False),
        ("a copper pan", "a copper pan", False),
        ("", "", False),
    ],
)
def test_a_fact_stays_if_only_its_turn_gives_the_answer(own: str, around: str, stays: bool) -> None:
    assert kept("fact", "a copper pan", own, around) is stays


def test_yes_and_no_are_decided_by_the_turn_alone() -> None:
    assert kept("yes", "yes", "Yes, she does", around="yes")
    assert not kept("yes", "yes", "No")
    assert kept("no", "no", "No.")
    assert not kept("no", "no", "Yes")


def test_what_cannot_be_answered_stays_if_the_model_refuses() -> None:
    assert kept("none", "not told", "The lines do not mention it: not told")
    assert not kept("none", "not told", "ten euros")


def test_an_answer_that_is_itself_a_refusal_or_empty_is_not_kept() -> None:
    assert not kept("fact", "not told", "a pan")
    assert not kept("fact", "", "a pan")


def test_a_list_needs_less_of_its_answer_than_a_fact() -> None:
    answer = "rowing, judo, tennis, chess"
    assert kept("list", answer, "rowing")
    assert not kept("fact", answer, "rowing")


def test_a_question_without_answers_is_not_kept() -> None:
    assert not round_trip.is_kept(question("fact", "a pan"), {})


def test_f1_counts_words_that_carry_meaning() -> None:
    assert round_trip.f1("the copper pan", "a copper pan") == 1.0
    assert round_trip.f1("copper pan", "copper lid") == pytest.approx(0.5)
    assert round_trip.f1("yes", "yes") == 1.0  # function words alone are compared as they are
    assert round_trip.f1("pan", "lid") == 0.0
