"""An answer in words: what was found, who said it and when; or what was looked for and not found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from everwhen.agent.extractive.evidence import Found
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
    looked = f"{len(found.turns)} turns" if found.turns else "the memory"
    text = f"Not known: {reason}. Looked through {looked}"
    if not found.sentences:
        return f"{text}; nothing comes near."
    near = min(found.sentences, key=lambda one: (one.place, -one.cover))
    quote = near.text if len(near.text) <= SHORTEST_SHOWN else f"{near.text[: SHORTEST_SHOWN - 1]}…"
    return f'{text}; the nearest is {near.turn.speaker}, {day(near.turn.said_at, near.turn.zone)}: "{quote}"'


def why_not(found: Found) -> str:
    """The plainest reason for which there is no answer."""
    heard = {stem for stem in found.terms.weights if stem not in found.terms.never}
    if found.terms.never and found.terms.unheard >= 0.3:
        missing = ", ".join(f"'{one}'" for one in unheard_words(found))
        return f"nobody ever spoke of {missing}"
    if found.names and not any(one.mine for one in found.sentences[:5]):
        return (
            f"what comes near is not about {' and '.join(name.capitalize() for name in sorted(found.names))}"
        )
    return "nothing that was said answers it" if heard else "the question names nothing to look for"


def unheard_words(found: Found) -> list[str]:
    """The question's own words for what nobody ever spoke of."""
    from everwhen.agent.extractive.terms import stems_of

    words = [word.strip("?.,!\"'’“”()") for word in found.asked.words.split()]
    return [word for word, stems in zip(words, stems_of(words), strict=True) if stems & found.terms.never]


def unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Each turn once."""
    return tuple({one.turn: one for one in reversed(citations)}.values())[::-1]
