"""How something begins or ends, where a question asks for that: "until the 20th" tells an end, "8 to 14 August" both.

Above: `time_answer`, which weighs what is left. Below: the evidence of time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from everwhen.recall.calendar_unit import unit_around
from everwhen.recall.question import Question
from everwhen.recall.time_evidence import SENTENCE, TimeEvidence, sentence_at
from everwhen_time import Interval

_RANGE = re.compile(r"\b(?:to|until|till?|through|thru)\b|[-–—]", re.IGNORECASE)
_DOUBT = re.compile(
    r"^(?:in|within|between)\b|\b(?:mid|middle|early|late|beginning|start of|around|about)\b", re.I
)
_UP_TO = re.compile(r"^(?:up\s+)?(?:until|till|'?til|to)\b", re.IGNORECASE)
_INCLUDED = re.compile(r"^(?:by|through|thru|no later than|not later than)\b", re.IGNORECASE)
_END_OF = re.compile(r"\bend of\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_MOMENT = timedelta(microseconds=1)


def at_edges(clues: Sequence[TimeEvidence], question: Question, at: datetime) -> list[TimeEvidence]:
    """The clues, those with a beginning or an end narrowed to the one that is asked for. A sentence that tells it is
    not about the day on which it was said: "my contract runs until 31 August" ended on no other."""
    if question.edge is None:
        return list(clues)
    asked = _words(question.event)
    found, telling = [], set[str]()
    for clue in clues:
        interval = _edge_of(clue, question, at)
        found.append(clue if interval is None else replace(clue, interval=interval))
        if interval is not None and _speaks_of(clue, asked):
            telling.add(clue.turn.id)
    return [clue for clue in found if clue.dated or clue.turn.id not in telling]


def _edge_of(clue: TimeEvidence, question: Question, at: datetime) -> Interval | None:
    """The unit of time that its words, which are English, name as the beginning or as the end; None where they name
    none, or an hour, which is exact already. What has happened did not end later than it is asked about."""
    whole = clue.interval if clue.event is None else clue.event.occurred
    words = clue.expression
    if whole is None or not clue.dated or clue.kind not in ("event", "expression") or _DOUBT.search(words):
        return None
    if whole.grain in ("second", "minute", "hour"):
        return None
    found = (
        _start(whole, words, clue.turn.zone)
        if question.edge == "start"
        else _end(whole, words, clue.turn.zone)
    )
    is_ahead = found is not None and found.start is not None and found.start > at
    return None if is_ahead and question.happened else found


def _start(whole: Interval, words: str, zone: str) -> Interval | None:
    is_whole = whole.end is not None and not _RANGE.search(words)
    return None if whole.start is None or is_whole else unit_around(whole.start, whole.grain, zone)


def _end(whole: Interval, words: str, zone: str) -> Interval | None:
    if whole.end is None:
        return None
    last = whole.end - _MOMENT
    if whole.start is not None:
        return unit_around(last, whole.grain, zone) if _RANGE.search(words) else None
    if _END_OF.search(words) and _UP_TO.match(words):
        return unit_around(last, "day", zone)
    if _INCLUDED.match(words):
        return unit_around(last, whole.grain, zone)
    return unit_around(whole.end, whole.grain, zone) if _UP_TO.match(words) else None


def _speaks_of(clue: TimeEvidence, asked: frozenset[str]) -> bool:
    """Whether no other sentence of its turn has more of the words that are asked for."""
    text = clue.turn.text
    here = sentence_at(text, max(0, text.find(clue.expression)))
    return len(asked & _words(here)) >= max(
        (len(asked & _words(one)) for one in SENTENCE.findall(text)), default=0
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))
