"""Arguments at the front door, checked once: what is wrong gets one sentence that says how to put it right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from everwhen.errors import UsageError
from everwhen.messages import LONGEST_LABEL, clean, message
from everwhen.operations.arguments import fraction as certainty
from everwhen.recall import Recipe
from everwhen.settings import Settings
from everwhen.when import Interval

LONGEST_WORDS = 1_000_000
"""Characters of a question, a topic, a pattern or an expression: somebody may paste a document into it."""


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
    return Recipe.of(settings, str(budget), count)
