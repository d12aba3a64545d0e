"""What a question asks for, and where in a text an answer begins and ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.agent.extractive.kinds import asks_about_time, read_kind
from everwhen.agent.extractive.timing import in_unit
from everwhen.sentences import around, pieces, sentence_at


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
        ("Can you remind me what Ana cooked?", "what"),
        ("Which brand of tea does Ana drink now?", "what"),
    ],
)
def test_a_question_is_of_the_kind_that_its_words_ask_for(question: str, kind: str) -> None:
    assert read_kind(question).kind == kind


def test_the_sides_of_a_comparison_are_read() -> None:
    assert read_kind("Which came first, the move or the wedding?").sides == ("the move", "the wedding")
    asked = read_kind("How many days passed between the day I met Ana and the day I moved?")
    assert asked.sides == ("I met Ana", "I moved")
    assert asked.unit == "day"


def test_only_a_question_for_a_date_is_about_time() -> None:
    assert asks_about_time("When did Ana move?")
    assert not asks_about_time("How long did the move take?")


@given(st.text(max_size=200))
def test_any_text_has_a_kind(text: str) -> None:
    assert read_kind(text).words == text


def test_what_held_before_something_is_asked_without_it() -> None:
    asked = read_kind("Where did Ana live before Ghent?")
    assert (asked.base, asked.before) == ("Where did Ana live?", "Ghent")
    assert read_kind("Did Ana live here before Ghent?").before == ""
    assert read_kind("Where does Ana live?").base == ""


@given(st.text(alphabet="ab .!?\n'Dr", max_size=120), st.integers(1, 60))
def test_the_pieces_of_a_text_are_all_of_it(text: str, longest: int) -> None:
    places = pieces(text, longest)
    assert "".join(text[start:end] for start, end in places) == text
    assert [end for _, end in places[:-1]] == [start for start, _ in places[1:]]


@given(st.text(alphabet="ab .!?\n'é€-", min_size=1, max_size=80), st.data())
def test_a_place_is_widened_to_whole_words_and_lies_in_its_sentence(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = around(text, start, end)
    assert first <= start < end <= last
    assert not (first > 0 and text[first - 1].isalnum() and text[first].isalnum())
    assert not (last < len(text) and text[last].isalnum() and text[last - 1].isalnum())
    assert text[start:end].strip() in sentence_at(text, start, end)


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("I saw Dr. Weiss today. She was kind.", "Weiss", "I saw Dr. Weiss today."),
        ("We left at 5 a.m. sharp. It rained.", "5 a", "We left at 5 a.m. sharp."),
        ("She works at IBM. He does not.", "IBM", "She works at IBM."),
        ("I said no. Then I left.", "no", "I said no."),
        ("Rent is €900 a month! Too much.", "900", "Rent is €900 a month!"),
    ],
)
def test_a_sentence_does_not_end_at_a_shortened_word(text: str, words: str, sentence: str) -> None:
    start = text.index(words)
    assert sentence_at(text, start, start + len(words)) == sentence


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        ("write to jo.lund@example.org now", "lund@example", "jo.lund@example.org"),
        ("it was €1,450 then", "450", "€1,450"),
        ("the Gilmartin's boat", "Gilmart", "Gilmartin's"),
    ],
)
def test_an_answer_is_no_broken_word(text: str, part: str, whole: str) -> None:
    start = text.index(part)
    first, last = around(text, start, start + len(part))
    assert text[first:last] == whole


def test_a_length_is_told_in_the_unit_asked_for() -> None:
    assert in_unit(14, 14, "week") == "2 weeks"
    assert in_unit(1, 1, "day") == "1 day"
    assert in_unit(20, 40, "week") == "between 3 and 6 weeks"


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
    assert dict(read_kind(question).offered) == offered
