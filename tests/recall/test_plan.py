"""A question taken apart: of whom, of when, of how much."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.recall.names import Plan, plan
from everwhen.store.rows import SaidBy
from tests.recall.memories import ASKED


def read(query: str, *speakers: str) -> Plan:
    return plan(query, ASKED, "UTC", speakers)


def test_a_speaker_is_known_by_the_whole_name_its_first_word_or_its_genitive() -> None:
    for query in (
        "Where does Ana Silva live?",
        "where does ANA live?",
        "Where is Ana's house?",
        "Ana’s house?",
    ):
        asked = read(query, "Ana Silva", "Ben")
        assert asked.people == {"Ana Silva"}, query
        assert asked.keywords and not {"ana", "silva"} & set(asked.keywords)


def test_part_of_a_word_is_nobodys_name() -> None:
    asked = read("Does she like bananas and Benedict?", "Ana", "Ben")
    assert not asked.people and "bananas" in asked.keywords


def test_a_question_that_is_only_a_name_keeps_it() -> None:
    asked = read("Ana?", "Ana")
    assert asked.people == {"Ana"} and asked.keywords == ("ana",)


def test_the_role_of_somebody_without_a_name_is_not_a_name() -> None:
    assert not read("what did the user tell the assistant", "user", "assistant").people


def test_those_named_would_tell_else_the_user_where_there_is_an_assistant() -> None:
    assert read("What does Ana do?", "Ana").whose(True) == SaidBy(frozenset({"Ana"}))
    assert read("Which car do I drive?").whose(True) == SaidBy(role="user")
    assert read("Which car do I drive?").whose(False) is None
    assert read("Which car is it?").whose(True) is None


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("When did she move?", "asks_time"),
        ("Where does he work?", "asks_place"),
        ("What did you recommend?", "second_person"),
        ("What did I say?", "first_person"),
        ("How long ago was it?", "vague_time"),
        ("How many weeks before today, roughly, or ago, was it?", "vague_time"),
    ],
)
def test_what_it_wants_to_hear_is_read_from_its_words(query: str, wanted: str) -> None:
    assert getattr(read(query).question, wanted)
    assert not getattr(read("The kayak and its colour").question, wanted)


def test_a_judgement_is_complex_several_things_are_hybrid_and_the_rest_simple() -> None:
    assert read("Would she enjoy a concert?").question.complexity == "complex"
    assert read("Which books has he read?").question.complexity == "hybrid"
    assert read("Where is the kayak?").question.complexity == "simple"


def test_its_time_is_a_window_from_the_moment_of_asking() -> None:
    asked = read("What happened in June 2025?").question.time
    assert asked is not None and asked.interval is not None and asked.interval.start is not None
    assert (asked.interval.start.year, asked.interval.start.month) == (2025, 6)
    assert read("What is the kayak like?").question.time is None


@given(st.text(max_size=80), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_and_any_names_can_be_read(query: str, speakers: list[str]) -> None:
    asked = read(query, *speakers)
    assert asked.people <= set(speakers)
    assert len(asked.keywords) <= 3


def test_a_question_of_one_phrase_over_and_over_is_read_in_no_time() -> None:
    for phrase in ("how many ", "what the ", "when did Ana ", "last week "):
        start = process_time()
        read((phrase * 20_000)[:20_000], "Ana")
        assert process_time() - start < 5
