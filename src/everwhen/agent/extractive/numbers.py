"""Numbers as people say them: "1,250", "$40", "twenty-five", "a dozen", "my 5th"; and not "2/5", "'69" or "1915-S"."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SAID = (
    {word: value for value, word in enumerate(_SMALL)}
    | {word: 10 * value for value, word in enumerate(_TENS, 2)}
    | {word: value for value, word in enumerate(_ORDINALS, 1)}
    | {"no": 0, "none": 0, "once": 1, "twice": 2, "couple": 2, "dozen": 12, "hundred": 100, "thousand": 1000}
)
_NUMBER = re.compile(
    r"(?P<money>[€$£])?(?<![\w/.,'’-])(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<kilo>k\b)?(?:[a-z]{1,3}\b)?"
    r"(?P<share>\s?%)?(?![\w/-]|\.\d)"
    rf"|\b(?P<tens>{'|'.join(_TENS)})[\s-](?P<ones>{'|'.join(_SMALL[1:10])})\b"
    rf"|\b(?P<said>{'|'.join(_SAID)})\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\s*(?:minute|hour|day|night|week|weekend|month|year|decade|percent|%|dollar|euro|pound)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its sign: `$`, `€`, `£`, `%`, or none."""

    value: float
    unit: str
    end: int
    """Where in the words it ends."""

    def __str__(self) -> str:
        shown = (
            f"{self.value:,.2f}".removesuffix(".00")
            if self.value >= 1e4 or self.value % 1
            else f"{self.value:.0f}"
        )
        return f"{shown}%" if self.unit == "%" else f"{self.unit}{shown}"


def number_in(words: str) -> Number | None:
    """The first number that some words say."""
    found = _NUMBER.search(words)
    if found is None:
        return None
    if digits := found.group("digits"):
        value = float(digits.replace(",", "")) * (1000 if found.group("kilo") else 1)
        return Number(value, found.group("money") or ("%" if found.group("share") else ""), found.end())
    if tens := found.group("tens"):
        return Number(_SAID[tens.lower()] + _SAID[found.group("ones").lower()], "", found.end())
    return Number(_SAID[found.group("said").lower()], "", found.end())


def counts(words: str, after: str, noun: str) -> Number | None:
    """The number that says how many `noun` there are, if some words say that; `after` is what follows them.

    No price, no share, and no length of time, unless those are what is asked for.
    """
    number = number_in(words)
    if number is None or number.unit:
        return None
    other = _MEASURE.match(words[number.end :] or after)
    return number if other is None or other.group(0).strip().lower() in noun.lower() else None
