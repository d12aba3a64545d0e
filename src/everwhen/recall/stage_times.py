"""How long each stage of a recall takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Add a stage to the timings, in milliseconds."""
    start = perf_counter()
    yield
    timings[stage] = (perf_counter() - start) * 1000
