"""What one recalled turn replies to a question, as our reader reads it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from everwhen.models.reader import KINDS, Passage, Reading
from everwhen.recall.question import parse
from everwhen.types import Citation, Turn
from everwhen.write.changes.newer_answers import StatedReply
from everwhen_time.sentences import around, sentence_at

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
    shown_by: Reading | None = None  # of an older reply that it replaces: how sure it is that this was told

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
