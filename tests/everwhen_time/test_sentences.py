"""Whole sentences: every time in them is found, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_bench.timex import days
from everwhen_time import resolve
from everwhen_time.sentences import sentences
from tests.everwhen_time.sentences import not_said, said

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(("text", "wanted"), said(), ids=[text for text, _ in said()])
def test_a_sentence_gives_its_intervals(text: str, wanted: list[list[str | None]]) -> None:
    assert [list(days(ref.interval)) for ref in resolve(text, NOW) if ref.interval] == wanted


@pytest.mark.parametrize("text", not_said())
def test_a_sentence_without_a_time_gives_no_interval(text: str) -> None:
    assert [(ref.text, ref.rule) for ref in resolve(text, NOW) if ref.interval] == []


def test_there_are_enough_sentences_to_mean_something() -> None:
    assert len(said()) + len(not_said()) >= 150
    assert len(not_said()) >= 50


@pytest.mark.parametrize(
    ("text", "words", "day"),
    [
        ("My exam is on Thursday, third try.", "Thursday", "2023-05-11"),
        ("Dinner on Friday, first round is on me.", "Friday", "2023-05-12"),
        ("We will pay 60 a month from August.", "August", "2023-08-01"),
        ("Rent will be $450 a month from June.", "June", "2023-06-01"),
        ("We will pay 60 euros a month from August.", "August", "2023-08-01"),
        ("Let's meet at 5 a week from Friday.", "Friday", "2023-05-19"),
        ("Let's meet at 5 pm a week from Friday.", "Friday", "2023-05-19"),
    ],
)
def test_what_follows_a_day_or_comes_before_a_month_is_not_counted_from_it(
    text: str, words: str, day: str
) -> None:
    [found] = [ref for ref in resolve(text, NOW) if ref.interval]
    assert found.text.endswith(words) and found.interval is not None and found.interval.start is not None
    assert found.interval.start.date().isoformat() == day


def test_sentences_are_given_by_their_places_without_the_space_around_them() -> None:
    text = " I met Dr. Lima. Was it cold?\n\nYes! "
    assert [text[start:end] for start, end in sentences(text)] == ["I met Dr. Lima.", "Was it cold?", "Yes!"]
