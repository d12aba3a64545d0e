"""What the recalled turns reply to a question, as our reader reads them, and which reply counts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TypeAlias

from everwhen.models.reader import KINDS, Passage, Reader, Reading
from everwhen.operations import Bank
from everwhen.question import Question, parse
from everwhen.question.names import surely_named
from everwhen.question.time_asked import undated
from everwhen.recall import Recall, Recipe
from everwhen.relations import relations
from everwhen.sentences import around, pieces, sentence_at
from everwhen.types import Citation, Turn
from everwhen.when import Interval, resolve

_FRAME = """
    a an and are at by did do does for from has have how i in is it long many me much my of on s the to was we were what
    when where which who with
"""


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return frozenset(re.findall(r"\w+", text.casefold())) - frozenset(_FRAME.split())


def tells_of(turn: Turn, then: Interval, question: str) -> bool:
    """Whether a turn tells of a time: it was said in it or names it; or was said before it ended, where the question
    asks how things stand, since that goes on until something else is told."""
    if then.contains(turn.said_at):
        return True
    if then.end is not None and turn.said_at < then.end and content(question) & _relation_words():
        return True
    named = (ref.interval for ref in resolve(turn.text, turn.said_at, turn.zone))
    return any(one is not None and one.overlaps(then) for one in named)


@cache
def _relation_words() -> frozenset[str]:
    """The words by which people ask how things stand in life and work."""
    return frozenset().union(*(content(one) for kind in relations() for one in kind.questions)) - {"who"}


READ = 6  # best turns that are read
TOKENS = 4096
MANY = 12  # best turns that are read where things are counted: they are told in many places
MANY_TOKENS = 16384
PIECE = 280  # characters of a turn that are read at once: a long one may speak of ten things
PIECES = 6  # pieces of one turn that are read
BEFORE = 160  # characters of the turn before that are read along
POINTS = 0.5  # the chance from which the words that the reader points at are the answer
QUOTE = 200  # characters of the sentences that speak for themselves
MOSTLY = 2 / 3  # of what users said, by the one who asks
UNNAMED = "user"  # who has said nothing under a name
NEAR = 4.0  # logits that a reply may stand behind the best one and still replace it because it is newer
LOWEST = 1e-6  # the least share of the best score that counts
_NONE = KINDS.index("none")
HELD = ("who", "where", "what", "name", "amount")
_EDGE = ' \t\n,;:"“”‘’()[]{}*_-–—…'

Told: TypeAlias = tuple[Turn, Passage, int, float]
"""A piece of a turn, where it begins, and how far, in logits, its turn stands behind the best that was recalled."""


@dataclass(frozen=True, slots=True)
class TurnReply:
    turn: Turn
    passage: Passage
    reading: Reading
    start: int = 0  # where in the turn's text the passage begins: a long turn is read in pieces
    recalled: float = 0.0  # how far, in logits, its turn stands behind the best that was recalled

    @property
    def answers(self) -> float:
        """The chance that it replies at all."""
        return 1.0 - float(self.reading.kinds[_NONE])

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
        return self.reading.relevance + _logit(yes) - _logit(no)

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


@dataclass(frozen=True, slots=True)
class TurnReplies:
    """What was read for a question, the best reply first."""

    asked: Question
    recall: Recall
    replies: tuple[TurnReply, ...]
    unread: tuple[Turn, ...] = ()  # the best turns, where there is no reader
    told: tuple[Told, ...] = ()  # what was read, so that it can be asked something else
    asker: str | None = None  # who "I" is; None where it may be one or the other

    @property
    def answerable(self) -> float:
        """The recall's own confidence that there is an answer."""
        return float(self.recall.trace.get("answerable") or 0.0)

    def led_by(self, best: TurnReply) -> TurnReplies:
        """The same with another reply first."""
        return replace(self, replies=(best, *(one for one in self.replies if one is not best)))

    def signs(self) -> dict[str, float]:
        """What the chance of an answer is computed from: log odds of the best reply and of the recall."""
        best = self.replies[0].reading if self.replies else None
        return {
            "relevance": best.relevance if best else -8.0,
            "answers": _logit(self.replies[0].answers) if best else -8.0,
            "span": _logit(best.span_chance) if best else -8.0,
            "recalled": _logit(self.answerable),
        }


