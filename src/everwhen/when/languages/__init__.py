"""Languages other than English, through the same function. Each is one data file in `data/`, read by a shared
grammar."""

from __future__ import annotations

from everwhen.when.tokenizer import word_set

# Frequent words that no other language here has; a test holds this against the data files.
ONLY_ENGLISH = word_set(
    """the and with you this that they have were would what which where there their my your about from been it's into
    than them then these those because should could his her she how when who i'm don't didn't said very just
    yesterday tomorrow today last next every since until before after during while
    monday tuesday wednesday thursday friday saturday sunday january february march june july
    week's weeks months month years year days day hours spring summer"""
)


def plainly_english(text: str, sentence: tuple[int, int], words: frozenset[str]) -> bool:
    """Whether so many words are only English that no other language need be thought of."""
    known = len(words & ONLY_ENGLISH)
    if not known or not text[sentence[0] : sentence[1]].isascii():
        return False
    return known > 2 or known * 3 >= sum(word.isalpha() for word in words)
