"""Lists of words kept as data, one spelling for each word, and the tokens of a text."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


@cache
def word_table(file: Path) -> dict[str, Any]:
    """What a data file says."""
    return tomllib.loads(file.read_text("utf-8"))


def english_words(section: str) -> dict[str, frozenset[str]]:
    """The lists of one section of `languages/en.toml`, each as a set."""
    lists = word_table(Path(__file__).parent / "languages" / "en.toml")[section]
    return {name: frozenset(text.split()) for name, text in lists.items()}


# One spelling for each word: lower case, no accents, digits of one width; the length never changes


def _table() -> dict[int, str]:
    table: dict[int, str] = {}
    for code in (*range(0x41, 0x5B), *range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x1F00)):
        letter = chr(code)
        base = unicodedata.normalize("NFD", letter)[0] if code < 0x370 or code >= 0x1E00 else letter
        small = base.lower()
        if len(small) == 1 and small != letter:
            table[code] = small
    table |= {ord(mark): "'" for mark in "’‘ʼ`´＇"} | {ord(mark): "-" for mark in "–—‐‑−"}
    table |= {0xFF01 + offset: chr(0x21 + offset).lower() for offset in range(94)}  # full width
    return table | {ord("ё"): "е", ord("Ё"): "е", ord("\u00a0"): " ", ord("\u202f"): " ", ord("\u3000"): " "}


_FOLDED = _table()
_COMBINING = re.compile(r"[\u0300-\u036f]")


_MARKED = re.compile("[" + "".join(re.escape(chr(code)) for code in _FOLDED if code > 0x7F) + "]")


def fold(text: str) -> str:
    """The text in small letters without accents, each character where it was."""
    small = text.lower()
    if small.isascii():
        return small
    if len(small) != len(text):  # a letter that has no small one of its own
        return text.translate(_FOLDED)
    return _MARKED.sub(_base_letter, small)


def _base_letter(match: re.Match[str]) -> str:
    return _FOLDED[ord(match[0])]


def without_combining(word: str) -> str:
    """The word without accents that are characters of their own."""
    return word if word.isascii() else _COMBINING.sub("", word)


# Tokens: words, numbers, and numeric forms that belong together (a date, a time of day, a version)

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
