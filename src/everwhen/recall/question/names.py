"""Names in a question: the speakers whom it names, other capitalised words, what describes somebody instead, and the
words it turns on without them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable

from everwhen.recall.question.word_patterns import pattern
from everwhen.store.index import STOP_WORDS
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
LONGEST = 3
"""Words of a description: "old maths teacher"."""
DESCRIPTION = re.compile(
    r"\b(?:(?P<own>[Mm]y|[Oo]ur)|(?P<any>[Tt]he)|(?P<name>[^\W\d_a-z]\w*)['’]s)"
    rf"\s+(?P<noun>[^\W\d_A-Z][\w-]*(?:\s+[^\W\d_A-Z][\w-]*){{0,{LONGEST - 1}}})"
)
"""Words that may describe somebody: "my sister", "Tomas's daughter", "the electrician", and up to two words more."""
_WHO_IS = re.compile(r"\bwho(?:['’]s|\s+(?:is|are|was|were))?\s*\Z", re.IGNORECASE)
_FIRST_NAMES = re.compile(r"(?<=\s)(?:[^\W\d_a-z]\w*\s+)+\Z")
_WHOLE = re.compile(r"[^\W\d_a-z]\w+(?: [^\W\d_a-z]\w+)*")
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


def keywords(bare: str, names: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words that a question turns on, as TiMem's planner names them: at most three, no function words, no names.

    The longest come first where there are more: in English the rarer word is the longer one. A capital inside the
    question is taken for a name; so is what the memory knows as one.
    """
    words = [
        word.casefold()
        for place, word in enumerate(_CONTENT.findall(bare))
        if word.casefold() not in _COMMON and (place == 0 or not word[0].isupper())
    ]
    words = without_names(words, names)
    chosen = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:KEYWORDS]
    return tuple(word for word in dict.fromkeys(words) if word in chosen)


def without_names(words: Iterable[str], names: frozenset[str]) -> list[str]:
    """Keywords, without those that are or have a name that the memory knows with a capital."""
    parts = {word: (word, *_WORD.findall(word)) for word in words}
    return [
        word
        for word, some in parts.items()
        if names.isdisjoint(x for one in some for x in (one.title(), one.upper()))
    ]


def capitalised(words: str) -> list[str]:
    """Words that may be names, the first one among them: what is no name is found nowhere."""
    return [name.removesuffix("'s") for name in _CAPITALISED.findall(words)]


def surely_named(words: str) -> list[str]:
    """Words that are names: they do not begin the question, are no dates, and own nothing."""
    return [name for name in _INSIDE.findall(words) if name not in _DATES]


def whole_names(words: str) -> list[str]:
    """The same with what stands together as one: "Mister Peeps"."""
    surely = set(surely_named(words))
    return [name for name in _WHOLE.findall(words) if surely.issuperset(name.split())]


def asks_who(words: str, found: re.Match[str]) -> bool:
    """Whether it is asked who a description in some words is: "Who is my boss", "do you know who my boss is"."""
    return _WHO_IS.search(words[: found.start()]) is not None


def owner_named(found: re.Match[str]) -> str | None:
    """The whole name of the owner that a description has: "Tom Smith" of "Tom Smith's sister"."""
    if found["name"] is None:
        return None
    first = _FIRST_NAMES.search(found.string[: found.start()])
    return f"{first.group() if first else ''}{found['name']}"


def leading_name(event: str) -> str:
    """The name, or two, that an event begins with, where the words of asking are gone."""
    found = _LEADING.match(event)
    return found.group() if found else ""
