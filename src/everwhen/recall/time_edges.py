"""How something begins or ends, where a question asks for that: "until the 20th" tells an end, "8 to 14 August" both.

Above: `time_answer`, which weighs what is left. Below: the evidence of time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from everwhen.question import Question
from everwhen.question.parsed import Edge
from everwhen.recall.calendar_unit import unit_around
from everwhen.recall.time_evidence import SENTENCE, TimeEvidence, sentence_at
from everwhen.when import Interval

_RANGE = re.compile(r"\b(?:to|until|till?|through|thru|and)\b|[-–—]", re.IGNORECASE)
_INCLUDED = re.compile(r"^(?:by|through|thru|no later than)\b|\bend of\b", re.IGNORECASE)
_END_OF = re.compile(r"\bend of\b", re.IGNORECASE)
_LOOSE = re.compile(r"\b(?:mid|middle|early|late|beginning|start of|around|about)\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_MOMENT = timedelta(microseconds=1)


def at_edges(clues: Sequence[TimeEvidence], question: Question) -> list[TimeEvidence]:
    """The clues, those with a beginning or an end narrowed to the one that is asked for. A sentence that tells it is
    not about the day on which it was said: "my contract runs until 31 August" ended on no other."""
    if question.edge is None:
        return list(clues)
    asked = _words(question.event)
    found, telling = [], set[str]()
    for clue in clues:
        interval = _edge_of(clue, question.edge)
        found.append(clue if interval is None else replace(clue, interval=interval))
        if interval is not None and _speaks_of(clue, asked):
            telling.add(clue.turn.id)
    return [clue for clue in found if clue.dated or clue.turn.id not in telling]


def _edge_of(clue: TimeEvidence, edge: Edge) -> Interval | None:
    """The unit of time that its words name as the beginning or as the end; None where they name none."""
    whole = clue.interval if clue.event is None else clue.event.occurred
    words, zone = clue.expression, clue.turn.zone
    if (
        whole is None
        or not clue.dated
        or not words
        or clue.kind not in ("event", "expression")
        or _LOOSE.search(words)
    ):
        return None
    start, end = whole.start, whole.end
    if start is not None and end is not None and not _RANGE.search(words):
        return None
    if edge == "start":
        return None if start is None else unit_around(start, whole.grain, zone)
    if end is None:
        return None
    included = start is not None or _INCLUDED.search(words)
    return unit_around(
        end - _MOMENT if included else end, "day" if _END_OF.search(words) else whole.grain, zone
    )


def _speaks_of(clue: TimeEvidence, asked: frozenset[str]) -> bool:
    """Whether no other sentence of its turn has more of the words that are asked for."""
    text = clue.turn.text
    here = sentence_at(text, max(0, text.find(clue.expression)))
    return len(asked & _words(here)) >= max(len(asked & _words(one)) for one in SENTENCE.findall(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))
