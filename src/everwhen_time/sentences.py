"""Sentences and words of a text as they stand: an answer is never a broken one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ENDS = re.compile(
    r"(?:(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bvs)(?<!\bProf)(?<!\ba\.m)(?<!\bp\.m)(?<!\be\.g)"
    r"(?<!\bi\.e)(?<!\betc)\.|[!?…])[.!?…]*[\"”')\]]*\s+|[。！？]+|\n+"
)
FAR = 20_000
"""Characters to each side of a place in which its sentence is looked for; a pasted book is longer."""
_WORD = re.compile(r"(?:(?<!\w)[-−](?=[€$£]?\d))?[€$£]?\w(?:[\w'’@+/&%-]|[.,:](?=\w))*|[€$£]")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The place of each sentence of a text, in order, without the space around it."""
    start = 0
    for end in (*(match.end() for match in _ENDS.finditer(text)), len(text)):
        said = text[start:end]
        if words := said.strip():
            first = start + len(said) - len(said.lstrip())
            yield first, first + len(words)
        start = end


def sentence_texts(text: str) -> list[str]:
    """The words of each."""
    return [text[start:end] for start, end in sentences(text)]


def pieces(text: str, longest: int) -> list[tuple[int, int]]:
    """A text in places of whole sentences, each up to a length where its sentences allow it."""
    ends = [match.end() for match in _ENDS.finditer(text)] + [len(text)]
    found: list[tuple[int, int]] = []
    start = last = 0
    for end in ends:
        if end - start > longest and last > start:
            found.append((start, last))
            start = last
        last = end
    return [*found, (start, len(text))] if start < len(text) or not found else found


def sentence_at(text: str, start: int, end: int, longest: int = 0) -> str:
    """The words of `sentence_place`."""
    return text[slice(*sentence_place(text, start, end, longest))].strip()


def sentence_place(text: str, start: int, end: int, longest: int = 0) -> tuple[int, int]:
    """The sentence around a place, with those after and before it while all together are no longer than `longest`."""
    begin, stop = max(0, start - FAR), min(len(text), end + FAR)
    ends = [begin, *(match.end() for match in _ENDS.finditer(text, begin, stop)), stop]
    first = max(place for place, one in enumerate(ends) if one <= start)
    last = min((place for place, one in enumerate(ends) if one >= end), default=len(ends) - 1)
    while True:
        if last + 1 < len(ends) and ends[last + 1] - ends[first] <= longest:
            last += 1
        elif first > 0 and ends[last] - ends[first - 1] <= longest:
            first -= 1
        else:
            return ends[first], ends[last]


def around(text: str, start: int, end: int) -> tuple[int, int]:
    """A place widened to whole words: an address keeps its name, an amount its currency."""
    for word in _WORD.finditer(text):
        if word.start() < end and start < word.end():
            start, end = min(start, word.start()), max(end, word.end())
    return start, end
