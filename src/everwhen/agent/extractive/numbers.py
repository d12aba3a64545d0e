"""Numbers as people say them: "1,250", "$40", "two hundred and five", "a dozen", "my 5th".

Strict: what might mean something else is no number at all. "2/5", "'69", "1915-S", "two or three", "-5", "half a dozen"
and "iPhone 12" are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from everwhen.when.lexicon import ONES, TEENS, TENS

_SMALL = ("zero", *ONES, *TEENS)
_ADDS = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(TENS, 2)
}
_TIMES = {
    "dozen": 12, "hundred": 100, "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "bn": 10**9,
}  # fmt: skip
_ONCE = {
    "none": 0, "once": 1, "twice": 2,
    "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_SIGNS = {"euro": "€", "eur": "€", "dollar": "$", "buck": "$", "usd": "$", "pound": "pounds", "percent": "%"}
_ABOUT = "about|around|nearly|almost|over|only|just|exactly|roughly|maybe|at least|now|my|the|an?"
_START = rf"^[\s\"“(]*(?:(?:{_ABOUT})\s+)*"
_DIGITS = re.compile(
    _START + r"(?P<money>[€$£¥])?\s?(?P<digits>\d{1,3}(?:[,\s]\d{3}(?!\d))+|\d{1,12})(?P<part>\.\d+)?"
    r"(?:(?P<times>k|bn)\b|\s(?P<times2>thousand|million)\b|(?:st|nd|rd|th|mg|g|kg|km|cm|mm|ml|lbs?|oz|gb|mb)\b)?"
    r"(?![\w/:,-]|\.\d|\s\d)",
    re.IGNORECASE,
)
_FIRST, _NEXT = "|".join([*_ADDS, *_TIMES, *_ONCE, "couple"]), "|".join([*_ADDS, *_TIMES])
_WORDS = re.compile(
    _START + rf"(?P<said>(?:{_FIRST})\b(?:(?:\s+and)?[\s-]+(?:{_NEXT})\b)*)(?![\w-])", re.IGNORECASE
)
_BEHIND = re.compile(r"(?i)\s?(?P<sign>[€$£¥%]|(?:euro|eur|dollar|buck|usd|pound|percent)s?\b)")
_MORE = re.compile(r"(?i)\s*(?:or|to|[-–—])\s*(?:\d|" + "|".join([*_SMALL, *TENS]) + r")|\s+and\s+a\s+half")
_MEASURE = re.compile(r"(?i)\s*(minute|hour|day|night|week|weekend|month|year|decade)s?\b")
_OFTEN = re.compile(r"(?i)\s*(?:an?|per|every|each)\s+(?:day|week|month|year)\b")


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its sign: `$`, `€`, `£`, `%`, …, or none."""

    value: float
    unit: str
    end: int = 0  # where in the words it ends

    def __str__(self) -> str:
        whole = self.value < 1e4 and self.value % 1 == 0
        shown = f"{self.value:.0f}" if whole else f"{self.value:,.2f}".removesuffix(".00")
        if self.unit in ("€", "$", "£", "¥"):
            return f"{self.unit}{shown}"
        return f"{shown} {self.unit}".strip()


def number_in(words: str) -> Number | None:
    """The number that some words begin with, but for "about" and the like."""
    found = _DIGITS.match(words)
    if found is not None:
        value = float(re.sub(r"[,\s]", "", found.group("digits")) + (found.group("part") or ""))
        value *= _TIMES.get((found.group("times") or found.group("times2") or "").lower(), 1)
    else:
        found = _WORDS.match(words)
        if found is None:
            return None
        value = _value(found.group("said").lower())
    if _MORE.match(words, found.end()):
        return None
    unit = found.groupdict().get("money") or ""
    behind = None if unit else _BEHIND.match(words, found.end())
    if behind is not None:
        said = behind.group("sign").lower()
        unit = _SIGNS.get(said.removesuffix("s"), said)
    return Number(value, unit, behind.end() if behind is not None else found.end())


def _value(said: str) -> float:
    """Of number words in a row: those below a hundred are added, the others multiply what stands before them."""
    whole = part = 0
    for word in re.findall(r"[a-z]+", said):
        if word in _ONCE or word == "couple":
            return _ONCE.get(word, 2)
        if word in _ADDS:
            part += _ADDS[word]
        elif word != "and":
            times = _TIMES[word]
            whole, part = (whole, max(part, 1) * times) if times < 1000 else (whole + max(part, 1) * times, 0)
    return float(whole + part)


def counts(words: str, after: str, noun: str) -> Number | None:
    """The number that says how many `noun` there are, if some words say that; `after` is what follows them.

    No price, no share, no year, and no length of time, unless that is what is asked for.
    """
    number = number_in(words)
    if number is None or number.unit or re.search(r"\b(?:19|20)\d\d\b", words[: number.end]):
        return None
    rest = f"{words[number.end :]} {after}"
    named = {_stem(one) for one in re.findall(r"\w+", noun.lower())}
    if named & {_stem(one) for one in re.findall(r"\w+", rest.lower())[:3]}:
        return number
    return None if _MEASURE.match(rest) or _OFTEN.match(rest) else number


def _stem(word: str) -> str:
    return word.removesuffix("s")
