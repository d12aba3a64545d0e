"""Exact search: reads all turns or events, so that every match is found, which a ranking cannot promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from everwhen.errors import Unavailable, UsageError
from everwhen.types import Event, EventHit, Hit, Turn

if TYPE_CHECKING:
    from regex import Pattern

SECONDS = 5.0
"""A search that takes longer, by the clock on the wall, is given up: a pattern can be made to take for ever."""
AT_ONCE = 2
"""Regular expressions that a process works at at a time."""
CALLS_ITSELF = re.compile(r"(?<!\\)(?:\\\\)*\(\?(?:R|[+-]?\d|&|P>)")
"""`(?R)`, `(?1)`, `(?&name)`: half a gigabyte is used before the engine gives up."""
LONGEST_PATTERN = 1_000
"""Characters of a regular expression: compiling 30,000 takes half a second, and nothing can stop it."""
MOST_SPANS = 1_000
"""Places that are given of one turn: `x*` stands at every one of five million characters."""
LARGEST_BATCH = 512

T = TypeVar("T")
R = TypeVar("R")
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
    line = event.text or f"{event.subject} {event.verb} {event.object}".strip()
    return f"{line} ({'; '.join(event.aliases)})" if event.aliases else line


def _found(
    given: Iterable[T], words_of: Callable[[T], str], pattern: str, *, regex: bool, limit: int
) -> Iterator[tuple[T, Spans]]:
    if not pattern:
        raise UsageError("the pattern is empty; give the words to look for")
    if limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}")
    if regex and len(pattern) > LONGEST_PATTERN:
        raise UsageError(
            f"the pattern has {len(pattern):,} characters; a regular expression has at most {LONGEST_PATTERN:,}"
        )
    if regex and CALLS_ITSELF.search(pattern):
        raise UsageError("a pattern that calls itself, as (?R) does, is not searched for; spell it out")
    deadline, count = monotonic() + SECONDS, 0
    try:
        compiled = _compiled(pattern, regex)
        for some in _batches(given):
            texts = [words_of(one) for one in some]
            if regex:
                found = _within(deadline, lambda texts=texts: _spans(compiled, texts, deadline))  # type: ignore[misc]
            else:
                found = _spans(compiled, texts, deadline)
            for one, spans in zip(some, found, strict=True):
                if spans:
                    yield one, spans
                    count += 1
                    if count == limit:
                        return
    except TimeoutError:
        raise UsageError(
            f"the search took longer than {SECONDS:g} s; use a simpler pattern or a narrower window"
        ) from None


def _compiled(pattern: str, regex: bool) -> Pattern[str]:
    import regex as engine  # re has no time limit

    try:
        return engine.compile(pattern if regex else engine.escape(pattern), engine.IGNORECASE)
    except (engine.error, RecursionError, OverflowError, ValueError) as error:
        said = "too many brackets in one another" if isinstance(error, RecursionError) else error
        raise UsageError(
            f"the pattern is not a regular expression: {said}; leave out regex to search for it as it stands"
        ) from None


def _batches(given: Iterable[T]) -> Iterator[list[T]]:
    """Short lists first, so that a few hits are found without reading everything."""
    source, size = iter(given), 16
    while some := list(islice(source, size)):
        yield some
        size = min(2 * size, LARGEST_BATCH)


def _spans(compiled: Pattern[str], texts: Sequence[str], deadline: float) -> list[Spans]:
    found = []
    for text in texts:
        left = deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        # The engine counts the processor time of all threads, so that a busy process gets more of it than `left`;
        # who waits for the answer does so by the clock on the wall (`_within`).
        matches = compiled.finditer(text, timeout=left * AT_ONCE)
        try:
            found.append(tuple(match.span() for match in islice(matches, MOST_SPANS)))
        except MemoryError:
            raise UsageError("the pattern takes more memory than there is; use a simpler one") from None
    return found


_slots = BoundedSemaphore(AT_ONCE)


def _within(deadline: float, act: Callable[[], R]) -> R:
    """What `act` gives, or TimeoutError when the deadline passes first.

    A match cannot be stopped from outside: it is left to itself on a thread, which its processor time ends, and keeps
    its slot until then. So however many patterns are sent, no more than `AT_ONCE` are worked at.
    """
    if not _slots.acquire(timeout=max(0.0, deadline - monotonic())):
        raise Unavailable("other searches with hard patterns are still running; try again in a moment")
    done: Future[R] = Future()

    def work() -> None:
        try:
            done.set_result(act())
        except BaseException as error:
            done.set_exception(error)
        finally:
            _slots.release()

    Thread(target=work, name="everwhen-grep", daemon=True).start()
    return done.result(max(0.0, deadline - monotonic()))
