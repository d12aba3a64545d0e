"""Exact words, found by reading: for what ranking cannot promise, that every place is listed."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from everwhen.errors import UsageError
from everwhen.types import Hit, Turn

SECONDS = 5.0
"""A search that takes longer is stopped: a pattern can be made to take for ever."""


def grep(turns: Iterable[Turn], pattern: str, *, regex: bool, limit: int) -> list[Hit]:
    """The turns that contain the pattern, in the order given, with where it stands in each."""
    import regex as engine  # re has no time limit

    if not pattern:
        raise UsageError("the pattern is empty; give the words to look for")
    if limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}")
    try:
        compiled = engine.compile(pattern if regex else engine.escape(pattern), engine.IGNORECASE)
    except engine.error as error:
        raise UsageError(
            f"the pattern is not a regular expression: {error}; leave out regex to search for it as it stands"
        ) from None
    deadline = monotonic() + SECONDS
    hits: list[Hit] = []
    for turn in turns:
        left = deadline - monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            spans = tuple(match.span() for match in compiled.finditer(turn.text, timeout=left))
        except TimeoutError:
            raise UsageError(
                f"the search took longer than {SECONDS:g} s; use a simpler pattern or a narrower window"
            ) from None
        if spans:
            hits.append(Hit(turn, spans))
            if len(hits) == limit:
                break
    return hits
