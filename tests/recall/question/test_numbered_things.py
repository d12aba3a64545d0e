"""A number tells one thing from another of its kind."""

from __future__ import annotations

import pytest

from everwhen.recall.calendar.answer import is_of_another, numbered_things


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("3.3 ship", "Release 3.2 shipped last night"),
        ("3.3 ship", "3.2 went out"),
        ("we ship v3.3", "v3.2 shipped"),
        ("version 2.5.0 come out", "2.4.1 is out"),
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
        ("release 3.3 ship", "it shipped at 10.30"),
        ("release 3.3 ship", "it cost £9.99 and shipped for 9.99"),
        ("release 3.3 ship", "Release ３.３ shipped"),
        ("I pay 12.5 for the ferry", "paid 12.50 for the ferry"),
        ("the meeting at 3.30 was moved", "it got moved to 4.30"),
        ("I run 5.5 km", "ran 5.6 km"),
        ("I hand in chapter 12", "I handed in 30 pages"),
        ("I ran on May 3", "I ran on May 4"),
        ("I went there in 2024", "I went there in 2023"),
        ("flight BA012 leave", "BA12 leaves at nine"),
        ("the review", "the Q4 review is on Monday"),
    ],
)
def test_without_another_number_of_that_kind_it_may_be_the_same(asked: str, told: str) -> None:
    assert not is_of_another(numbered_things(asked), told)
