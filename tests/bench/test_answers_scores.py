"""Words against words, by hand-made cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen_bench.answers.judge import held
from everwhen_bench.answers.questions import AnswerQuestion
from everwhen_bench.answers.scores import exact, holds, rouge_l, says_not_known, token_f1


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("7 May 2023", "7 May 2023", 1.0),
        ("The 7th of May", "7 May", 2 * 1 / (3 + 2)),  # shared: may, of "7th of may" and "7 may"
        ("blue, blue paper", "blue", 2 * 1 / (3 + 1)),  # a word counts as often as it stands
        ("Porto", "Lisbon", 0.0),
        ("", "Lisbon", 0.0),
        ("the", "a", 1.0),  # nothing but articles on both sides
    ],
)
def test_token_f1_by_hand(answer: str, gold: str, f1: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        (
            "police killed the gunman",
            "police kill the gunman",
            2 * 2 / (3 + 3),
        ),  # police … gunman, "the" is no word
        ("gunman kill police", "police kill gunman", 2 * 1 / (3 + 3)),  # order counts
        ("one two three four", "one three four", 2 * 3 / (4 + 3)),
        ("x", "y", 0.0),
    ],
)
def test_rouge_l_by_hand(answer: str, gold: str, score: float) -> None:
    assert rouge_l(answer, gold) == pytest.approx(score)


@given(st.text(max_size=60), st.text(max_size=60))
def test_rouge_l_is_never_above_token_f1_and_both_are_symmetric(one: str, other: str) -> None:
    assert 0.0 <= rouge_l(one, other) <= token_f1(one, other) + 1e-9 <= 1.0 + 1e-9
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))
    assert rouge_l(one, other) == pytest.approx(rouge_l(other, one))


def test_exact_pays_no_heed_to_case_marks_and_articles() -> None:
    assert exact("The Glass Menagerie!", "glass menagerie")
    assert not exact("Glass", "glass menagerie")


@pytest.mark.parametrize(
    "answer",
    [
        "Not known.",
        "The information is not available.",
        "That was never mentioned.",
        "It doesn't say.",
        "Unknown",
    ],
)
def test_saying_that_it_is_not_known_is_recognised(answer: str) -> None:
    assert says_not_known(answer)


@pytest.mark.parametrize("answer", ["7 May 2023", "No, she lives in Porto.", "Yes", ""])
def test_an_answer_is_not_taken_for_a_refusal(answer: str) -> None:
    assert not says_not_known(answer)


def test_holds_wants_every_word_and_reads_numbers_either_way() -> None:
    assert holds('Three. Ana: "I have three bikes."', "3")
    assert holds("7 days (from 1 to 8 May)", "7 days. 8 days (including the last day) is also acceptable.")
    assert not holds("a yellow hat", "a yellow dress")
    assert not holds("anything", "")


@pytest.mark.parametrize(
    ("question", "gold", "answer", "right"),
    [
        (
            "How many kits did I buy?",
            "I bought five kits: a tank, a car and three planes.",
            "5, counted",
            True,
        ),
        ("How many kits did I buy?", "I bought five kits: a tank, a car and 3 planes.", "3", False),
        ("How many people follow me?", "1,300", "1300 people", True),
        ("How many kits did I buy?", "five", "several", False),
        ("Did I increase or decrease the dose?", "You increased it (to 2 pills)", "Increase", True),
        ("Did I increase or decrease the dose?", "You increased it (to 2 pills)", "Decrease", False),
        ("Did I increase or decrease the dose?", "You increased it", "Increase or decrease", False),
    ],
)
def test_a_number_and_a_choice_are_judged_by_what_was_asked_for(
    question: str, gold: str, answer: str, right: bool
) -> None:
    assert held(AnswerQuestion("q", "g", question, gold, "plain", None), answer) is right
