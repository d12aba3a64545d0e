"""Where in a text an answer begins and ends, and a length in the unit that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.answer.extractive.time_answers import in_unit
from everwhen_time.sentences import around, pieces, sentence_at


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
