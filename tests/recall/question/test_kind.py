"""Which kind of answer a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.recall.question import parse


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Ana move?", "when"),
        ("In which month did Ana move?", "when"),
        ("How many weeks ago did I move?", "when"),
        ("How long have I had my bike?", "since"),
        ("How long did the flight take?", "lasting"),
        ("How many days passed between the wedding and the move?", "between"),
        ("How many weeks before the exam did I buy the book?", "between"),
        ("Which came first, the move or the wedding?", "first"),
        ("Who did I meet first, Ben or Ana?", "first"),
        ("How many bikes do I own?", "count"),
        ("In total, how many bikes do I own?", "count"),
        ("How often do I swim?", "amount"),
        ("How much is the rent?", "amount"),
        ("How old is the dog?", "amount"),
        ("Did Ana move?", "yes or no"),
        ("Did the price go up or down?", "choice"),
        ("Who runs the shop?", "who"),
        ("In which city does Ana live?", "where"),
        ("Why did Ana move?", "why"),
        ("What is the name of Ana's dog?", "name"),
        ("What is Ana's dog called?", "name"),
        ("What's my full name?", "name"),
        ("What is her maiden name?", "name"),
        ("What is my favourite name for a boat?", "what"),
        ("Can you remind me what Ana cooked?", "what"),
        ("Which brand of tea does Ana drink now?", "what"),
    ],
)
def test_a_question_is_of_the_kind_that_its_words_ask_for(question: str, kind: str) -> None:
    assert parse(question).kind == kind


def test_the_sides_of_a_comparison_are_read() -> None:
    assert parse("Which came first, the move or the wedding?").sides == ("the move", "the wedding")
    asked = parse("How many days passed between the day I met Ana and the day I moved?")
    assert asked.sides == ("I met Ana", "I moved")
    assert asked.unit == "day"


@given(st.text(max_size=200))
def test_any_text_has_a_kind(text: str) -> None:
    assert parse(text).words == text


def test_what_held_before_something_is_asked_without_it() -> None:
    asked = parse("Where did Ana live before Ghent?")
    assert (asked.base, asked.before) == ("Where did Ana live?", "Ghent")
    assert parse("Did Ana live here before Ghent?").before == ""
    assert parse("Where does Ana live?").base == ""


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("Did it go up or down in May?", {"up": "Did it go up in May?", "down": "Did it go down in May?"}),
        (
            "Did I take more water per spoon, or less?",
            {"more": "Did I take more water per spoon?", "less": "Did I take less water per spoon?"},
        ),
        (
            "Is the office in Leeds or in York?",
            {"in Leeds": "Is the office in Leeds?", "in York": "Is the office in York?"},
        ),
        (
            "Do I drink it with milk or without milk?",
            {"with milk": "Do I drink it with milk?", "without milk": "Do I drink it without milk?"},
        ),
        ("Did Ana buy a bike or a car?", {"a bike": "Did Ana buy a bike?", "a car": "Did Ana buy a car?"}),
        ("Is Ana happy or not?", {}),
        ("Did Ana buy a bike?", {}),
    ],
)
def test_a_choice_is_a_question_for_each_of_the_two(question: str, offered: dict[str, str]) -> None:
    assert dict(parse(question).offered) == offered
