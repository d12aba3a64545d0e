"""The sentences that a date is looked for in."""

from __future__ import annotations

import pytest

from everwhen_time.sentences import sentence_at


@pytest.mark.parametrize(
    ("text", "word", "sentence"),
    [
        ("Rolled back 2.7.0 at noon. We ship 2.7.1 tomorrow.", "tomorrow", "We ship 2.7.1 tomorrow."),
        ("The loan costs 4.2 percent until May. Fine.", "May", "The loan costs 4.2 percent until May."),
        ("My knee hurts. Dr. Osei sees me on Friday!", "Friday", "Dr. Osei sees me on Friday!"),
        ("failed :( hit the kerb. next try in june", "june", "next try in june"),
    ],
)
def test_a_point_inside_a_number_or_behind_a_title_ends_no_sentence(
    text: str, word: str, sentence: str
) -> None:
    start = text.index(word)
    assert sentence_at(text, start, start + len(word)) == sentence