def find_replies(
    bank: Bank,
    reader: Reader | None,
    asked: Question,
    *,
    at: datetime,
    as_of: datetime | None = None,
    recipe: Recipe | None = None,
) -> TurnReplies:
    """Recall, read the best turns, and put the reply first that counts."""

    def recall(question: str) -> Recall:
        tokens = MANY_TOKENS if asked.each else TOKENS
        return bank.recall(question, at=at, as_of=as_of, max_tokens=tokens, recipe=recipe, fresh=True)

    if asked.before:
        found = _look(bank, reader, asked, asked.base, recall(asked.base))
        earlier = _earlier(asked.before, list(found.replies))
        if earlier:
            return replace(found, replies=tuple(earlier))
    named = undated(asked.words, at, bank.zone) if asked.kind in HELD else None
    if named is not None and named[1].end is not None and named[1].end <= at:
        question, then = named
        found = _look(bank, reader, asked, question, recall(question))
        held = [one for one in found.replies if one.answers >= 0.5 and tells_of(one.turn, then, question)]
        if held and reader is not None:
            return replace(found, replies=tuple(_newest(reader, question, held)))
    return _look(bank, reader, asked, asked.words, recall(asked.words))


def _look(bank: Bank, reader: Reader | None, asked: Question, question: str, recall: Recall) -> TurnReplies:
    ids: dict[str, float] = {}
    for memory in recall.memories:
        if memory.kind == "turn" and memory.turns:
            ids.setdefault(memory.turns[0], math.log(max(memory.score, LOWEST)))
    first_person = parse(question).first_person
    own: list[tuple[Turn, list[Turn]]] = []
    for id_ in ids:
        near = bank.turns_around(id_, 1)
        turn = next(one for one in near if one.id == id_)
        # Who counts his own things told of them himself.
        if not (asked.each and first_person and turn.role == "assistant"):
            own.append((turn, near))
        if len(own) == (MANY if asked.each else READ):
            break
    asker = _asker([turn for turn, _ in own])
    of_question = words(question)
    told = [
        (turn, *piece, ids[turn.id])
        for turn, near in own
        for piece in _likeliest(_passages(turn, near, asker if first_person else None), of_question)
    ]
    if reader is None or not told:
        return TurnReplies(asked, recall, (), tuple(turn for turn, _ in own), asker=asker)
    best: dict[str, TurnReply] = {}
    for reply in _replies(reader, question, told):
        best.setdefault(reply.turn.id, reply)
    replies = tuple(_newest(reader, question, list(best.values())))
    return TurnReplies(asked, recall, replies, told=tuple(told), asker=asker)


def _asker(turns: Sequence[Turn]) -> str | None:
    """Who "I" is: the user who said most of what was found, if somebody else put a word in between; None where it may
    be one or the other."""
    spoken = Counter(turn.speaker for turn in turns if turn.role == "user")
    if not spoken:
        return UNNAMED
    speaker, count = spoken.most_common(1)[0]
    return speaker if count >= MOSTLY * spoken.total() else None


def read_turn(bank: Bank, reader: Reader, found: TurnReplies, id_: str) -> TurnReply:
    """What one turn replies, whether or not it was recalled."""
    near = bank.turns_around(id_, 1)
    turn = next(one for one in near if one.id == id_)
    told = [(turn, *piece, 0.0) for piece in _passages(turn, near, None)]
    known = [one for one in found.replies if one.turn.id == id_]
    return (known or _replies(reader, found.asked.words, told))[0]


def ask_again(reader: Reader, found: TurnReplies, question: str) -> TurnReplies:
    """What every piece that was read replies to another question, the best first."""
    return replace(found, replies=tuple(_replies(reader, question, found.told)))


