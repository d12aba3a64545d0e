"""The token budget: picks the memories that are worth most for the tokens available."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.types import Recalled
from everwhen.types.recall import BREAK_TOKENS, HEADER_TOKENS, header

NO_ROOM = "no room in max_tokens"
"""The reason of what does not fit."""
BEYOND = "beyond top_k"
"""The reason of what would fit and is more than was asked for."""


def fill(memories: Sequence[Recalled], max_tokens: int) -> tuple[list[Recalled], list[Recalled], int]:
    """Those that fit, those that do not, and the tokens used: exactly those of `Recall.as_context(cut=0)`.

    A knapsack, filled greedily by value per token: `score / (tokens + header)`, where a memory pays for the date header
    above it when no other has brought that one, and for the break before its session when that is not the day's first.
    What does not fit is passed over, and a shorter one may still come in. Given and returned in the order of
    relevance. Where everything fits, nothing is weighed.
    """
    if sum(memory.tokens + HEADER_TOKENS for memory in memories) <= max_tokens:
        order = list(range(len(memories)))
    else:
        worth = [memory.score / (memory.tokens + HEADER_TOKENS) for memory in memories]
        order = sorted(range(len(memories)), key=lambda place: (-worth[place], place))
    kept: set[int] = set()
    days: dict[str, set[str]] = {}
    used = 0
    for place in order:
        memory, heading = memories[place], header(memories[place])
        sessions = days.get(heading, ())
        cost = memory.tokens + (
            HEADER_TOKENS if not sessions else 0 if memory.session in sessions else BREAK_TOKENS
        )
        if used + cost <= max_tokens:
            kept.add(place)
            days.setdefault(heading, set()).add(memory.session)
            used += cost
    return (
        [memory for place, memory in enumerate(memories) if place in kept],
        [memory for place, memory in enumerate(memories) if place not in kept],
        used,
    )
