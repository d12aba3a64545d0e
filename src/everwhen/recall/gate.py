"""What does not help is left out: a memory far below the best one only costs tokens."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.types import Dropped, Recalled


def gate(memories: Sequence[Recalled], share: float, least: int = 3) -> tuple[list[Recalled], list[Dropped]]:
    """The memories with at least a share of the best one's score, and never fewer than `least` (TiMem: 3 to 8)."""
    if share <= 0 or not memories:
        return list(memories), []
    floor = share * memories[0].score
    kept = [one for place, one in enumerate(memories) if place < least or one.score >= floor]
    kept_ids = {one.id for one in kept}
    return kept, [
        Dropped(one.id, f"scores less than {share:g} of the best", one.score)
        for one in memories
        if one.id not in kept_ids
    ]
