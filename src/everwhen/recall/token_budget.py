"""The token budget: picks the memories that are worth most for the tokens available."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from datetime import date
from heapq import heapify, heappop, heappush

from everwhen.types import Recalled
from everwhen.types.recall import BREAK_TOKENS, HEADER_TOKENS, day_of, tokens_of

NO_ROOM = "no room in max_tokens"
"""The reason of what does not fit."""
BEYOND = "beyond top_k"
"""The reason of what would fit and is more than was asked for."""


def fill_by_rank(memories: Sequence[Recalled], max_tokens: int) -> tuple[list[Recalled], list[Recalled], int]:
    """The first ones that fit, up to the one that does not (TEMPR); then as `fill`."""
    lengths = range(1, len(memories) + 1)
    first = bisect_right(lengths, max_tokens, key=lambda length: tokens_of(memories[:length]))
    return list(memories[:first]), list(memories[first:]), tokens_of(memories[:first])


def fill(
    memories: Sequence[Recalled], max_tokens: int, otherwise: Sequence[Recalled] | None = None
) -> tuple[list[Recalled], list[Recalled], int]:
    """Those that fit, those that do not, and the tokens used: exactly those of `Recall.as_context(cut=0)`.

    A knapsack, filled greedily by value for each token: `score / cost`. A memory costs its tokens, and the date header
    above it where no other has brought that one, or the break before its session where that is not the day's first; so
    the first of a day makes the others cheaper. What does not fit is passed over, and a shorter one may still come in:
    the memory itself, if `otherwise` has a shorter version in its place. Given and returned in the order of relevance.
    Where everything fits, nothing is weighed, and where not even the shortest does, nothing more is.
    """
    if sum([memory.tokens for memory in memories]) + HEADER_TOKENS * len(memories) <= max_tokens:
        return list(memories), [], tokens_of(memories)
    groups = [(day_of(memory), memory.session) for memory in memories]
    of_day: dict[date, list[int]] = {}
    of_session: dict[tuple[date, str], list[int]] = {}
    for place, (day, session) in enumerate(groups):
        of_day.setdefault(day, []).append(place)
        of_session.setdefault((day, session), []).append(place)
    sessions: dict[date, set[str]] = {day: set() for day in of_day}
    versions = [memories] if otherwise is None else [memories, otherwise]
    shortest = [memory.tokens for memory in memories]
    if otherwise is not None:
        shortest = list(map(min, shortest, [memory.tokens for memory in otherwise]))
    worth = [-memory.score for memory in memories]
    waiting = [(worth[place] / max(cost + HEADER_TOKENS, 1), place) for place, cost in enumerate(shortest)]
    heapify(waiting)
    by_cost = deque(sorted(range(len(memories)), key=shortest.__getitem__))
    kept: dict[int, Recalled] = {}
    room = max_tokens
    while waiting and by_cost and shortest[by_cost[0]] <= room:
        _, place = heappop(waiting)
        if place in kept:
            continue
        day, session = groups[place]
        brought = sessions[day]
        extra = HEADER_TOKENS if not brought else 0 if session in brought else BREAK_TOKENS
        for version in versions:
            if version[place].tokens + extra <= room:
                kept[place] = version[place]
                break
        else:
            continue
        room -= kept[place].tokens + extra
        while by_cost and by_cost[0] in kept:
            by_cost.popleft()
        if session not in brought:  # others are cheaper now, also those that were passed over
            cheaper = of_session[day, session] if brought else of_day[day]
            brought.add(session)
            for other in cheaper:
                if other not in kept:
                    more = 0 if groups[other][1] in brought else BREAK_TOKENS
                    heappush(waiting, (worth[other] / max(shortest[other] + more, 1), other))
    return (
        [kept[place] for place in sorted(kept)],
        [memory for place, memory in enumerate(memories) if place not in kept],
        max_tokens - room,
    )
