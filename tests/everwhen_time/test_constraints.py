"""What a question says about time: a window, an order, an event it hangs on; or nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_bench.timex import days
from everwhen_time import Constraint, constraint

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def said(query: str) -> Constraint:
    found = constraint(query, NOW)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "query",
    [
        "What is my sister's name?",
        "When did Omar buy the boat?",
        "Do you remember when I broke my arm?",
        "What is my first name?",
        "How long did the concert last?",
        "Have I been there before?",
        "Which month was the fair?",
        "May I see the list?",
        "What is the capital of Peru?",
        "After all, what do you think?",
    ],
)
def test_a_question_without_a_time_has_no_constraint(query: str) -> None:
    assert constraint(query, NOW) is None


@pytest.mark.parametrize(
    ("query", "start", "end", "hard"),
    [
        ("What did I do last week?", "2023-05-01", "2023-05-08", False),
        ("Which films did I see in April?", "2023-04-01", "2023-05-01", False),
        ("What have I learned since January?", "2023-01-01", None, True),
        ("Where did we live before 2015?", None, "2015-01-01", True),
        ("What did I read between March and April?", "2023-03-01", "2023-05-01", True),
        ("What did I cook only in April?", "2023-04-01", "2023-05-01", True),
        ("How many times did I swim in March?", "2023-03-01", "2023-04-01", True),
        ("What is planned for next month?", "2023-06-01", "2023-07-01", False),
        ("What did I do between 3 and 5 May?", "2023-05-03", "2023-05-06", True),
        ("What have I learned since 98?", "1998-01-01", None, True),
        ("What is due by Friday at the latest?", None, "2023-05-13", True),
        ("What did I do on 3 May?", "2023-05-03", "2023-05-04", False),
        ("What did I do in the last three months?", "2023-02-10", "2023-05-10", False),
    ],
)
def test_a_window_is_soft_unless_the_words_draw_a_line(
    query: str, start: str | None, end: str | None, hard: bool
) -> None:
    found = said(query)
    assert found.interval is not None
    assert (days(found.interval), found.hard) == ((start, end), hard)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("When did I first visit Oslo?", "first"),
        ("What was the earliest bug we found?", "first"),
        ("When was the last time I saw Lin?", "last"),
        ("Who won the most recent match?", "last"),
        ("What is the latest plan?", "last"),
    ],
)
def test_order_words_ask_for_the_first_or_the_last(query: str, order: str) -> None:
    assert said(query).order == order


@pytest.mark.parametrize(
    ("query", "relation", "anchor", "distance"),
    [
        ("What did I do before I moved?", "before", "I moved", None),
        ("Where did I go the week after my vacation?", "after", "my vacation", "P1W"),
        ("What happened two days before the wedding?", "before", "the wedding", "P2D"),
        ("Whom have I met since we adopted Max?", "since", "we adopted Max", None),
        ("Where did I live until I graduated?", "until", "I graduated", None),
        ("What was I doing when Ana called?", "during", "Ana called", None),
        ("During the trip to Lisbon, what did we eat?", "during", "the trip to Lisbon", None),
        ("Whom did I see the weekend after my birthday?", "after", "my birthday", "P1W"),
    ],
)
def test_an_event_in_the_question_is_an_anchor(
    query: str, relation: str, anchor: str, distance: str | None
) -> None:
    found = said(query)
    assert (found.relation, found.anchor, found.interval) == (relation, anchor, None)
    assert (None if found.distance is None else str(found.distance)) == distance


def test_an_anchor_and_a_window_can_stand_in_one_question() -> None:
    found = said("What did we decide after the meeting on Friday?")
    assert (found.relation, found.anchor) == ("after", "the meeting")
    assert found.interval is not None and days(found.interval) == ("2023-05-05", "2023-05-06")


def test_several_windows_are_kept_apart_and_have_a_hull() -> None:
    found = said("What did the doctor say in February or in April?")
    assert [days(one) for one in found.intervals] == [
        ("2023-02-01", "2023-03-01"),
        ("2023-04-01", "2023-05-01"),
    ]
    assert found.interval is not None and days(found.interval) == ("2023-02-01", "2023-05-01")


def test_counting_is_noticed() -> None:
    assert said("How often did I run in the last three months?").count
    assert not said("Where did I run last month?").count


def test_the_zone_is_the_askers() -> None:
    at = datetime(2023, 5, 9, 22, 30, tzinfo=UTC)
    found = constraint("What did I say yesterday?", at, "Europe/Rome")
    assert found is not None and found.interval is not None
    assert found.interval.start == datetime(2023, 5, 8, 22, tzinfo=UTC)
