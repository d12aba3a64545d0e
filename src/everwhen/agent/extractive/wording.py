"""An answer in words: what was found, who said it and when; or what was looked for and not found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from everwhen.agent.extractive.reading import Found
from everwhen.recall.spans import unit_around
from everwhen.types import Citation, Turn
from everwhen.when import Interval
from everwhen.when.render import describe
from everwhen.when.zones import zone_of

SHORTEST_SHOWN = 120
"""Characters of the nearest thing that a refusal shows."""


def said(short: str, quote: str, turn: Turn) -> str:
    """The short answer, and the words that bear it out."""
    words = f'{turn.speaker}, {day(turn.said_at, turn.zone)}: "{quote}"'
    return f"{short.rstrip('.')}. {words}" if short else words


def day(instant: datetime, zone: str) -> str:
    """A day for people."""
    local = instant.astimezone(zone_of(zone))
    return f"{local.day} {local:%B %Y}"


def time(interval: Interval, zone: str) -> str:
    """An interval for people, with a capital."""
    words = describe(interval, zone)
    return words[:1].upper() + words[1:]


def whole_days(interval: Interval, zone: str) -> Interval:
    """A part of a day as the day on which it began: who asks when asks for the day. "Last night" is yesterday's."""
    if interval.start is None or interval.end is None or interval.end - interval.start >= timedelta(days=1):
        return interval
    return unit_around(interval.start, "day", zone)


def refusal(found: Found, reason: str) -> str:
    """What was searched, why it is no answer, and the nearest thing."""
    looked = f"{len(found.replies)} turns" if found.replies else "the memory"
    text = f"Not known: {reason}. Looked through {looked}"
    if not found.replies:
        return f"{text}; nothing comes near."
    near = found.replies[0]
    quote = near.quote if len(near.quote) <= SHORTEST_SHOWN else f"{near.quote[: SHORTEST_SHOWN - 1]}…"
    return f'{text}; the nearest is {near.turn.speaker}, {day(near.turn.said_at, near.turn.zone)}: "{quote}"'


def unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Each turn once."""
    return tuple({one.turn: one for one in reversed(citations)}.values())[::-1]
