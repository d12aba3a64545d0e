"""Converts rows to our types."""

from __future__ import annotations

import json
from typing import Any

from everwhen.errors import Damaged
from everwhen.types import Turn, UnitRow
from everwhen.types.instants import from_text
from everwhen_time import Grain, Interval


def turn_of(row: tuple[Any, ...]) -> Turn:
    seq, id_, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata = row
    return Turn(
        id=id_,
        session=session,
        seq=seq,
        role=role,
        speaker=speaker,
        text=text,
        said_at=from_text(said_at),
        zone=zone,
        recorded_at=from_text(recorded_at),
        tokens=tokens,
        segment=segment,
        metadata=metadata_of(metadata),
    )


def unit_of(row: tuple[Any, ...]) -> UnitRow:
    seq, id_, kind, network, text, said_at, zone, session, speaker, tokens, turns, metadata, *rest = row
    start, end, grain, confidence, level = rest
    return UnitRow(
        seq,
        id_,
        kind,
        network,
        text,
        from_text(said_at),
        zone,
        session,
        speaker,
        tokens,
        turns=(id_,) if kind == "turn" else tuple(turn for turn in json.loads(turns) if turn),
        metadata=metadata_of(metadata),
        occurred=interval_of(start, end, grain),
        confidence=confidence,
        level=level,
    )


def interval_of(start: str | None, end: str | None, grain: Grain | None) -> Interval | None:
    if start is None and end is None:
        return None
    return Interval(from_text(start) if start else None, from_text(end) if end else None, grain or "day")


def metadata_of(text: str) -> dict[str, Any]:
    """A turn's metadata."""
    if text == "{}":  # most have none, and recall reads hundreds
        return {}
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise Damaged("stored metadata cannot be read; `everwhen bank doctor` says where") from None
    return found
