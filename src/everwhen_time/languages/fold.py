"""One spelling for each word: lower case, no accents, digits of one width; the length never changes."""

from __future__ import annotations

import re
import unicodedata


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
    return _MARKED.sub(_plain, small)


def _plain(match: re.Match[str]) -> str:
    return _FOLDED[ord(match[0])]


def without_combining(word: str) -> str:
    """The word without accents that are characters of their own."""
    return word if word.isascii() else _COMBINING.sub("", word)
