"""A number tells one thing from another of its kind."""

from __future__ import annotations

import pytest

from everwhen.question.numbered_things import is_of_another, numbered_things


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("3.3 ship", "Release 3.2 shipped last night"),
        ("I hand in chapter 12", "finished Chapter 11 on May 3"),
        ("INF-882 was fixed", "INF-883 is fixed"),
        ("the Q3 review", "the Q4 review is on Monday"),
    ],
)
def test_another_one_of_its_kind_is_another(asked: str, told: str) -> None:
    assert is_of_another(numbered_things(asked), told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("3.3 ship", "3.2 and 3.3 shipped together"),
        ("3.3 ship", "it shipped last night"),
        ("3.3 ship", "it shipped on 3.4.2025 at 10:30"),
        ("I hand in chapter 12", "I handed in 30 pages"),
        ("I ran on May 3", "I ran on May 4"),
        ("I went there in 2024", "I went there in 2023"),
        ("the review", "the Q4 review is on Monday"),
    ],
)
def test_without_another_number_of_that_kind_it_may_be_the_same(asked: str, told: str) -> None:
    assert not is_of_another(numbered_things(asked), told)
