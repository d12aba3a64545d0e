"""How much a question needs, read from its words."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.recall.question import complexity


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


@pytest.mark.parametrize(
    ("need", "queries"),
    [
        # TiMem's own examples of each kind, with other people and other things, and more of the same form.
        (
            "simple",
            (
                "Where is Ana employed?",
                "When did Ben travel to Lyon?",
                "Which conference did Carla go to?",
                "Is Ana married?",
                "Is Ben's car reliable?",
                "Was the soup warm?",
                "Is there a person in the picture?",
                "Does Ana own a boat or a bicycle?",
                "How does Ben organise his week?",
                "What does Ana value the house at?",
            ),
        ),
        (
            "hybrid",
            (
                "What sports did Ana take part in?",
                "What subjects did Ana and Ben talk about?",
                "Where has Ben travelled?",
                "Did I spend more on the tent than on the stove?",
            ),
        ),
        (
            "complex",
            (
                "Would Ana like a holiday in the mountains?",
                "Is Ben an introverted person?",
                "Might Carla be keen on woodwork?",
                "Does Ana prioritise her work or her friends more?",
                "Is Ana shy?",
                "Is Ben a morning person?",
                "Is my sister generous with her time?",
                "Isn't he rather impatient?",
                "How patient is Carla with her pupils?",
                "Is she more of an optimist or a pessimist?",
                "Are they the adventurous type?",
                "Does Ben tend to plan ahead?",
                "Does Carla care more about money or time?",
                "Does Ana prefer tea or coffee?",
                "Is Ben more interested in music or in sport?",
                "What matters most to her?",
                "What are Ana's values?",
                "Was family more important to him than his career?",
            ),
        ),
    ],
)
def test_timems_examples_in_other_words(need: str, queries: tuple[str, ...]) -> None:
    assert {query: complexity(query)[0] for query in queries} == dict.fromkeys(queries, need)


@pytest.mark.parametrize(
    "query",
    [
        "Where did we go in May?",
        "what did ana buy last may?",
        "What did she read on 5 May?",
        "On May 3rd, who called?",
        "Was it in April or May?",
        "Did they camp between March and May?",
        "How was May for the garden?",
        "When is the May fair?",
        "What did May say about the boat?",
        "May was wet. Where did we go?",
        "Where was the fair this May?",
        "May I ask where Ana lives?",
        "May I see what Ana bought in June?",
    ],
)
def test_may_is_a_month_or_a_name(query: str) -> None:
    assert complexity(query) == ("simple", ())


@pytest.mark.parametrize(
    "query",
    [
        "What may Ben do next?",
        "May Ana be fond of chess?",
        "may ana enjoy the sea?",
        "Which hobby may suit her?",
        "What may 5 people need?",
        "She may move in May, or not?",
        "What may have gone wrong in may?",
        "What did we try that may help her?",
    ],
)
def test_may_is_a_verb(query: str) -> None:
    need, cues = complexity(query)
    assert need == "complex" and "modal" in cues


def test_a_judgement_goes_before_a_list() -> None:
    need, cues = complexity("Which books would she like?")
    assert need == "complex" and cues == ("modal",)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_complexity(query: str) -> None:
    need, cues = complexity(query)
    assert (need == "simple") == (not cues)


@pytest.mark.long
def test_a_long_question_is_read_in_no_time() -> None:
    for phrase in (
        "what books ",
        "how many has ",
        "which a's of the ",
        "more x than, or ",
        "first, ",
        "may ",
        "is a ",
        ". is b like c ",
    ):
        start = process_time()
        complexity((phrase * 20_000)[:20_000])
        assert process_time() - start < 5, phrase
