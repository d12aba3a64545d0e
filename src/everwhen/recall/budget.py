"""What fits: the memories that are worth most for the tokens there are."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.recall.result import HEADER_TOKENS, header
from everwhen.types import Recalled


def fill(memories: Sequence[Recalled], max_tokens: int) -> tuple[list[Recalled], list[Recalled], int]:
    """Those that fit, those that do not, and the tokens used: exactly those of `Recall.as_context()`.

    A knapsack, filled greedily by value per token: `score / (tokens + header)`, where a memory pays for the date header
    above it when no other has brought that one. What does not fit is passed over, and a shorter one may still come in.
    Given and returned in the order of relevance. Where everything fits, nothing is weighed.
    """
    if sum(memory.tokens + HEADER_TOKENS for memory in memories) <= max_tokens:
        order = list(range(len(memories)))
    else:
        worth = [memory.score / (memory.tokens + HEADER_TOKENS) for memory in memories]
        order = sorted(range(len(memories)), key=lambda place: (-worth[place], place))
    kept: set[int] = set()
    headers: set[str] = set()
    used = 0
    for place in order:
        heading = header(memories[place])
        cost = memories[place].tokens + (0 if heading in headers else HEADER_TOKENS)
        if used + cost <= max_tokens:
            kept.add(place)
            headers.add(heading)
            used += cost
    return (
        [memory for place, memory in enumerate(memories) if place in kept],
        [memory for place, memory in enumerate(memories) if place not in kept],
        used,
    )
