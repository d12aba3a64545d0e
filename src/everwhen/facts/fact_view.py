"""A stored version of a fact as callers see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from everwhen.store.facts import FactRow
from everwhen.types import Fact, Status
from everwhen.when import Interval, describe


def to_fact(row: FactRow, sources: tuple[str, ...] = ()) -> Fact:
    """A version as callers see it."""
    return Fact(
        id=row.id,
        version=row.version,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        valid=Interval(row.valid_from, row.valid_to, row.grain),
        recorded_at=row.recorded_at,
        superseded_at=row.superseded_at,
        confidence=row.confidence,
        origin=row.origin,
        status=_status(row),
        domain=row.domain,
        support=row.support,
        confirmed_at=row.confirmed_at,
        sources=sources,
        reason=row.reason,
    )


def noted(fact: Fact, start: datetime | None) -> Fact:
    """With a note where its beginning is not the one that was asserted."""
    if start is None or fact.valid_from == start:
        return fact
    known = describe(Interval(fact.valid_from, None, fact.valid.grain))
    return replace(fact, note=f"already known {known}: that beginning was kept, and `facts correct` moves it")


def _status(row: FactRow) -> Status:
    if row.superseded_at is None or row.standing == "overruled":
        return row.standing
    if row.outcome in ("corrected", "retracted"):
        return row.outcome
    return "superseded"
