"""Facts as an extractor finds them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from everwhen.facts.statements import FactStatement, Predicates, checked_statement


def learned(
    subject: str, predicate: str, object_: str, turns: tuple[str, ...], at: datetime, **more: Any
) -> FactStatement:
    """A fact that some turns told; without a `valid_from` of its own it starts when it was said."""
    dated = {"valid_from": at, **more}
    said = checked_statement(Predicates(), subject, predicate, object_, at=at, source=turns, **dated)
    return replace(said, act="learn")
