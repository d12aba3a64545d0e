"""How much a question needs, read from its words."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.recall.complexity import complexity


@pytest.mark.parametrize(
    "query",
    [
        "Would she enjoy a week in the mountains?",
        "What might he do after the exam?",
        "Is it likely that they move abroad?",
        "Which personality traits does Ben show?",
        "Can you suggest a film for tonight?",
        "I am bored on Sundays. Any ideas?",
        "Based on her diary, what does she fear?",
        "Should I take the train?",
    ],
)
def test_judgement_prediction_advice_and_character_are_complex(query: str) -> None:
    assert complexity(query)[0] == "complex"


@pytest.mark.parametrize(
    "query",
    [
        "Which books has he read?",
        "What has she painted?",
        "Where have they camped?",
        "How many kayaks does Ana own?",
        "What do Ana and Ben have in common?",
        "What are the names of her cats?",
        "How many days passed between the exam and the party?",
        "Which did I buy first, the kayak or the tent?",
        "What is the total cost of the two trips?",
        "What is the order of my three concerts?",
        "Did I pay more for the tent than for the stove?",
    ],
)
def test_several_facts_put_together_are_hybrid(query: str) -> None:
    assert complexity(query)[0] == "hybrid"


@pytest.mark.parametrize(
    "query",
    [
        "Where is the kayak?",
        "When did Ana move to Porto?",
        "What inspires her to write?",
        "What is his favourite film?",
        "How did she feel after the race?",
        "Could you remind me what the teacher was called?",
        "I was wondering if you could remind me of the title of that song.",
        "What news did he bring?",
        "How long has she lived there?",
        "What did we decide in May 2024?",
        "",
    ],
)
def test_one_recorded_fact_is_simple(query: str) -> None:
    assert complexity(query) == ("simple", ())


def test_a_judgement_goes_before_a_list() -> None:
    need, cues = complexity("Which books would she like?")
    assert need == "complex" and cues == ("modal",)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_complexity(query: str) -> None:
    need, cues = complexity(query)
    assert (need == "simple") == (not cues)


def test_a_long_question_is_read_in_no_time() -> None:
    for phrase in ("what books ", "how many has ", "which a's of the ", "more x than, or ", "first, "):
        start = perf_counter()
        complexity((phrase * 20_000)[:20_000])
        assert perf_counter() - start < 5, phrase
