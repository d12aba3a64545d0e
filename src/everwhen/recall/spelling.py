"""Corrects misspelled names: "Jonh" is read as John if the memory knows a John and nobody ever said "Jonh".

A capitalised word that the memory does not know is compared with all known names. It is read as the nearest one if
that is near enough and no other name is as near; the answer says so. Other words are never changed: an ordinary word
that was never said is a sign that there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.store.terms import STOP_WORDS

SHORTEST = 4
"""Letters of a name that may be misspelt: among shorter ones nearly all are one letter apart."""
LONG = 6
"""Letters from which two mistakes are forgiven instead of one."""

_CAPITALISED = re.compile(r"[^\W\d_]+")
_STOP = frozenset(STOP_WORDS.split())
_LETTERS = 26


class KnownNames:
    """The words of all known names, with their letter counts: most are too different to be compared at all."""

    def __init__(self, names: Iterable[str]) -> None:
        words = {word for name in names for word in _CAPITALISED.findall(name)}
        self.words = sorted({word.casefold(): word for word in sorted(words)}.items())
        self.known = frozenset(small for small, _ in self.words)
        self._letters = _counts([small for small, _ in self.words])

    def nearest(self, word: str) -> str | None:
        """The one name that a word may stand for."""
        small = word.casefold()
        allowed = 2 if len(small) >= LONG else 1
        # A mistake changes the counts of two letters at most.
        apart = np.abs(self._letters - _counts([small])).sum(axis=1)
        near: list[tuple[int, str]] = []
        for place in np.flatnonzero(apart <= 2 * allowed).tolist():
            other, name = self.words[place]
            if len(other) >= SHORTEST and (distance := edits(small, other)) <= allowed:
                near.append((distance, name))
        near.sort()
        return near[0][1] if near and (len(near) == 1 or near[0][0] < near[1][0]) else None


def corrected(query: str, names: KnownNames, is_said: Callable[[str], bool]) -> tuple[str, dict[str, str]]:
    """The question with its misspelt names as they are spelt, and what was read as what."""
    read: dict[str, str] = {}
    for found in _CAPITALISED.finditer(query):
        word = found.group()
        small = word.casefold()
        if (
            len(word) < SHORTEST
            or not word[0].isupper()
            or small in _STOP
            or small in names.known
            or word in read
        ):
            continue
        name = names.nearest(word)
        if name is not None and not is_said(word):
            read[word] = name
    for word, name in read.items():
        query = re.sub(rf"\b{re.escape(word)}\b", name, query)
    return query, read


def edits(a: str, b: str) -> int:
    """How many letters must be put in, left out, changed or swapped with the next one (Damerau, each place once)."""
    before: list[int] = []
    above = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        row = [i]
        for j, right in enumerate(b, start=1):
            least = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, above = above, row
    return above[-1]


def _counts(words: Sequence[str]) -> NDArray[np.int16]:
    """How often each letter stands in each word; letters beyond the Latin ones share the places."""
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype="<u4") % _LETTERS
    rows = np.repeat(np.arange(len(words)), [len(word) for word in words])
    counts = np.bincount(rows * _LETTERS + letters, minlength=len(words) * _LETTERS)
    return counts.reshape(len(words), _LETTERS).astype(np.int16)
