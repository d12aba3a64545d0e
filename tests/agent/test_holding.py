"""An answer is what holds at the time asked about: facts know from when until when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import Memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home: Path = tmp_path_factory.mktemp("holding")
    with Memory.open(home, bank="holding") as memory:
        for day, text in (
            (datetime(2025, 1, 7, 9, tzinfo=UTC), "I live in Leeds and work at Siemens as an engineer."),
            (datetime(2025, 4, 2, 9, tzinfo=UTC), "We moved to York in March!"),
            (datetime(2025, 5, 2, 9, tzinfo=UTC), "I quit my job at Siemens."),
        ):
            memory.add(text, at=day, session=f"{day:%m}")
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


def test_what_has_ended_is_no_answer_and_the_refusal_says_since_when(memory: Memory) -> None:
    refused = memory.ask("Where do I work?", at=NOW, model="none")
    assert refused.abstained and "Siemens" in refused.text and "ended on 2 May 2025" in refused.text
    assert memory.ask("Where did I work?", at=NOW, model="none").trace["short"] == "Siemens"


def test_as_it_was_known_before_nothing_had_ended(memory: Memory) -> None:
    then = datetime(2025, 2, 1, tzinfo=UTC)
    assert memory.ask("Where do I work?", at=then, as_of=then, model="none").trace["short"] == "Siemens"
