"""Corrects misspelled names: "Jonh" is read as John if the memory knows a John and nobody ever said "Jonh".

A capitalised word that the memory does not know is compared with all known names. It is read as the nearest one if
that is near enough and no other name is as near; the answer says so. Other words are never changed: an ordinary word
that was never said is a sign that there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from everwhen.store.index import STOP_WORDS

SHORTEST = 4
"""Letters of a name that may be misspelt: among shorter ones nearly all are one letter apart."""
LONG = 6
"""Letters from which two mistakes are forgiven instead of one."""

_CAPITALISED = re.compile(r"[^\W\d_]+")
_STOP = frozenset(STOP_WORDS.split())


class KnownNames:
    """The words of all known names."""

    def __init__(self, names: Iterable[str]) -> None:
        words = {word for name in names for word in _CAPITALISED.findall(name)}
        spelt = {word.casefold(): word for word in sorted(words)}
        self.known = spelt.keys()
        self._long = {word: small for small, word in spelt.items() if len(small) >= SHORTEST}

    def nearest(self, word: str) -> str | None:
        """The one name that a word may stand for: a letter put in, left out, changed, or swapped with the next one is
        one mistake (optimal string alignment)."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        small = word.casefold()
        allowed = 2 if len(small) >= LONG else 1
        near = extract(small, self._long, scorer=OSA.distance, score_cutoff=allowed, limit=2)
        distances = [distance for _, distance, _ in near]
        return near[0][2] if distances and distances.count(distances[0]) == 1 else None


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
