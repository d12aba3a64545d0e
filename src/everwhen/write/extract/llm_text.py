"""Whether words that a model wrote stand in a text, and whether they come from its prompt instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

_WORD = re.compile(r"\w+")
_GAP = re.compile(r"\s*(?:\.\.\.|…|\[…\])\s*")
_MARK = re.compile(r"EXAMPLE_([A-Z]+)")
"""The names in the prompts' examples, which nobody else bears."""
_QUOTED = re.compile(r'"([^"]*)"')
SHINGLE = 6
"""So many words in a row that also stand in the prompt, and in no turn, are the prompt's."""
STEM = 5


def find(quote: str, text: str) -> Span | None:
    """Where a quotation stands in a text, whatever its case, spacing and punctuation. "…" may leave words out.

    >>> find("the RED one", 'I took "the red" one.')
    (7, 20)
    """
    start = end = -1
    for part in _GAP.split(quote):
        if not part.strip():
            continue
        span = _stands(part, text, max(end, 0))
        if span is None:
            return None
        start, end = span[0] if start < 0 else start, span[1]
    return None if end < 0 else (start, end)


def _stands(part: str, text: str, after: int) -> Span | None:
    wanted = [match[0].casefold() for match in _WORD.finditer(part)]
    words = [(match[0].casefold(), match.span()) for match in _WORD.finditer(text, after)]
    if wanted:
        for place in range(len(words) - len(wanted) + 1):
            if all(words[place + n][0] == word for n, word in enumerate(wanted)):
                return words[place][1][0], words[place + len(wanted) - 1][1][1]
    # Scripts that put no space between words, and quotations that are only signs.
    at = text.casefold().find(part.strip().casefold(), after)
    spaced = any(word.isascii() for word in wanted)
    return None if at < 0 or spaced else (at, at + len(part.strip()))


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words that carry meaning: "kayaks" and "kayaking" have one in common."""
    return frozenset(
        word[:STEM] for word in _WORD.findall(text.casefold()) if len(word) > 3 or not word.isascii()
    )


def names_in(text: str) -> frozenset[str]:
    """The words with a capital that make names, as `stems`. One that only begins a phrase may be any word."""
    words = [word for word in _WORD.findall(text) if word not in ("I", "The", "A", "An", "My", "Our")]
    capitals = [word for word in words if word[0].isupper()]
    begins = capitals == words[:1] and len(words) > 1
    return frozenset(word.casefold()[:STEM] for word in capitals) if not begins else frozenset()


class Echoes:
    """Tells what a model took from its prompt instead of the turns."""

    def __init__(self, prompt: str, texts: Iterable[str]) -> None:
        self._said = " ".join(texts)
        names = "|".join(sorted(set(_MARK.findall(prompt)))) or "PERSON"
        self._marked = re.compile(rf"\bexample[\W_]*(?:{names})", re.IGNORECASE)
        self._phrases = _phrases(prompt)
        self._foreign = _shingles(prompt) - _shingles(self._said)

    def __contains__(self, text: str) -> bool:
        """Whether a text bears a name of the prompt's examples, is one of its quotations, or has many of its words
        in a row."""
        marked = self._marked.search(text)
        if marked and find(marked[0], self._said) is None:
            return True
        if _bare(text) in self._phrases and find(text, self._said) is None:
            return True
        return not self._foreign.isdisjoint(_shingles(text))


@lru_cache(maxsize=8)
def _phrases(prompt: str) -> frozenset[str]:
    """What stands in quotation marks in a prompt, single words apart: those are names of fields and the like."""
    return frozenset(bare for quoted in _QUOTED.findall(prompt) if " " in (bare := _bare(quoted)))


def _bare(text: str) -> str:
    return " ".join(word.casefold() for word in _WORD.findall(text))


@lru_cache(maxsize=64)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1))
