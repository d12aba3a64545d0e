"""A stored memory as it is given back."""

from __future__ import annotations

from everwhen.types import Recalled, UnitRow, Why
from everwhen.types.recall import SUMMARY


def recalled(row: UnitRow, score: float, why: Why) -> Recalled:
    """A stored unit as it is given back."""
    return Recalled(
        row.id,
        row.kind,
        row.text,
        row.said_at,
        row.zone,
        row.turns,
        row.session,
        row.speaker or (SUMMARY if row.kind == "node" else ""),
        score,
        why,
        row.tokens,
        row.occurred,
        row.metadata,
        row.level,
    )