def _replies(reader: Reader, question: str, told: Sequence[Told]) -> list[TurnReply]:
    readings = reader.read(question, [passage for _, passage, *_ in told])
    replies = [
        TurnReply(turn, passage, reading, start, recalled)
        for (turn, passage, start, recalled), reading in zip(told, readings, strict=True)
    ]
    return sorted(replies, key=lambda one: -_weight(one))


def missing_name(question: str, passages: Iterable[Passage]) -> str:
    """A name in a question that no passage has: what they tell is then of something else."""
    told = " ".join(f"{one.speaker} {one.before} {one.text}" for one in passages).casefold()
    return next((name for name in surely_named(question) if name.casefold() not in told), "")


def _passages(turn: Turn, near: Sequence[Turn], asker: str | None) -> list[tuple[Passage, int]]:
    """A turn as it is read, in pieces that are short enough, each with what stands before it; and where each begins.

    Where a user asks about himself, his name is "user".
    """
    before = [one for one in near if one.session == turn.session and one.seq < turn.seq][-1:]
    names = [
        "user" if one.role == "user" and one.speaker == asker else one.speaker for one in (*before, turn)
    ]
    earlier = f"{names[0]}: {before[0].text}" if before else ""
    found = []
    for start, end in pieces(turn.text, PIECE):
        found.append((Passage(names[-1], turn.text[start:end], earlier[-BEFORE:]), start))
        earlier = f"{names[-1]}: {turn.text[:end]}"
    return found


def _likeliest(several: list[tuple[Passage, int]], asked: frozenset[str]) -> list[tuple[Passage, int]]:
    """The pieces that are read of one turn: of a pasted book those that have most of the question's words."""
    if len(several) <= PIECES:
        return several
    return sorted(several, key=lambda one: -len(asked & words(one[0].text)))[:PIECES]


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _weight(reply: TurnReply) -> float:
    """What the reader says of the reply, and what recall knows besides, which reads no turn but sees them all."""
    said = reply.reading.relevance + 0.5 * _logit(reply.answers) + 0.25 * _logit(reply.reading.span_chance)
    return said + 0.5 * reply.recalled


def _newest(reader: Reader, question: str, replies: list[TurnReply]) -> list[TurnReply]:
    """A later reply that replaces the best one comes first, and so on."""
    best = replies[0]
    while True:
        later = [
            one for one in replies
            if _order(one) > _order(best) and _weight(one) > _weight(replies[0]) - NEAR and one.answers >= 0.5
        ]  # fmt: skip
        if not later:
            break
        renews = reader.renews(question, [(best.passage, one.passage) for one in later])
        if float(renews.max()) <= 0:
            break
        best = later[int(renews.argmax())]
    return [best, *(one for one in replies if one is not best)]


def _earlier(than: str, replies: list[TurnReply]) -> list[TurnReply]:
    """What held before something: replies that are not that itself, said before it was, the latest of them first; none
    where nothing replies with that something."""
    itself = [one for one in replies if words(than) & words(one.words)]
    until = max((_order(one) for one in itself if one.answers >= 0.5), default=None)
    if until is None:
        return []
    others = [one for one in replies if one not in itself and one.answers >= 0.5 and _order(one) < until]
    others.sort(key=_order, reverse=True)
    return [*others, *(one for one in replies if one not in others)] if others else []


def _order(reply: TurnReply) -> tuple[datetime, int]:
    return reply.turn.said_at, reply.turn.seq


def _trimmed(text: str, span: tuple[int, int]) -> str:
    start, end = around(text, *span)
    words = text[start:end].rstrip(_EDGE)
    words = words if re.match(r"[-−][€$£]?\d", words) else words.lstrip(_EDGE)
    return words if "." in words[:-1] else words.removesuffix(".")


def _logit(chance: float) -> float:
    inside = min(max(chance, 1e-3), 1 - 1e-3)
    return math.log(inside / (1 - inside))
