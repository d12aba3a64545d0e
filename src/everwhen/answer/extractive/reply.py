"""What one recalled turn replies to a question, as our reader reads it; whose word it is; and an answer in words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from everwhen.facts.bitemporal import RIGHTS, WHY_PROPOSED
from everwhen.models.comparison import KINDS, Passage, Reading
from everwhen.recall.calendar.evidence import unit_around
from everwhen.recall.names import capitalised
from everwhen.recall.question import parse
from everwhen.types import Citation, Fact, Origin, TimeAnswer, Turn
from everwhen.write.changes.newer_answers import StatedReply
from everwhen.write.foreign_text import is_passed_on
from everwhen_time import Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.sentences import around, sentence_at
from everwhen_time.zones import zone_of

POINTS = 0.5  # the chance from which the words that the reader points at are the answer
QUOTE = 200  # characters of the sentences that speak for themselves
_SPAN, _NONE = KINDS.index("span"), KINDS.index("none")
_WORDS_ASKED = frozenset({"who", "where", "why", "name", "amount", "count"})
_OPENS_WITH_WHAT = re.compile(
    r"\W*(?:(?:in|on|at|by|for|from|to|with|of|and|so)\s+)?(?:what|which|how)\b", re.IGNORECASE
)
_EDGE = ' \t\n,;:"“”‘’()[]{}*_-–—…'

_FRAME = """
    a an and are at by did do does for from has have how i in is it long many me much my of on s the to was we were what
    when where which who with
"""


@dataclass(frozen=True, slots=True)
class TurnReply:
    turn: Turn
    passage: Passage
    reading: Reading
    start: int = 0  # where in the turn's text the passage begins: a long turn is read in pieces
    recalled: float = 0.0  # how far, in logits, its turn stands behind the best that was recalled
    shown_by: Reading | None = None  # of an older reply that it replaces: how sure it is that this was said

    @property
    def answers(self) -> float:
        """The chance that it replies at all."""
        return chance_of_reply(self.reading)

    @property
    def kind(self) -> str:
        """`span`, `yes` or `no`, whichever is likeliest if it replies."""
        return KINDS[int(self.reading.kinds[:_NONE].argmax())]

    @property
    def yes(self) -> bool:
        """What it says to a question of yes or no."""
        return bool(self.reading.kinds[1] >= self.reading.kinds[2])

    @property
    def agrees(self) -> float:
        """How surely it says yes: a logit."""
        _, yes, no, _ = map(float, self.reading.kinds)
        return self.reading.relevance + log_odds(yes) - log_odds(no)

    @property
    def words(self) -> str:
        """The answer's own words: its parts as they stand, whole words, without what stands around them."""
        return ", ".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        spans = sorted([self.reading.span, *self.reading.others])
        parts = [_trimmed(self.passage.text, span) for span in spans if span != (0, 0)]
        return tuple(dict.fromkeys(part for part in parts if part))

    @property
    def points(self) -> bool:
        """Whether it is sure which words answer; where not, its sentences have to speak for themselves."""
        return self.reading.span_chance >= POINTS

    @property
    def quote(self) -> str:
        """The sentence that has the answer; where that is not sure, as many around it as are short."""
        start, end = self.reading.span
        place = self.start + start, self.start + max(end, start + 1)  # it may point at nothing
        return sentence_at(self.turn.text, *place, longest=0 if self.points else QUOTE)

    def citation(self) -> Citation:
        return Citation(self.turn.id, self.quote, self.turn.said_at, self.turn.speaker, self.turn.zone)


def weight(reply: TurnReply) -> float:
    """What the reader says of the reply, and what recall knows besides, which reads no turn but sees them all."""
    said = (
        reply.reading.relevance + 0.5 * log_odds(reply.answers) + 0.25 * log_odds(reply.reading.span_chance)
    )
    return said + 0.5 * reply.recalled


def stated_reply(reply: TurnReply) -> StatedReply:
    """A reply as it is compared with others that may replace it."""
    return StatedReply(reply.turn, reply.passage, reply.words, weight(reply), content(reply.turn.text))


def told_at(reply: TurnReply) -> tuple[datetime, int]:
    return reply.turn.said_at, reply.turn.seq


def _trimmed(text: str, span: tuple[int, int]) -> str:
    start, end = around(text, *span)
    words = text[start:end].rstrip(_EDGE)
    words = words if re.match(r"[-−][€$£]?\d", words) else words.lstrip(_EDGE)
    return words if "." in words[:-1] else words.removesuffix(".")


def asks_for_words(question: str) -> bool:
    """Whether a question asks for words, by its own: "what", "which", "how much". Without such a word ("it is blue,
    right?", "tell me if it is blue") a yes may be the reply."""
    kind = parse(question).kind
    return kind in _WORDS_ASKED or (kind == "what" and _OPENS_WITH_WHAT.match(question) is not None)


