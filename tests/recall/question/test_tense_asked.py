"""The tense of a question is that of its auxiliary: it says which June, Monday or Easter is asked about."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from everwhen.recall.question import parse

ASKED = datetime(2025, 11, 19, 12, tzinfo=UTC)  # a Wednesday

# Each with the interval that lies before the question, and the one that lies ahead of it.
EXPRESSIONS = {
    "in June": ("2025-06-01/2025-07-01", "2026-06-01/2026-07-01"),
    "on Monday": ("2025-11-17/2025-11-18", "2025-11-24/2025-11-25"),
    "at Easter": ("2025-04-20/2025-04-21", "2026-04-05/2026-04-06"),
    "on 3 March": ("2025-03-03/2025-03-04", "2026-03-03/2026-03-04"),
    "on the 5th": ("2025-11-05/2025-11-06", "2025-12-05/2025-12-06"),
    "between March and May": ("2025-03-01/2025-06-01", "2026-03-01/2026-06-01"),
}
PERSONS = {"Alice": "s", "I": "1", "we": "p", "my sister": "s", "the twins": "p"}
VERBS = {  # bare, participle, -ing
    "What": ("do", "done", "doing"),
    "Who": ("visit", "visited", "visiting"),
    "Where": ("have lunch", "had lunch", "having lunch"),
    "When": ("hope to run", "hoped to run", "hoping to run"),
    "Which bill": ("pay", "paid", "paying"),
}
IS = {"s": "is", "1": "am", "p": "are"}
WAS = {"s": "was", "1": "was", "p": "were"}
DOES = {"s": "does", "1": "do", "p": "do"}
HAS = {"s": "has", "1": "have", "p": "have"}
AUXILIARIES = {  # the auxiliary by the person, what stands between subject and verb, the form of the verb, the side
    "did": (dict.fromkeys("s1p", "did"), "", 0, 0),
    "didn't": (dict.fromkeys("s1p", "didn't"), "", 0, 0),
    "was": (WAS, "", 2, 0),
    "was going to": (WAS, "going to", 0, 0),
    "has": (HAS, "", 1, 0),
    "has been": (HAS, "been", 2, 0),
    "had": (dict.fromkeys("s1p", "had"), "", 1, 0),
    "should have": (dict.fromkeys("s1p", "should"), "have", 1, 0),
    "does": (DOES, "", 0, 1),
    "has to": (HAS, "to", 0, 1),
    "is": (IS, "", 2, 1),
    "is going to": (IS, "going to", 0, 1),
    "will": (dict.fromkeys("s1p", "will"), "", 0, 1),
    "will have": (dict.fromkeys("s1p", "will"), "have", 1, 1),
    "would": (dict.fromkeys("s1p", "would"), "", 0, 1),
    "can": (dict.fromkeys("s1p", "can"), "", 0, 1),
}


def table() -> list[tuple[str, str]]:
    """Questions, each with the interval that its auxiliary asks for: every auxiliary with every verb and expression,
    the persons in turn, and the time first or last."""
    found = []
    cells = product(AUXILIARIES.values(), VERBS.items(), EXPRESSIONS.items())
    for number, ((forms, between, form, side), (opening, verbs), (expression, sides)) in enumerate(cells):
        person, number_of = list(PERSONS.items())[number % len(PERSONS)]
        words = " ".join(filter(None, (forms[number_of], person, between, verbs[form])))
        asked = f"{opening} {words} {expression}?"
        if number % 4 == 3:
            asked = f"{expression[:1].upper()}{expression[1:]}, {opening[:1].lower()}{opening[1:]} {words}?"
        found.append((asked, sides[side]))
    return found


def test_the_tense_of_a_question_is_that_of_its_auxiliary() -> None:
    questions = table()
    assert len(questions) >= 300
    wrong = {words: found for words, expected in questions if (found := _asked_about(words)) != expected}
    assert wrong == {}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("What did she say she will do in June?", "2026-06-01/2026-07-01"),
        ("Do you know what Alice did in June?", "2025-06-01/2025-07-01"),
        ("Have I told you what I want to do in June?", "2026-06-01/2026-07-01"),
        ("What did the man I met in June sell?", "2025-06-01/2025-07-01"),
        ("Do you remember the party in June?", "2025-06-01/2025-07-01"),
        ("Can you tell me about our trip in June?", "2025-06-01/2025-07-01"),
        ("Show me the photos from June.", "2025-06-01/2025-07-01"),
        ("Who'll come on Monday?", "2025-11-24/2025-11-25"),
        ("What have I got on Monday?", "2025-11-24/2025-11-25"),
        ("What's happened in June?", "2025-06-01/2025-07-01"),
        ("Who came on Monday?", "2025-11-17/2025-11-18"),
        ("What has Alice planned on Monday?", "2025-11-24/2025-11-25"),
        ("What should Alice have planned on Monday?", "2025-11-17/2025-11-18"),
        ("Is the review on Wednesday?", "2025-11-19/2025-11-20"),
    ],
)
def test_another_clause_has_its_own_tense_and_a_request_has_none(words: str, expected: str) -> None:
    assert _asked_about(words) == expected


def _asked_about(words: str) -> str:
    time = parse(words, ASKED, "UTC").time
    if time is None or time.interval is None or time.interval.start is None or time.interval.end is None:
        return "none"
    return f"{time.interval.start:%Y-%m-%d}/{time.interval.end:%Y-%m-%d}"
