"""Cutting a text that is longer than a model's window into overlapping pieces."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

BLOCK = 1 << 16

# Runs are cut at 32 characters, so that no "word" outgrows a window whatever its characters cost.
_WORD = re.compile(r"\s{1,32}\S{0,32}|\S{1,32}")


class Word(NamedTuple):
    """A stretch of text that is not to be cut: where it starts and how many tokens it takes."""

    start: int
    tokens: int


def cut(text: str, window: int, overlap: int, words: Callable[[str], list[Word]]) -> list[str]:
    """Substrings of at most `window` tokens that cover the text; each repeats the last `overlap` tokens of
    the one before, in whole words and at least one. The text itself when it fits.

    Words are found block by block, so memory stays small. A block only grows when it did not fill one
    piece, so that the time is linear in the text, runs of blanks and endless words included.
    """
    pieces: list[str] = []
    start, size = 0, BLOCK
    while True:
        block = text[start : start + size]
        is_last = start + size >= len(text)
        found = words(block) if is_last else words(block)[:-1]  # the block's end may have cut the last word
        before = list(accumulate((word.tokens for word in found), initial=0))
        first = begin = 0
        while (end := max(first + 1, bisect_right(before, before[first] + window) - 1)) < len(found):
            pieces.append(block[begin : found[end].start])
            first = max(first + 1, min(end - 1, bisect_left(before, before[end] - overlap)))
            begin = found[first].start
        if is_last:
            return [*pieces, block[begin:]]
        start += begin
        size = BLOCK if begin else size * 4


def words_by(count: Callable[[str], int]) -> Callable[[str], list[Word]]:
    """Words between blanks, for a tokenizer that only counts."""

    def words(text: str) -> list[Word]:
        return [Word(match.start(), count(match.group())) for match in _WORD.finditer(text)]

    return words
