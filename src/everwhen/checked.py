"""Arguments at the front door, checked once: what is wrong gets one sentence that says how to put it right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from everwhen.errors import UsageError
from everwhen.facts.wording import certainty
from everwhen.ingest.messages import LONGEST_LABEL, clean, is_zone, message
from everwhen.recall import Recipe
from everwhen.settings import Settings
from everwhen.store.instants import aware
from everwhen.when import Interval

LONGEST_WORDS = 1_000_000
"""Characters of a question, a topic, a pattern or an expression: somebody may paste a document into it."""

Between: TypeAlias = Interval | tuple[datetime | None, datetime | None]
"""A stretch of time as callers give it: an interval, or its two sides."""


def local(instant: datetime | None, own_zone: str | None, name: str) -> datetime | None:
    """As `aware`, but a zone given beside a naive instant makes it local time."""
    if isinstance(instant, datetime) and instant.tzinfo is None and own_zone is not None:
        instant = instant.replace(tzinfo=ZoneInfo(zone(own_zone)))
    return aware(instant, name)


def zone(name: str) -> str:
    """An IANA zone that exists."""
    if not isinstance(name, str) or not is_zone(name):
        raise UsageError(f"unknown zone {name!r:.60}; use an IANA name such as 'Europe/Lisbon' or 'UTC'")
    return name


def between(
    given: Between | None,
    before: datetime | None,
    after: datetime | None,
) -> Interval | None:
    """One interval from `between`, `before` and `after`; `after` is inclusive and `before` exclusive."""
    if given is None:
        start, end = None, None
    elif isinstance(given, Interval):
        start, end = given.start, given.end
    elif isinstance(given, tuple | list) and len(given) == 2:
        start, end = aware(given[0], "between"), aware(given[1], "between")
    else:
        raise UsageError("between takes an Interval or a pair of datetimes (start, end)")
    start = max(filter(None, (start, aware(after, "after"))), default=None)
    end = min(filter(None, (end, aware(before, "before"))), default=None)
    if start is None and end is None:
        return None
    if start is not None and end is not None and end < start:
        raise UsageError(
            f"the window is empty: it would start at {start.isoformat()} and end before, at {end.isoformat()}"
        )
    return Interval(start, end, "second")


def until(window: Interval | None, as_of: datetime | None) -> Interval | None:
    """The window cut to what had been said by an instant, that instant included."""
    if as_of is None:
        return window
    end = as_of + timedelta(microseconds=1)
    start = window.start if window else None
    if window and window.end:
        end = min(end, window.end)
    return Interval(start if start is None or start <= end else end, end, "second")


def names(given: Sequence[str] | None, what: str, known: Sequence[str]) -> frozenset[str] | None:
    """A list of names, each of them known; a plain string would be taken letter by letter."""
    if given is None:
        return None
    if isinstance(given, str):
        raise UsageError(f"{what} takes a list, such as {what}=[{given!r}]")
    if unknown := [str(one) for one in given if one not in known]:
        raise UsageError(f"{what}: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    return frozenset(given)


def words(given: str, what: str) -> str:
    """Text that every part can hold: no lone surrogate, no NUL."""
    if not isinstance(given, str):
        raise UsageError(f"the {what} must be text, not {type(given).__name__}")
    if len(given) > LONGEST_WORDS:
        raise UsageError(f"the {what} has {len(given):,} characters; {LONGEST_WORDS:,} are allowed")
    return clean(given)


def whole(given: int, what: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise UsageError(f"{what} must be a whole number, not {given!r}")
    return given


def several(messages: Any) -> Iterable[Any]:
    """Messages one after the other; a single one would be taken apart."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError("messages must be a list (or another iterable) of strings or objects")
    return messages


def fraction(given: float | None, what: str) -> float | None:
    """A number from 0 to 1."""
    return None if given is None else certainty(given, what)


def label(given: str | None, what: str) -> str | None:
    if given is None:
        return None
    text = clean(str(given)).strip()
    if not text:
        raise UsageError(f"the {what} is empty; leave it out, or name it")
    if len(text) > LONGEST_LABEL:
        raise UsageError(f"the {what} has {len(text)} characters; at most {LONGEST_LABEL} are kept")
    return text


def metadata(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if given is None else dict(message({"content": "-", "metadata": given}).metadata)


def recipe(budget: str | int, settings: Settings) -> Recipe:
    """The default recipe with the thinking budget asked for: a name or a number of candidates a channel."""
    if isinstance(budget, str):
        if budget not in settings.candidates:
            choices = ", ".join(settings.candidates)
            raise UsageError(f"unknown budget {budget!r}; use {choices}, or a number of candidates")
        count = settings.candidates[budget]
    else:
        count = whole(budget, "budget")
    if count < 1:
        raise UsageError(f"budget must be at least 1, got {count}")
    return Recipe(
        str(budget),
        count,
        min_similarity=settings.min_similarity,
        rrf_k=settings.rrf_k,
        tree=settings.tree_recall,
        gate=settings.gate,
    )
