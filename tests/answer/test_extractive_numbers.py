"""Numbers in answers: what is one, what counts things, what is summed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.answer.extractive.count_answers import counts, number_in
from everwhen.recall.question import parse

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "value", "unit"),
    [
        ("1,250 followers", 1250, ""),
        ("$40", 40, "$"),
        ("€1,200.50", 1200.5, "€"),
        ("10 %", 10, "%"),
        ("3.5k", 3500, ""),
        ("my 5th project", 5, ""),
        ("twenty-five", 25, ""),
        ("Twenty cats", 20, ""),
        ("a dozen eggs", 12, ""),
        ("1.25mg", 1.25, ""),
        ("none", 0, ""),
        ("about 7.", 7, ""),
        ("$1.2 million", 1_200_000, "$"),
        ("91 000", 91_000, ""),
        ("400 euros", 400, "€"),
        ("40€", 40, "€"),
        ("$ 40", 40, "$"),
        ("10 pounds", 10, "pounds"),
        ("two hundred", 200, ""),
        ("three thousand five hundred", 3500, ""),
        ("one hundred and five", 105, ""),
        ("a couple of cats", 2, ""),
    ],
)
def test_a_number_is_read_as_people_say_it(words: str, value: float, unit: str) -> None:
    found = number_in(words)
    assert found is not None and (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    "words",
    [
        "2/5",
        "the '69 Camaro",
        "1915-S",
        "version 2.3.1",
        "1/24 scale",
        "",
        "someone",
        "two or three",
        "2 to 3",
        "-5",
        "–5",
        "minus 5",
        "half a dozen",
        "three and a half",
        "twenty-first",
        "iPhone 12",
        "a second",
        "no idea",
        "12:30",
        "1,25",
        "$2.5m",
        "9" * 400,
        "555 1234",
    ],
)
def test_what_might_mean_something_else_is_no_number(words: str) -> None:
    assert number_in(words) is None


@pytest.mark.parametrize(
    ("words", "after", "noun", "number"),
    [
        ("two", " months ago", "shelves", None),
        ("two", " months", "months", 2),
        ("$40", "", "flats", None),
        ("40%", "", "guests", None),
        ("three", " flats", "flats", 3),
        ("three days", "", "flats", None),
        ("three", " night shifts", "shifts", 3),
        ("5 days", "", "holidays", None),
        ("2019", "", "cats", None),
    ],
)
def test_a_price_a_share_a_year_or_a_length_of_time_counts_nothing_else(
    words: str, after: str, noun: str, number: int | None
) -> None:
    found = counts(words, after, noun)
    assert (None if found is None else found.value) == number


@given(st.text(max_size=60))
def test_any_words_have_a_number_or_none_and_it_is_told_again(words: str) -> None:
    found = number_in(words)
    if found is not None:
        again = number_in(str(found))
        assert (
            again is not None
            and again.unit == found.unit
            and again.value == pytest.approx(found.value, abs=0.005)
        )


def test_a_sum_is_asked_for_in_so_many_words_or_by_what_was_paid() -> None:
    asked = parse("What is the total cost of the sofa and the lamp?")
    assert asked.total and asked.parts == (
        "What is the total cost of the sofa?",
        "What is the total cost of the lamp?",
    )
    asked = parse("How many kilometres did I run on Monday and on Tuesday in total?")
    assert asked.parts[1] == "How many kilometres did I run on Tuesday?"
    spent = parse("How much did I spend on rent and food?")
    assert not spent.total and len(spent.parts) == 2


@pytest.mark.parametrize(
    "question",
    [
        "How many bikes do I own?",
        "What is the age of Tom and Anna?",
        "What is the phone number of Tom and Anna?",
        "What is the price difference of the flat and the house?",
        "How many people met with Bob and Carol?",
        "How much did I pay for the bike and where did I buy it?",
        'How much did I pay for "Law and Order"?',
        "How many Total petrol stations are there?",
    ],
)
def test_other_questions_about_two_things_ask_for_no_sum(question: str) -> None:
    assert parse(question).parts == ()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("numbers")
    with Memory.open(home, "house", extract="none") as memory:
        for text in (
            "I bought the sofa for $300, second hand.",
            "The lamp cost $45, a bargain.",
            "We adopted a tortoise called Basil.",
            "I just finished my 5th quilt!",
        ):
            memory.add(text, at=AT)
    return home


def test_what_was_said_of_each_is_summed(house: Path) -> None:
    with Memory.open(house, "house", extract="none") as memory:
        answer = memory.ask("What is the total cost of the sofa and the lamp?", at=AT)
    assert answer.trace["how"] == "sum" and answer.trace["short"] == "$345"
    assert answer.text.startswith("$345: $300 + $45") and len(answer.citations) == 2


def test_a_sum_of_which_a_part_was_never_told_is_refused(house: Path) -> None:
    with Memory.open(house, "house", extract="none") as memory:
        answer = memory.ask("What is the total cost of the sofa and the piano?", at=AT)
    assert answer.abstained


def test_what_is_below_zero_stays_below(house: Path) -> None:
    with Memory.open(house, "house", extract="none") as memory:
        memory.add("It was -5 degrees in Oslo.", at=AT)
        answer = memory.ask("What was the temperature in Oslo?", at=AT)
    assert answer.trace["short"].startswith("-5")


def test_without_a_reader_a_number_is_quoted_too(tmp_path: Path) -> None:
    with Memory.open(tmp_path, "unread", extract="none", reader="none") as memory:
        memory.add("I have two cats.", at=AT)
        assert "two cats" in memory.ask("How many cats do I have?", at=AT).text


def test_the_fifth_of_something_is_five_of_it(house: Path) -> None:
    with Memory.open(house, "house", extract="none") as memory:
        answer = memory.ask("How many quilts have I finished?", at=AT)
    assert answer.trace["short"] == "5"
