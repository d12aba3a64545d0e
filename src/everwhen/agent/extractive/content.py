"""The words that say what a text is about, and whether a turn tells of a time."""

from __future__ import annotations

import re
from functools import cache

from everwhen.relations import relations
from everwhen.types import Turn
from everwhen.when import Interval, resolve

_FRAME = """
    a an and are at by did do does for from has have how i in is it long many me much my of on s the to was we were what
    when where which who with
"""


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return frozenset(re.findall(r"\w+", text.casefold())) - frozenset(_FRAME.split())


def tells_of(turn: Turn, then: Interval, question: str) -> bool:
    """Whether a turn tells of a time: it was said in it or names it; or was said before it ended, where the question
    asks how things stand, since that goes on until something else is told."""
    if then.contains(turn.said_at):
        return True
    if then.end is not None and turn.said_at < then.end and content(question) & _relation_words():
        return True
    named = (ref.interval for ref in resolve(turn.text, turn.said_at, turn.zone))
    return any(one is not None and one.overlaps(then) for one in named)


@cache
def _relation_words() -> frozenset[str]:
    """The words by which people ask how things stand in life and work."""
    return frozenset().union(*(content(one) for kind in relations() for one in kind.questions)) - {"who"}
