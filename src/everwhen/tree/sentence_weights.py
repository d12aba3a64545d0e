"""Sentences of a turn, and the words that give them their weight. Nothing here depends on the rest of the bank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from everwhen.store.index import STOP_WORDS
from everwhen.write.foreign_text import FENCED

LONGEST = 320
"""Characters of a sentence that are kept; a longer one is cut at a word."""

_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\s*\n+\s*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|No|a\.m|p\.m|[A-Z])\.)$")
# Talk about the talk: words that are in most conversations and tell nothing of this one.
_CHAT = """thanks thank hey hi hello yeah yes yep no nope ok okay oh wow great good nice cool awesome amazing really
    sure glad happy sorry please well sounds sound definitely totally absolutely lol haha bye know think got get going
    go one lot thing things way much many even still back new make makes made also maybe right see keep i'm i've i'd
    i'll it's that's don't didn't can't you're you've we're we've they're he's she's there's let's isn't"""
_QUIET = frozenset(f"{STOP_WORDS} {_CHAT}".split())
_OWN = frozenset(["i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "we", "we're", "we've", "our", "us"])

_YOUR = frozenset(["you", "your", "yours", "yourself", "you're", "you've", "you'll", "you'd"])
_LASTING = re.compile(
    r"\b(?:(?:i|we|he|she|they|to|really|also|n't) like|likes|loves?|hates?|prefers?|enjoys?|favou?rites?|always"
    r"|usually|every (?:day|morning|evening|night|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|often|believes?|allergic|vegetarian|vegan|works? (?:at|as|for|in)|working (?:at|as|for)|lives? in|living in"
    r"|my (?:wife|husband|partner|brother|sister|son|daughter|mother|mom|mum|father|dad|job|dog|cat))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the words that give it its weight; `telling` are those that are names or numbers."""

    text: str
    terms: frozenset[str]
    telling: frozenset[str]
    asks: bool
    own: bool
    """Whether somebody speaks of themselves."""
    addressed: bool = False
    """Whether it speaks to somebody of themselves."""
    lasting: bool = False
    """Whether it tells of a taste, a habit, work, a home or a tie (English words)."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, without code (unless it is all there is); what an abbreviation cut off is put back."""
    found: list[str] = []
    for part in _END.split(FENCED.sub(" ", text)):
        piece = " ".join(part.split())
        if not piece:
            continue
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return [_clipped(one) for one in found or [" ".join(text.split())]]


def weighed(text: str) -> Sentence:
    terms, telling = set(), set()
    own = addressed = False
    for place, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        plain = _plain(word)
        own = own or plain in _OWN
        addressed = addressed or plain in _YOUR
        if plain in _QUIET:
            continue
        term = _stem(plain)
        terms.add(term)
        if word[0].isdigit() or (place and word[0].isupper()):
            telling.add(term)
    return Sentence(
        text,
        frozenset(terms),
        frozenset(telling),
        asks=text.rstrip("\"'”’)] ").endswith(("?", "？")),
        own=own,
        addressed=addressed,
        lasting=_LASTING.search(text) is not None,
    )


@lru_cache(maxsize=65_536)
def _plain(word: str) -> str:
    return word.replace("’", "'").casefold()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """The word without the endings that make one word look like two."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _clipped(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    cut = text.rfind(" ", 0, LONGEST)
    return f"{text[: cut if cut > LONGEST // 2 else LONGEST]} …"
