"""Things that a number tells apart: "release 3.3", "chapter 12", "INF-882". One of them is never another one."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping

from everwhen.store.terms import STOP_WORDS

_NUMBERED = re.compile(
    r"(?<![\w.])"
    r"(?:(?P<version>\d+(?:\.\d+)+)|(?P<series>[^\W\d_]+)-?(?P<code>\d+)|(?P<noun>[^\W\d_]{3,}) #?(?P<number>\d+))"
    r"(?!\w|[.,:/-]\d)"
)
_NO_NOUN = frozenset(STOP_WORDS.split()) | frozenset(
    name.casefold() for name in (*calendar.month_name, *calendar.month_abbr, *calendar.day_name) if name
)


def numbered_things(words: str) -> dict[str, set[str]]:
    """The numbers in a text by what they number: a word, letters, or the points of a version."""
    found: dict[str, set[str]] = {}
    for one in _NUMBERED.finditer(words.casefold()):
        version = one["version"]
        what = "." * version.count(".") if version else one["series"] or one["noun"]
        if what not in _NO_NOUN:
            found.setdefault(what, set()).add(version or one["code"] or one["number"])
    return found


def is_of_another(asked: Mapping[str, set[str]], text: str) -> bool:
    """Whether a text speaks of another one than is asked for: of 3.2, where 3.3 is."""
    told = numbered_things(text) if asked else {}
    return any(what in told and told[what].isdisjoint(numbers) for what, numbers in asked.items())
