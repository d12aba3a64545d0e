"""How often a key may ask: a bucket of tokens for each, refilled at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 10_000
"""Buckets that are remembered; the one used longest ago goes first, and would be full again by then."""


class RateLimits:
    """`tokens = min(burst, tokens + rate * seconds)`; a request takes one. Used from the event loop alone.

    Processes that share a load share the rate: each allows its part (`processes` says how many there are now).
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        clock: Callable[[], float] = time.monotonic,
        processes: Callable[[], int] = lambda: 1,
    ) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._clock = clock
        self._processes = processes
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """0 when the request may go on, else the seconds after which the next one may."""
        now = self._clock()
        processes = self._processes()
        rate, burst = self._rate / processes, max(1.0, self._burst / processes)
        level, since = self._levels.pop(key, (burst, now))
        level = min(burst, level + rate * (now - since))
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, now)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / rate
