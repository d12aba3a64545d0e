"""Turns made for tests: small, with vectors that are told apart by eye."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from everwhen.store.base import VectorModel
from everwhen.store.rows import NewTurn
from everwhen.types import Turn

DIMENSION = 8
MODEL = VectorModel("fake", DIMENSION)
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)


def direction(*weights: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A unit vector with the given first components."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


def turn(
    id: str,
    text: str = "hello there",
    *,
    hours: float = 0.0,
    session: str = "s",
    speaker: str = "Ana",
    vectors: Any = None,
    context: str = "",
    before: str | None = None,
    recorded: datetime | None = None,
    network: str = "world",
    **metadata: Any,
) -> NewTurn:
    said = START + timedelta(hours=hours)
    return NewTurn(
        Turn(
            id=id,
            session=session,
            seq=0,
            role="user",
            speaker=speaker,
            text=text,
            said_at=said,
            zone="UTC",
            recorded_at=recorded or said,
            tokens=3,
            segment=f"x-{id}",
            metadata=metadata,
        ),
        np.stack([direction(1.0)] if vectors is None else vectors),
        MODEL,
        context=context,
        before=before,
        network=network,
    )
