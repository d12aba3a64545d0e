"""Whether the memory holds an answer at all: the engine's own confidence, from what the best candidates match."""

from __future__ import annotations

from everwhen.recall.features import Pool


def answerable(pool: Pool) -> float:
    """Placeholder until fitted."""
    rows = pool.around.rows_of
    return float(pool.around.cosines[rows].max()) if len(rows) else 0.0
