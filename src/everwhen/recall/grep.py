"""Exact words, found by reading: for what ranking cannot promise, that every place is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TypeAlias, TypeVar

from everwhen.errors import UsageError
from everwhen.types import Event, EventHit, Hit, Turn

SECONDS = 5.0
"""A search that takes longer is stopped: a pattern can be made to take for ever."""

T = TypeVar("T")
Spans: TypeAlias = tuple[tuple[int, int], ...]


def grep(turns: Iterable[Turn], pattern: str, *, regex: bool, limit: int) -> list[Hit]:
    """The turns that contain the pattern, in the order given, with where it stands in each."""
    return [
        Hit(turn, spans)
        for turn, spans in _found(turns, lambda turn: turn.text, pattern, regex=regex, limit=limit)
    ]


def grep_events(events: Iterable[Event], pattern: str, *, regex: bool, limit: int) -> list[EventHit]:
    """The same of events: who did what, the sentence, and the other words for it."""
    return [
        EventHit(event, line_of(event), spans)
        for event, spans in _found(events, line_of, pattern, regex=regex, limit=limit)
    ]


def line_of(event: Event) -> str:
    """What of an event is searched, as one line."""
    told = event.text or f"{event.subject} {event.verb} {event.object}".strip()
    return f"{told} ({'; '.join(event.aliases)})" if event.aliases else told


def _found(
    given: Iterable[T], words_of: Callable[[T], str], pattern: str, *, regex: bool, limit: int
) -> Iterator[tuple[T, Spans]]:
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
    deadline, count = monotonic() + SECONDS, 0
    for one in given:
        left = deadline - monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            spans = tuple(match.span() for match in compiled.finditer(words_of(one), timeout=left))
        except TimeoutError:
            raise UsageError(
                f"the search took longer than {SECONDS:g} s; use a simpler pattern or a narrower window"
            ) from None
        if spans:
            yield one, spans
            count += 1
            if count == limit:
                return
