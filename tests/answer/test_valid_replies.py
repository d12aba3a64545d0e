"""An answer is what holds at the time asked about: facts know from when until when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import Memory

SAID = (
    (datetime(2025, 1, 7, 9, tzinfo=UTC), "I live in Leeds and work at Siemens as an engineer."),
    (datetime(2025, 4, 2, 9, tzinfo=UTC), "We moved to York in March!"),
    (datetime(2025, 1, 9, 9, tzinfo=UTC), "I take lisinopril 10 mg every morning."),
    (datetime(2025, 4, 9, 9, tzinfo=UTC), "I stopped taking lisinopril."),
    (datetime(2025, 5, 2, 9, tzinfo=UTC), "I quit my job at Siemens."),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home: Path = tmp_path_factory.mktemp("holding")
    with Memory.open(home, bank="holding") as memory:
        for day, text in SAID:
            memory.add(text, at=day, session=f"{day:%m-%d}")
        yield memory


NOW = datetime(2025, 6, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do I live?", "York"),
        ("Where did I live in February?", "Leeds"),
        ("Where did I live in April?", "York"),
        ("Where did I work in February?", "Siemens"),
    ],
)
def test_what_held_at_the_time_asked_about_is_the_answer(memory: Memory, question: str, answer: str) -> None:
    assert memory.ask(question, at=NOW, model="none").trace["short"] == answer


def test_what_has_ended_is_no_answer_and_the_refusal_says_until_when_and_which_turn_ended_it(
    memory: Memory,
) -> None:
    refused = memory.ask("Where do I work?", at=NOW, model="none")
    assert refused.abstained and not refused.citations and refused.confidence == 0.0
    assert refused.text.startswith("Not known: user worked at Siemens until 2 May 2025. ")
    assert memory.turn(refused.trace["ended_by"]).text == "I quit my job at Siemens."
    assert refused.trace["searched"]["turns"]
    assert "lisinopril" in memory.ask("What medication do I take?", at=NOW, model="none").text
    assert memory.ask("Where did I work?", at=NOW, model="none").trace["short"] == "Siemens"


def test_what_began_only_later_is_no_answer(memory: Memory) -> None:
    assert memory.ask("Where did I live in 2023?", at=NOW, model="none").trace["short"] != "York"


@pytest.mark.parametrize(
    ("question", "answer"), [("Do I still take lisinopril?", "No"), ("Do I live in York?", "Yes")]
)
def test_yes_and_no_are_of_what_holds(memory: Memory, question: str, answer: str) -> None:
    assert memory.ask(question, at=NOW, model="none").trace["short"] == answer


@pytest.mark.parametrize("until", [datetime(2025, month, 20, tzinfo=UTC) for month in (1, 4, 5)])
def test_as_of_then_the_answers_are_those_of_a_memory_that_was_told_no_more(
    memory: Memory, tmp_path: Path, until: datetime
) -> None:
    with Memory.open(tmp_path, bank="stopped") as stopped:
        for day, text in SAID:
            if day <= until:
                stopped.add(text, at=day, session=f"{day:%m-%d}")
        for question in (
            "Where do I live?",
            "Do I still live in Leeds?",
            "Do I still take lisinopril?",
            "Where do I work?",
        ):
            then = memory.ask(question, at=NOW, as_of=until, model="none")
            assert then.text == stopped.ask(question, at=NOW, model="none").text, question


def test_as_it_was_known_before_nothing_had_ended(memory: Memory) -> None:
    then = datetime(2025, 2, 1, tzinfo=UTC)
    assert memory.ask("Where do I work?", at=then, as_of=then, model="none").trace["short"] == "Siemens"


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("offers"), bank="offers") as memory:
        for day, text in enumerate(
            (
                "The rent went up in May to 900 euros.",
                "We moved the office to York last week.",
                "I bought a car in the end, a bike was too slow for me.",
                "The doctor lowered my dose to 10 mg.",
            ),
            start=1,
        ):
            memory.add(text, at=datetime(2025, 5, day, 9, tzinfo=UTC))
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Did the rent go up or down?", "up"),
        ("Is the office in Leeds or in York?", "in York"),
        ("Did I buy a bike or a car?", "a car"),
        ("Did the doctor raise or lower my dose?", "lower"),
    ],
)
def test_a_choice_is_answered_with_one_of_the_two(offers: Memory, question: str, answer: str) -> None:
    assert offers.ask(question, at=NOW, model="none").trace["short"] == answer


def test_a_choice_of_two_that_were_not_told_is_refused(offers: Memory) -> None:
    refused = offers.ask("Do I have a cat or a dog?", at=NOW, model="none")
    assert refused.abstained and "neither of the two was told" in refused.text


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("visits"), bank="visits") as memory:
        for day, text in (
            (12, "I went to the dentist, Dr. Weber, on May 9th."),
            (22, "I had an appointment with my eye doctor, Dr. Klein, on May 20th."),
            (25, "I have an appointment with Dr. Sousa, the surgeon, on June 3rd."),
        ):
            memory.add(text, at=datetime(2025, 5, day, 9, tzinfo=UTC), session=f"s{day}")
        yield memory


def test_the_day_of_a_date_is_no_count_and_what_lies_outside_of_the_time_asked_about_does_not_count(
    visits: Memory,
) -> None:
    counted = visits.ask("How many doctor's appointments did I go to in May?", at=NOW, model="none")
    assert counted.trace["short"] == "2", counted.text


@pytest.fixture
def corrected(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, bank="corrected") as memory:
        memory.add("I live in Leeds.", session="said", at=datetime(2025, 1, 7, 9, tzinfo=UTC))
        memory.flush()
        memory.facts.correct("user", "lives in", "York")
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do I live now?", "York"),
        ("Which city do I live in?", "York"),
        ("Do I live in Leeds?", "No"),
        ("Do I live in York?", "Yes"),
    ],
)
def test_what_somebody_put_right_is_the_answer_and_not_what_was_said(
    corrected: Memory, question: str, answer: str
) -> None:
    told = corrected.ask(question, model="none")
    assert told.trace["short"] == answer and not told.abstained
    assert '"user lives in York"' in told.text and told.citations == ()


def test_it_still_is_when_the_message_is_forgotten(corrected: Memory) -> None:
    corrected.forget(session="said")
    assert corrected.ask("Where do I live?", model="none").trace["short"] == "York"


def test_what_is_said_after_a_fact_was_set_is_newer_than_it(corrected: Memory) -> None:
    corrected.add("We moved to Hull last week!", at=datetime.now(UTC))
    assert corrected.ask("Where do I live?", model="none").trace["short"] == "Hull"


def test_facts_that_nobody_said_answer_questions(corrected: Memory) -> None:
    corrected.facts.assert_("Ana", "works at", "Siemens")
    corrected.facts.assert_("the boat", "colour", "green")
    for question, answer in (
        ("Where does Ana work?", "Siemens"),
        ("Which company does Ana work for?", "Siemens"),
        ("Which colour is the boat?", "green"),
    ):
        assert corrected.ask(question, model="none").trace["short"] == answer
    assert corrected.ask("Where does Ana live?", model="none").abstained
