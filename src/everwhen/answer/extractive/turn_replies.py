"""What the recalled turns reply to a question, as our reader reads them, and which reply counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TypeAlias

from everwhen.answer.extractive.reply import (
    TurnReply,
    asks_for_words,
    chance_of_reply,
    content,
    fitted,
    in_words,
    log_odds,
    own_replies,
    person_asked,
    stated_reply,
    told_at,
    weight,
    words,
)
from everwhen.api.operations.surface import Bank
from everwhen.models.comparison import Passage, Reader
from everwhen.recall.names import surely_named
from everwhen.recall.question import Question, parse, undated
from everwhen.types import Recall, Turn
from everwhen.types.facts import relations
from everwhen.types.recall import Recipe
from everwhen.write.changes.newer_answers import newest_reply
from everwhen_time import Interval, resolve
from everwhen_time.sentences import pieces


def speaks_of(turn: Turn, asked_time: Interval, question: str) -> bool:
    """Whether a turn speaks of a time: it was said in it or names it; or was said before it ended, where the question
    asks how things stand, since that goes on until something else is said."""
    if asked_time.contains(turn.said_at):
        return True
    if asked_time.end is not None and turn.said_at < asked_time.end and content(question) & _relation_words():
        return True
    named = (ref.interval for ref in resolve(turn.text, turn.said_at, turn.zone))
    return any(one is not None and one.overlaps(asked_time) for one in named)


@cache
def _relation_words() -> frozenset[str]:
    """The words by which people ask how things stand in life and work."""
    return frozenset().union(*(content(one) for kind in relations() for one in kind.questions)) - {"who"}


READ = 6  # best turns that are read
TOKENS = 4096
LAST = 1.0  # log odds, set by hand, that a later reply gains where the question asks for the last
MANY = 12  # best turns that are read where things are counted: they are said in many places
MANY_TOKENS = 16384
PIECE = 280  # characters of a turn that are read at once: a long one may speak of ten things
PIECES = 6  # pieces of one turn that are read
BEFORE = 160  # characters of the turn before that are read along
MOSTLY = 2 / 3  # of what users said, by the one who asks
UNNAMED = "user"  # who has said nothing under a name
LOWEST = 1e-6  # the least share of the best score that counts
HELD = ("who", "where", "what", "name", "amount")

ReadPiece: TypeAlias = tuple[Turn, Passage, int, float]
"""A piece of a turn, where it begins, and how far, in logits, its turn stands behind the best that was recalled."""


@dataclass(frozen=True, slots=True)
class TurnReplies:
    """What was read for a question, the best reply first."""

    asked: Question
    recall: Recall
    replies: tuple[TurnReply, ...]
    unread: tuple[Turn, ...] = ()  # the best turns, where there is no reader
    pieces_read: tuple[ReadPiece, ...] = ()  # what was read, so that it can be asked something else
    asker: str | None = None  # who "I" is; None where it may be one or the other
    person: str | None = None  # who of those who speak is asked about

    @property
    def answerable(self) -> float:
        """The recall's own confidence that there is an answer."""
        return float(self.recall.trace.get("answerable") or 0.0)

    def led_by(self, best: TurnReply) -> TurnReplies:
        """The same with another reply first."""
        return replace(self, replies=(best, *(one for one in self.replies if one is not best)))

    def signs(self) -> dict[str, float]:
        """What the chance of an answer is computed from: log odds of the best reply and of the recall."""
        best = (self.replies[0].shown_by or self.replies[0].reading) if self.replies else None
        return {
            "relevance": best.relevance if best else -8.0,
            "answers": log_odds(chance_of_reply(best)) if best else -8.0,
            "span": log_odds(best.span_chance) if best else -8.0,
            "recalled": log_odds(self.answerable),
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
        found = _look(bank, reader, asked, asked.base, recall(asked.base), at)
        earlier = _earlier(asked.before, list(found.replies))
        if earlier:
            return replace(found, replies=tuple(earlier))
    named = undated(asked.words, at, bank.zone) if asked.kind in HELD else None
    if named is not None and named[1].end is not None and named[1].end <= at:
        question, asked_time = named
        found = _look(bank, reader, asked, question, recall(question), at)
        held = [
            one for one in found.replies if one.answers >= 0.5 and speaks_of(one.turn, asked_time, question)
        ]
        if held and reader is not None:
            return replace(found, replies=tuple(_ordered(reader, question, held, found.person)))
    return _look(bank, reader, asked, asked.words, recall(asked.words), at)


def _look(
    bank: Bank, reader: Reader | None, asked: Question, question: str, recall: Recall, at: datetime
) -> TurnReplies:
    ids: dict[str, float] = {}
    for memory in recall.memories:
        if memory.kind == "turn" and memory.turns:
            ids.setdefault(memory.turns[0], math.log(max(memory.score, LOWEST)))
    first_person = parse(question).first_person
    own: list[tuple[Turn, list[Turn]]] = []
    for id_ in ids:
        near = bank.turns_around(id_, 1)
        turn = next(one for one in near if one.id == id_)
        # Whoever counts their own things spoke of them.
        if not (asked.each and first_person and turn.role == "assistant"):
            own.append((turn, near))
        if len(own) == (MANY if asked.each else READ):
            break
    asker = _asker([turn for turn, _ in own])
    of_question = words(question)
    pieces_read = [
        (turn, *piece, ids[turn.id])
        for turn, near in own
        for piece in _likeliest(_passages(turn, near, asker if first_person else None), of_question)
    ]
    if reader is None or not pieces_read:
        return TurnReplies(asked, recall, (), tuple(turn for turn, _ in own), asker=asker)
    best: dict[str, TurnReply] = {}
    for reply in _replies(reader, question, pieces_read):
        best.setdefault(reply.turn.id, reply)
    replies = list(best.values())
    person = person_asked(question, asker, [turn for turn, _ in own])
    time = parse(question, at, bank.zone).time
    if time is None or time.order != "first":
        asks_last = time is not None and time.order == "last"
        replies = _ordered(reader, question, replies, person, LAST if asks_last else 0.0)
    return TurnReplies(
        asked, recall, tuple(replies), pieces_read=tuple(pieces_read), asker=asker, person=person
    )


def _ordered(
    reader: Reader, question: str, replies: list[TurnReply], person: str | None, lean: float = 0.0
) -> list[TurnReply]:
    """The newest that replaces others first; where a person says it of themselves, nobody else's word replaces that."""
    candidates = own_replies(replies, person) or replies
    stated = [stated_reply(one) for one in candidates]
    first, surest = newest_reply(reader, question, stated, fitted()["replaces"], lean)
    best = candidates[first]
    newest = best if first == surest else replace(best, shown_by=candidates[surest].reading)
    rest = [one for one in candidates if one is not best]
    others = (one for one in replies if all(one.turn is not other.turn for other in candidates))
    return [newest, *rest, *others]


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
    pieces_read = [(turn, *piece, 0.0) for piece in _passages(turn, near, None)]
    known = [one for one in found.replies if one.turn.id == id_]
    return (known or _replies(reader, found.asked.words, pieces_read))[0]


def ask_again(reader: Reader, found: TurnReplies, question: str) -> TurnReplies:
    """What every piece that was read replies to another question, the best first."""
    return replace(found, replies=tuple(_replies(reader, question, found.pieces_read)))


def _replies(reader: Reader, question: str, pieces_read: Sequence[ReadPiece]) -> list[TurnReply]:
    readings = reader.read(question, [passage for _, passage, *_ in pieces_read])
    if asks_for_words(question):
        readings = list(map(in_words, readings))
    replies = [
        TurnReply(turn, passage, reading, start, recalled)
        for (turn, passage, start, recalled), reading in zip(pieces_read, readings, strict=True)
    ]
    return sorted(replies, key=lambda one: -weight(one))


def missing_name(question: str, passages: Iterable[Passage]) -> str:
    """A name in a question that no passage has: what they tell is then of something else."""
    texts = " ".join(f"{one.speaker} {one.before} {one.text}" for one in passages).casefold()
    return next((name for name in surely_named(question) if name.casefold() not in texts), "")


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


def _earlier(than: str, replies: list[TurnReply]) -> list[TurnReply]:
    """What held before something: replies that are not that itself, said before it was, the latest of them first; none
    where nothing replies with that something."""
    itself = [one for one in replies if words(than) & words(one.words)]
    until = max((told_at(one) for one in itself if one.answers >= 0.5), default=None)
    if until is None:
        return []
    others = [one for one in replies if one not in itself and one.answers >= 0.5 and told_at(one) < until]
    others.sort(key=told_at, reverse=True)
    return [*others, *(one for one in replies if one not in others)] if others else []
