"""Things that a number tells apart: "release 3.3", "INF-882". One of them is never another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from unicodedata import normalize

_RELEASE = r"(?:release|version|build|update)"
_ASKED = re.compile(rf"(?:^|\b{_RELEASE}\s+|\bv)(?P<version>\d+(?:\.\d+)+)(?!\w|[.,:]\d)")
"""A version in a question: what it begins with, or with its name before it; no price, time or length."""
_TOLD = re.compile(
    r"(?<![\w.:$€£])(?<!\bat\s)(?<!\bto\s)(?<!\bfor\s)(?<!\bby\s)v?(?P<version>\d+(?:\.\d+)+)(?!\w|[.,:]\d|\s?[%€$£])"
)
_CODE = re.compile(r"(?<![\w.])(?P<series>[^\W\d_]+)-?(?P<number>\d+)(?!\w|[.,:/-]\d)")

Numbers = Mapping[str, set[str]]


def numbered_things(question: str) -> Numbers:
    """The numbers in a question by what they number: the letters of a code, the points of a version."""
    return _numbers(question, _ASKED)


def is_of_another(asked: Numbers, text: str) -> bool:
    """Whether a text speaks of another one than is asked for: of 3.2, where 3.3 is."""
    told = _numbers(text, _TOLD) if asked else {}
    return any(what in told and told[what].isdisjoint(numbers) for what, numbers in asked.items())


def _numbers(words: str, versions: re.Pattern[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    plain = normalize("NFKC", words).casefold()
    for one in versions.finditer(plain):
        parts = [str(int(part)) for part in one["version"].split(".")]
        found.setdefault("." * (len(parts) - 1), set()).add(".".join(parts))
    for one in _CODE.finditer(plain):
        if one["series"] != "v":
            found.setdefault(one["series"], set()).add(one["number"].lstrip("0"))
    return found
