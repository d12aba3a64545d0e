"""Splits text into tokens: words, numbers, and numeric forms that belong together (a date, a time of day, a
version)."""

from __future__ import annotations

import re
from typing import NamedTuple

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"

_TOKEN = re.compile(
    rf"""
\s*+(?:  # spaces are taken first, so that no alternative is tried on them
  (?P<plain>[^\W\d_]++(?![\d'.]))
| (?P<stamp>\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\d:]))
| (?P<price>[$€£¥₹]\s?\d[\d,.]*[kmb]?\b | \d[\d,.]*\s?[€£¥₹%°])
| (?P<ymd>(?<!\d)\d{{4}}(?P<s1>[-/.])\d{{1,2}}(?P=s1)\d{{1,2}}(?!\d))
| (?P<phone>\+\d[\d\ ()-]{{6,}}\d | \(\d{{3}}\)\s?\d{{3}}-\d{{4}}
    | (?<!\d)\d{{3}}[-.\ ]\d{{3}}[-.\ ]\d{{4}}(?!\d) | (?<!\d)\d{{3}}-\d{{4}}(?!\d)
    | 97[89][-\ ]?\d[\d\ -]{{7,}}[\dxX])
| (?P<dmy>(?<![\d.])\d{{1,2}}(?P<s2>[-/])\d{{1,2}}(?P=s2)\d{{4}}(?!\d) | (?<![\d.])\d\d?/\d\d?/\d\d(?![\d/])
    | (?<![\d.])\d\d?\.\d\d?\.\d{{4}}(?![\d.]))
| (?P<dmyy>(?<![\w.-])\d\d?(?P<s3>[-.])\d\d?(?P=s3)\d\d(?!\w|[-.]\w))
| (?P<version>v?\d+(?:\.\d+){{2,}}[\w.-]* | \bv\d[\w.]*)
| (?P<compact>(?<!\d)(?:19|20)\d{{6}}(?!\d))
| (?P<isoweek>(?<!\w)\d{{4}}-?w\d\d(?:-[1-7])?(?![\w-]))
| (?P<ym>(?<!\d)\d{{4}}[-/](?:1[0-2]|0?[1-9])(?![\d/-]))
| (?P<my>(?<![\w/-])(?:1[0-2]|0?[1-9])[-/](?:19|20)\d\d(?!\d|[-/.]\w))
| (?P<clock>(?<![\d.:])\d{{1,2}}:\d\d:\d\d\s[+-]\d{{4}}(?!\d)
    | (?<![\d.:])\d{{1,2}}:\d\d(?::\d\d)?(?![:\d])(?:\s?[ap](?:m\b|\.m\.)|\s?h\b)?
    | (?<![\d.:])(?:\d{{1,2}}(?:\.?[0-5]\d)?\s?[ap](?:m\b|\.m\.)|\d{{1,2}}\.[0-5]\dh\b))
| (?P<slash>(?<![\d/])\d{{1,2}}/\d{{1,2}}(?![\d/]))
| (?P<decimal>(?<![\d.])\d+\.\d+(?![\d]))
| (?P<decade>(?<![\w$])(?:\d{{3}}0|'?[1-9]0)'?s\b)
| (?P<shortyear>(?<![\w'])'\d\d\b(?!'))
| (?P<ordinal>\d+(?:st|nd|rd|th)\b)
| (?P<glued>\d+(?!{_MONTH})[^\W\d_]+\w* | (?!(?:{_MONTH}|sept|[qhw]|fy)\d)[^\W\d_]+\d\w*)
| (?P<grouped>\d{{1,3}}(?:,\d{{3}})+)
| (?P<number>\d+)
| (?P<abbr>\b
    (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thur?s?|fri|sat|sun)\.(?=\s*[\w,]))
| (?P<word>[^\W\d_]+(?:'(?!s\b)[^\W\d_]+)?)
| (?P<mark>'s\b|\S)
)
""",
    re.VERBOSE | re.IGNORECASE,
)


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set: how lists of words are written in this package."""
    return frozenset(text.split())


class Token(NamedTuple):
    """A piece of the text; `lower` is its text in lower case with plain apostrophes."""

    kind: str
    lower: str
    text: str
    start: int
    end: int


def tokenize(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of the text between two positions."""
    piece = text[start:end]
    plain = piece if piece.isascii() else piece.translate(_PLAIN)
    found = []
    for match in _TOKEN.finditer(plain):
        kind = match.lastgroup or "mark"
        first, last = match.span(kind)
        lower = match[kind].lower()
        if kind == "plain":
            kind = "word"
        elif kind == "abbr":  # "Dec. 31": the point belongs to the word
            kind, lower = "word", lower[:-1]
        found.append(Token(kind, lower, piece[first:last], start + first, start + last))
    return found


_PLAIN = str.maketrans("’‘–—", "''--")
