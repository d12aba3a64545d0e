"""What a way of answering comes to, before it is decided whether it is good enough."""

from __future__ import annotations

from dataclasses import dataclass

from everwhen.types import Citation, TimeAnswer
from everwhen.when import Interval


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """An answer in the making. `how` is told in the trace. Without a `text` there is none, for the `reason`."""

    how: str
    text: str = ""
    citations: tuple[Citation, ...] = ()
    intervals: tuple[Interval, ...] = ()
    confidence: float | None = None  # where the way of answering has one of its own
    reason: str = ""
    short: str = ""  # the answer's own words, without who said it and when
    late: bool = False  # there is an answer, which rests on what was said only later than what may be known


def cited(answer: TimeAnswer | None) -> tuple[Citation, ...]:
    """The turns that a date rests on."""
    told = answer.evidence if answer is not None else ()
    return tuple(Citation(one.turn, one.quote, one.said_at, one.speaker) for one in told if one.turn)
