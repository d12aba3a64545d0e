"""The title of an event stands beside its date."""

from __future__ import annotations

import pytest

from everwhen.types.facts import event_title


@pytest.mark.parametrize(
    ("text", "expression", "title"),
    [
        (
            "yesterday Marta's brother dragged her up the hill",
            "yesterday",
            "Marta's brother dragged her up the hill",
        ),
        (
            "From Monday no more coffee, she is going over to tea",
            "Monday",
            "No more coffee, she is going over to tea",
        ),
        ("the results should come on Friday", "Friday", "The results should come"),
        ("The first one was last Tuesday", "last Tuesday", "The first one was last Tuesday"),
        ("Last night was São João", "Last night", "São João"),
        ("yesterday was awful", "yesterday", "Yesterday was awful"),
        ("Marta has until Tuesday to say", "until Tuesday", "Marta has until Tuesday to say"),
        (
            "She took the train up yesterday, signed and left",
            "yesterday",
            "She took the train up, signed and left",
        ),
        ("For the record, on Saturday the dog ate it", "Saturday", "For the record, the dog ate it"),
        ("Monday's meeting was cancelled", "Monday", "Monday's meeting was cancelled"),
        ("she went to yesterday's concert", "yesterday", "She went to yesterday's concert"),
        ("she met Ana on Monday and Tuesday", "Monday", "She met Ana on Monday and Tuesday"),
        ("they met on Friday and talked", "Friday", "They met and talked"),
        ("she went to the Friday market", "Friday", "She went to the Friday market"),
        ("he was ill all last week", "last week", "He was ill all last week"),
        ("Salma wasn't born on the Thursday", "Thursday", "Salma wasn't born"),
        ("The results should come on Saturday.", "Saturday", "The results should come."),
        ("she moved in March 2021", "in March 2021", "She moved in March 2021"),
    ],
)
def test_a_title_says_what_happened_without_the_words_that_lean_on_a_day(
    text: str, expression: str, title: str
) -> None:
    assert event_title(text, expression) == title
