"""One question, read once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.recall.names import capitalised, leading_name, surely_named
from everwhen.recall.question import beside, is_question, parse, undated

AT = datetime(2025, 6, 18, 12, tzinfo=UTC)


def test_a_question_is_read_once() -> None:
    assert parse("Where does Ana live?") is parse("Where does Ana live?")
    dated = parse("Where did Ana live in 2021?", AT, "UTC")
    assert dated is parse("Where did Ana live in 2021?", AT, "UTC")
    assert dated.time is not None and parse(dated.words).time is None


@given(st.text(max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    question = parse(text, AT, "UTC")
    assert question.words == text
    assert question.asks_now(AT) <= question.asks


def test_how_things_stand_is_asked_in_the_present() -> None:
    assert parse("Where does Ana live?", AT, "UTC").asks_now(AT)
    for words in (
        "Where did Ana live?",
        "Where does Ana live in 2021?",
        "What was her first job?",
        "Who is her former boss?",
        "Ana lives in Porto",
        "Why didn't Ana move?",
    ):
        assert not parse(words, AT, "UTC").asks_now(AT), words


def test_the_past_that_is_asked_for_ends_now() -> None:
    year = parse("Where did Ana live in 2021?", AT, "UTC").past_asked(AT)
    assert year is not None and year.start == datetime(2021, 1, 1, tzinfo=UTC)
    once = parse("Where did Ana formerly live?", AT, "UTC").past_asked(AT)
    assert once is not None and (once.start, once.end) == (None, AT)
    assert parse("Where does Ana live?", AT, "UTC").past_asked(AT) is None


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("What did I say?", True, False),
        ("what's our plan", True, False),
        ("We're late, aren't we?", True, False),
        ("What did you recommend to your friend?", False, True),
        ("Who wrote Iphigenia?", False, False),
    ],
)
def test_who_asks_whom(words: str, first: bool, second: bool) -> None:
    question = parse(words)
    assert (question.first_person, question.second_person) == (first, second)


def test_politeness_hides_no_question() -> None:
    plain, polite = parse("When did I move?"), parse("Could you remind me when did I move?")
    assert (polite.kind, polite.event, polite.form) == (plain.kind, plain.event, plain.form)


def test_what_is_only_planned_counts_where_a_plan_is_counted() -> None:
    assert parse("How many trips am I planning?").planned
    assert parse("How many eggs do I need?").planned
    assert not parse("How many plants did I buy?").planned


def test_the_two_that_are_compared_share_a_verb() -> None:
    asked = parse("Which club did I join first, the choir or the band?")
    assert asked.sides == ("the choir", "the band")
    assert asked.compared == ("I join the choir", "I join the band")
    assert parse("Which came first, the choir or the band?").compared == ("the choir", "the band")


def test_a_line_of_talk_is_a_question_by_its_beginning_or_its_end() -> None:
    assert is_question("where does Ana live") and is_question("Ana lives in Porto?")
    assert not is_question("Really? Ana lives in Porto.")


def test_the_one_time_of_a_question_is_taken_out() -> None:
    found = undated("Where did I live in March 2024?", AT, "UTC")
    assert found is not None and found[0] == "Where did I live?"
    assert found[1].start == datetime(2024, 3, 1, tzinfo=UTC)
    assert undated("Where did I live?", AT, "UTC") is None
    assert undated("Was it in March 2024 or in May 2024?", AT, "UTC") is None


@pytest.mark.parametrize(
    ("words", "anchor", "rest"),
    [
        ("When did I move after the wedding?", "the wedding", "I move"),
        ("When was the week after the wedding?", "the wedding", ""),
        ("How long after the wedding did I move?", "the wedding", "I move?"),
    ],
)
def test_an_event_beside_which_something_is_asked(words: str, anchor: str, rest: str) -> None:
    question = parse(words, AT, "UTC")
    assert question.time is not None and question.time.anchor is not None
    found = beside(question.time.anchor, question)
    assert (found[0], found[1].rstrip("?")) == (anchor, rest.rstrip("?"))


def test_names_are_words_with_capitals() -> None:
    assert capitalised("Where is Ana's boat?") == ["Where", "Ana"]
    assert surely_named("Did Ana tell Rui of Tom's trip in May?") == ["Ana", "Rui"]
    assert leading_name("Kez and Theo become official") == "Kez and Theo"
    assert leading_name("the move") == ""
