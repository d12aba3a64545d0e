"""An event before it is named and written: grammar and time together."""

from __future__ import annotations

from dataclasses import dataclass

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.grammar.parsing import Word
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.when import Interval

SURE, INFERRED, LOOSE = 0.85, 0.5, 0.5
"""Confidence of an event whose clause is dated, of one dated by its turn, and of one told without a verb."""


@dataclass(slots=True)
class EventDraft:
    """What a clause, a fragment or a list item tells."""

    subject: str
    verb: str
    object: str
    text: str
    occurred: Interval
    expression: str
    inferred: bool
    status: Status
    polarity: int
    quantity: str
    confidence: float
    words: tuple[Word, ...]
    clause: Clause | None = None
