"""One question, read once: who asks, what kind of answer is wanted, and what is asked of time.

Above: recall, the agent and the doors, which look at the fields of a `Question` and read no words themselves. Below:
`when`, which says what the time expressions mean.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from everwhen.recall.question.complexity import complexity
from everwhen.recall.question.kind import with_kind
from everwhen.recall.question.parsed import KINDS, Form, Kind, Order, Question
from everwhen.recall.question.time_asked import with_time
from everwhen.recall.question.word_patterns import ASKING, AUXILIARY, FIRST_PERSON, PLACE, pattern, plainly
from everwhen_time import constraint

__all__ = ["KINDS", "Form", "Kind", "Order", "Question", "is_question", "parse"]

_OPENS = pattern(rf"^\W*(?:{ASKING}|{AUXILIARY}|can|should)\b")
_ASKS_PLACE = pattern(r"\bwhere\b", rf"\b(?:what|which) (?:{PLACE})\b")
_FIRST_PERSON = pattern(rf"\b(?:{FIRST_PERSON})\b")
_SECOND_PERSON = pattern(r"\b(?:you|your|yours)\b")


@lru_cache(maxsize=256)
def parse(words: str, at: datetime | None = None, zone: str | None = None) -> Question:
    """Take a question apart. With the moment of asking, and its zone, `time` has what it says about time."""
    if at is not None:
        return replace(parse(words), time=constraint(plainly(words), at, zone))
    text = plainly(words)
    needs, cues = complexity(words)
    question = Question(
        words,
        asks="?" in words or "？" in words or _OPENS.match(words) is not None,
        asks_place=_ASKS_PLACE.search(words) is not None,
        complexity=needs,
        cues=cues,
        first_person=_FIRST_PERSON.search(words) is not None,
        second_person=_SECOND_PERSON.search(words) is not None,
    )
    return with_kind(with_time(question, text), text)


def is_question(words: str) -> bool:
    """Whether a line of talk is a question as a whole."""
    return words.endswith("?") or _OPENS.match(words) is not None
