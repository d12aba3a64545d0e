"""Names in a question: the speakers whom it names, other capitalised words, and the words it turns on without them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable

from everwhen.question.word_patterns import pattern
from everwhen.store.terms import STOP_WORDS
from everwhen.types import ROLES

KEYWORDS = 3
"""Keywords of a question, at most (TiMem)."""
_WORD = re.compile(r"\w+")
_CONTENT = re.compile(r"[^\W\d_][\w'’-]{2,40}")
_COMMON = frozenset(STOP_WORDS.split()) | frozenset(
    "ever many much often long kind kinds type types sort name names mention mentioned according get got".split()  # noqa: SIM905
)
_CAPITALISED = re.compile(r"\b[A-Z][\w'’-]+")
_INSIDE = re.compile(r"(?<=[\w,] )[A-Z]\w{2,}(?!\w*['’])")
_DATES = frozenset((*calendar.month_name, *calendar.day_name))
# "Kez and Theo become official"
_LEADING = re.compile(r"(?:[^\W\d_a-z][\w'’.-]*)(?:\s+(?:(?:and|&)\s+)?[^\W\d_a-z][\w'’.-]*)*")


def speakers_named(words: str, speakers: Iterable[str]) -> tuple[frozenset[str], str]:
    """The speakers that a question names, by their whole name or its first word, and what it says without them."""
    said = {word.casefold() for word in _WORD.findall(words)}
    named: set[str] = set()
    bare = words
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else ""
        if speaker.casefold() in ROLES or not first or first.casefold() not in said:
            continue
        name = pattern(rf"\b({re.escape(speaker)}|{re.escape(first)})(['’]s)?\b")
        if name.search(words):
            named.add(speaker)
            bare = name.sub(" ", bare)
    bare = " ".join(bare.split())
    # A question that is nothing but a name keeps it.
    return frozenset(named), bare if re.search(r"\w{3,}", bare) else words


def keywords(bare: str) -> tuple[str, ...]:
    """The words that a question turns on, as TiMem's planner names them: at most three, no function words, no names.

    The longest come first where there are more: in English the rarer word is the longer one. A capital inside the
    question is taken for a name.
    """
    words = [
        word.casefold()
        for place, word in enumerate(_CONTENT.findall(bare))
        if word.casefold() not in _COMMON and (place == 0 or not word[0].isupper())
    ]
    chosen = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:KEYWORDS]
    return tuple(word for word in dict.fromkeys(words) if word in chosen)


def capitalised(words: str) -> list[str]:
    """Words that may be names, the first one among them: what is no name is found nowhere."""
    return [name.removesuffix("'s") for name in _CAPITALISED.findall(words)]


def surely_named(words: str) -> list[str]:
    """Words that are names: they do not begin the question, are no dates, and own nothing."""
    return [name for name in _INSIDE.findall(words) if name not in _DATES]


def leading_name(event: str) -> str:
    """The name, or two, that an event begins with, where the words of asking are gone."""
    found = _LEADING.match(event)
    return found.group() if found else ""
