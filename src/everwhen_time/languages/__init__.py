"""Languages other than English, through the same function. Each is one data file in `data/`, read by a shared
grammar."""

from __future__ import annotations

from everwhen_time.word_lists import english_words

_LISTS = english_words("english")
ONLY_ENGLISH = _LISTS["only_english"]


def plainly_english(text: str, sentence: tuple[int, int], words: frozenset[str]) -> bool:
    """Whether so many words are only English that no other language need be thought of."""
    known = len(words & ONLY_ENGLISH)
    if not known or not text[sentence[0] : sentence[1]].isascii():
        return False
    return known > 2 or known * 3 >= sum(word.isalpha() for word in words)
