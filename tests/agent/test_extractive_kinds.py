"""What a question asks for, and the words of a sentence that are of that kind."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.agent.extractive import typed
from everwhen.agent.extractive.evidence import Sentence, other_names, split, tells_of
from everwhen.agent.extractive.kinds import asks_about_time, read_kind
from everwhen.agent.extractive.timing import in_unit
from everwhen.types import Turn


def sentence(text: str, speaker: str = "Ana") -> Sentence:
    said = datetime(2024, 5, 8, tzinfo=UTC)
    turn = Turn("t1", "s1", 1, "user", speaker, text, said, "UTC", said)
    return Sentence(text, turn, 1, 1.0, 1.0, 1.0, True, True, False, 1.0, True)


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
        ("How often do I swim?", "count"),
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


@given(st.text(max_size=200))
def test_sentences_are_parts_of_their_text(text: str) -> None:
    assert all(part in text for part in split(text))
    assert re.findall(r"\w", "".join(split(text))) == re.findall(
        r"\w", text
    )  # nothing that is said is left out


@pytest.mark.parametrize(
    ("question", "text", "spans"),
    [
        ("How much was the lamp?", "At nine I paid 45 euros on 3 May.", ["45 euros"]),
        ("How old is the dog?", "A greyhound, five years old, and two cats.", ["five years old"]),
        ("How long did it take?", "It took about two hours, at six.", ["about two hours"]),
        ("What is the dog called?", "I took in a dog called Figo.", ["Figo"]),
        ("Where is the shop?", "It is in Ghent.", ["Ghent"]),
    ],
)
def test_spans_are_of_the_kind_asked_for(question: str, text: str, spans: list[str]) -> None:
    assert typed.spans(read_kind(question), sentence(text)) == spans


def test_a_number_belongs_to_the_noun_that_it_stands_before() -> None:
    assert typed.number_before("rare coins", "I have four old rare coins and two stamps.") == "four"
    assert typed.number_before("stamps", "I have four coins, and stamps.") == ""


def test_a_name_that_is_spoken_to_is_not_told_of() -> None:
    assert tells_of("noor", "Noor bought blue paper.")
    assert not tells_of("noor", "Noor's cousin showed me the advert.")
    assert not tells_of("noor", "Thanks, Noor!")
    assert not tells_of("noor", "Noor!! Congratulations.")


def test_other_names_leave_out_speakers_and_the_first_word() -> None:
    assert other_names("Does Teresa know Ana in May?", {"ana"}) == ["teresa"]


def test_a_length_is_told_in_the_unit_asked_for() -> None:
    assert in_unit(14, 14, "week") == "2 weeks"
    assert in_unit(1, 1, "day") == "1 day"
    assert in_unit(20, 40, "week") == "between 3 and 6 weeks"
