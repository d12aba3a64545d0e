"""The time that a question names: the question without it, and which turns tell of it."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Literal

from everwhen.relations import relations
from everwhen.types import Turn
from everwhen.when import Interval, resolve

PAST = re.compile(r"(?i)\b(?:did|was|were|had|used to|been)\b")
"""That a question asks for the past."""
_ON = re.compile(r"\s(?:on|in|at|during)\s*$", re.IGNORECASE)
_FRAME = """
    a an and are at by did do does for from has have how i in is it long many me much my of on s the to was we were what
    when where which who with
"""


def undated(words: str, at: datetime, zone: str) -> tuple[str, Interval] | None:
    """A question without the one time that it names, and that time."""
    tense: Literal["past"] | None = "past" if PAST.search(words) else None
    named = [
        (ref.span, ref.interval)
        for ref in resolve(words, at, zone, tense)
        if ref.kind == "point" and ref.interval
    ]
    if len(named) != 1:
        return None
    (start, end), interval = named[0]
    return f"{_ON.sub('', words[:start])}{words[end:]}", interval


def tells_of(turn: Turn, then: Interval, question: str) -> bool:
    """Whether a turn tells of a time: it was said in it or names it; or was said before it ended, where the question
    asks how things stand, since that goes on until something else is told."""
    if then.contains(turn.said_at):
        return True
    if then.end is not None and turn.said_at < then.end and content(question) & _relation_words():
        return True
    named = (ref.interval for ref in resolve(turn.text, turn.said_at, turn.zone))
    return any(one is not None and one.overlaps(then) for one in named)


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return frozenset(re.findall(r"\w+", text.casefold())) - frozenset(_FRAME.split())


@cache
def _relation_words() -> frozenset[str]:
    """The words by which people ask how things stand in life and work."""
    return frozenset().union(*(content(one) for kind in relations() for one in kind.questions)) - {"who"}
