"""What of an answer may be shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.answer.checking import REMOVED, showable_length, without_unknown_links


def never(_: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("In March 2025.", "In March 2025."),
        ("See [the map](https://x.example/a).", f"See the map {REMOVED}."),
        ("![a picture](https://x.example/a.png)", "a picture"),
        ("![a](\nhttps://x.example/a)", f"a\n{REMOVED})"),
        ("[![a](https://x.example/1)](https://x.example/2)", f"a {REMOVED}"),
        ("a < b and c > d", "a < b and c > d"),
        ("<b>bold</b> <script>x()</script>", "bold x()"),
        ("At 10:30, ratio 3:2, C: drive", "At 10:30, ratio 3:2, C: drive"),
        ("either/or, and/or // a comment", "either/or, and/or // a comment"),
        ("mail mailto:a@x.example now", f"mail {REMOVED} now"),
        ("go to https://x.example/a, please", f"go to {REMOVED}, please"),
        ("[note]: https://x.example\nDone.", "\nDone."),
        ("[1] is a footnote", "[1] is a footnote"),
    ],
)
def test_addresses_and_pictures_are_taken_out(text: str, shown: str) -> None:
    assert without_unknown_links(text, never) == shown


def test_an_address_that_the_memory_holds_stays_as_words() -> None:
    held = {"https://trails.example/geres"}.__contains__
    assert (
        without_unknown_links("It is https://trails.example/geres.", held)
        == "It is https://trails.example/geres."
    )
    assert (
        without_unknown_links("[map](https://trails.example/geres)", held)
        == "map (https://trails.example/geres)"
    )
    assert without_unknown_links("![map](https://trails.example/geres)", held) == "map"
    assert without_unknown_links("https://trails.example/geres?q=secret", held) == REMOVED


hostile = st.lists(
    st.sampled_from(
        [
            "![",
            "[",
            "](",
            ")",
            "<img src=",
            ">",
            "https:",
            "//",
            "evil.example",
            "/q",
            " ",
            "\n",
            "&#58;",
            "a",
            "\u200b",
            "]:",
            "&amp;",
            "www.",
        ]
    ),
    max_size=30,
).map("".join)


@given(hostile)
def test_nothing_that_a_page_would_fetch_is_left(text: str) -> None:
    shown = without_unknown_links(text, never)
    assert not re.search(r"https?:\S|<img|!\[[^\]\n]*\]\([^)\n]+\)|\]\(\s*//", shown)


@given(hostile | st.text(max_size=60))
def test_what_was_streamed_is_how_the_answer_begins(text: str) -> None:
    said = ""
    for end in range(len(text) + 1):
        shown = without_unknown_links(text[: showable_length(text[:end])], never)
        if shown.startswith(said):
            said = shown
        assert not re.search(r"https?:\S|<img|!\[[^\]\n]*\]\(", said)
