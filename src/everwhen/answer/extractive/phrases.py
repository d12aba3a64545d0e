"""An answer in the making, and in words: what was found, who said it and when; or what was looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from everwhen.answer.extractive.turn_replies import TurnReplies
from everwhen.recall.calendar_unit import unit_around
from everwhen.types import Citation, Fact, TimeAnswer, Turn
from everwhen_time import Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

EMPTY = "Not known: the bank is empty, nothing was added to it yet."
SHORTEST_SHOWN = 120  # characters of the nearest thing that a refusal shows


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """An answer in the making. `how` is told in the trace. Without a `text` there is none, for the `reason`."""

    how: str
    text: str = ""
    citations: tuple[Citation, ...] = ()
    intervals: tuple[Interval, ...] = ()
    confidence: float | None = None  # where the way of answering has one of its own
    reason: str = ""
    short: str = ""  # the answer's own words, without who said it and when
    late: bool = False  # there is an answer, which rests on what was said only later than what may be known


def cited(answer: TimeAnswer | None) -> tuple[Citation, ...]:
    if answer is None:
        return ()
    return tuple(
        Citation(one.turn, one.quote, one.said_at, one.speaker, answer.zone)
        for one in answer.evidence
        if one.turn
    )


def said(short: str, quote: str, turn: Turn) -> str:
    """The short answer, and the words that bear it out."""
    words = f'{turn.speaker}, {day(turn.said_at, turn.zone)}: "{quote}"'
    return f"{short.rstrip('.')}. {words}" if short else words


def day(instant: datetime, zone: str) -> str:
    local = instant.astimezone(zone_of(zone))
    return f"{local.day} {local:%B %Y}"


def time(interval: Interval, zone: str) -> str:
    """An interval for people, with a capital."""
    words = in_plain_words(interval, zone)
    return words[:1].upper() + words[1:]


def whole_days(interval: Interval, zone: str) -> Interval:
    """A part of a day as the day on which it began: who asks when asks for the day. "Last night" is yesterday's."""
    if interval.start is None or interval.end is None or interval.end - interval.start >= timedelta(days=1):
        return interval
    return unit_around(interval.start, "day", zone)


def refusal(found: TurnReplies, reason: str) -> str:
    """What was searched, why it is no answer, and the nearest thing."""
    turns = [one.turn for one in found.replies] or list(found.unread)
    looked = f"{len(turns)} turn{'s' * (len(turns) != 1)}" if turns else "the memory"
    text = f"Not known: {reason}. Looked through {looked}"
    if not turns:
        return f"{text}; nothing comes near."
    quote = found.replies[0].quote if found.replies else turns[0].text
    quote = quote if len(quote) <= SHORTEST_SHOWN else f"{quote[: SHORTEST_SHOWN - 1]}…"
    return f'{text}; the nearest is {turns[0].speaker}, {day(turns[0].said_at, turns[0].zone)}: "{quote}"'


def ended(fact: Fact, zone: str) -> str:
    return f"{fact.text} until {day(fact.valid.end or fact.valid_from, fact.zone or zone)}"


def set_by_hand(short: str, fact: Fact, zone: str) -> str:
    """The short answer, and the fact that bears it out: nobody said it, somebody set it."""
    start = day(fact.valid_from, zone)
    held = f"since {start}" if fact.valid_to is None else f"from {start} until {day(fact.valid_to, zone)}"
    return f'{short[:1].upper()}{short[1:]}. "{fact.text}" {held}; it was set by hand'


def unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Each turn once."""
    return tuple({one.turn: one for one in reversed(citations)}.values())[::-1]
