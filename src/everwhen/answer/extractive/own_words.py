"""What a person said of themselves counts before what the assistant, a tool or a pasted text says of them."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.answer.extractive.reply import TurnReply, weight, words
from everwhen.facts.bitemporal import RIGHTS, SAID_BY
from everwhen.recall.question.names import capitalised
from everwhen.types import Origin, Turn
from everwhen.write.foreign_text import is_passed_on

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
    return SAID_BY[heard[0]] if heard and max(map(RIGHTS.__getitem__, heard)) < RIGHTS["speaker"] else None
