"""What fits: memories in the order of their worth, as long as there are tokens for them."""

from __future__ import annotations

from collections.abc import Iterable

from everwhen.recall.result import HEADER_TOKENS, header
from everwhen.types import Recalled


def fill(memories: Iterable[Recalled], max_tokens: int) -> tuple[list[Recalled], list[Recalled], int]:
    """Those that fit, those that do not, and the tokens used: exactly those of `Recall.as_context()`.

    One that does not fit is passed over, and a shorter one after it may still come in. A memory also pays
    for the date header above it, when no other has brought that one.
    """
    kept: list[Recalled] = []
    left: list[Recalled] = []
    headers: set[str] = set()
    used = 0
    for memory in memories:
        heading = header(memory)
        cost = memory.tokens + (0 if heading in headers else HEADER_TOKENS)
        if used + cost <= max_tokens:
            kept.append(memory)
            headers.add(heading)
            used += cost
        else:
            left.append(memory)
    return kept, left, used