def in_words(reading: Reading) -> Reading:
    """A reading of a question that is not one of yes or no: to "how much was it?" a yes is no reply."""
    kinds = np.zeros_like(reading.kinds)
    kinds[_SPAN], kinds[_NONE] = reading.kinds[_SPAN], 1.0 - reading.kinds[_SPAN]
    return replace(reading, kinds=kinds)


def chance_of_reply(reading: Reading) -> float:
    return 1.0 - float(reading.kinds[_NONE])


def log_odds(chance: float) -> float:
    inside = min(max(chance, 1e-3), 1 - 1e-3)
    return math.log(inside / (1 - inside))


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return words(text) - frozenset(_FRAME.split())


NEAR = 6.0
"""How far, in weight, somebody's own reply may stand behind the best one and still count before it: set by hand."""
HEARSAY = 0.5
"""What an answer about a person keeps of its confidence that only the assistant, a tool or a pasted text gives."""


def person_asked(question: str, asker: str | None, turns: Sequence[Turn]) -> str | None:
    """Whom a question is about, of those who speak; None where it asks for what the assistant said or did, or for what
    several have in common."""
    said = words(question)
    if said & {"you", "your", "yours"}:
        return None
    if said & {"i", "me", "my", "mine"}:
        return asker
    named = {one.casefold() for one in capitalised(question)}
    speakers = {one.speaker for one in turns if one.role == "user"}
    about = [one for one in speakers if named & {one.casefold(), *one.casefold().split()}]
    return about[0] if len(about) == 1 else None


def origin_of(reply: TurnReply, person: str | None) -> Origin:
    turn = reply.turn
    if is_passed_on(turn.text, reply.words):
        return "pasted"
    if turn.role != "user":
        return turn.role
    return "self" if turn.speaker == person else "speaker"


def own_replies(replies: Sequence[TurnReply], person: str | None) -> list[TurnReply]:
    """The person's own replies, where they reply and the best of them is not far behind."""
    own = [one for one in replies if origin_of(one, person) == "self"]
    near = own and person is not None and own[0].answers >= 0.5 and weight(replies[0]) - weight(own[0]) < NEAR
    return own if near else []


def only_said_by(replies: Sequence[TurnReply], person: str | None) -> str | None:
    """Who says something of a person, where neither they nor anybody else who speaks does."""
    heard = [origin_of(one, person) for one in replies] if person is not None else []
    return (
        WHY_PROPOSED[heard[0]] if heard and max(map(RIGHTS.__getitem__, heard)) < RIGHTS["speaker"] else None
    )


@cache
def fitted() -> Mapping[str, Any]:
    """How sure an answer is and from when it is given, and when a later reply replaces an earlier one."""
    held: Mapping[str, Any] = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return held


EMPTY = "Not known: the bank is empty, nothing was added to it yet."


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """An answer in the making. `how` is shown in the trace. Without a `text` there is none, for the `reason`."""

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


def with_quote(short: str, quote: str, turn: Turn) -> str:
    """The short answer, and the words that bear it out."""
    words = f'{turn.speaker}, {day_in_words(turn.said_at, turn.zone)}: "{quote}"'
    return f"{short.rstrip('.')}. {words}" if short else words


def day_in_words(instant: datetime, zone: str) -> str:
    local = instant.astimezone(zone_of(zone))
    return f"{local.day} {local:%B %Y}"


def time_in_words(interval: Interval, zone: str) -> str:
    """An interval for people, with a capital."""
    words = in_plain_words(interval, zone)
    return words[:1].upper() + words[1:]


def whole_days(interval: Interval, zone: str) -> Interval:
    """A part of a day as the day on which it began: who asks when asks for the day. "Last night" is yesterday's."""
    if interval.start is None or interval.end is None or interval.end - interval.start >= timedelta(days=1):
        return interval
    return unit_around(interval.start, "day", zone)


def ended_in_words(fact: Fact, zone: str) -> str:
    return f"{fact.text} until {day_in_words(fact.valid.end or fact.valid_from, fact.zone or zone)}"


def set_by_user(short: str, fact: Fact, zone: str) -> str:
    """The short answer, and the fact that bears it out: nobody said it, somebody set it."""
    start = day_in_words(fact.valid_from, zone)
    held = (
        f"since {start}"
        if fact.valid_to is None
        else f"from {start} until {day_in_words(fact.valid_to, zone)}"
    )
    return f'{short[:1].upper()}{short[1:]}. "{fact.text}" {held}; it was set by hand'


def one_for_each_turn(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Each turn once."""
    return tuple({one.turn: one for one in reversed(citations)}.values())[::-1]
