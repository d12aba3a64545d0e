"""Whether an answer holds: the reader finds the words, the facts say from when until when they are so."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from everwhen.agent.bank import Bank
from everwhen.agent.extractive.reading import HELD, Found, Reply, read_turn, words
from everwhen.agent.time_asked import undated
from everwhen.models.reader import Reader
from everwhen.types import Fact
from everwhen.when import Interval

SURE = 0.5  # the confidence from which a fact counts
FEW = 3  # replies that are looked at
_PAST = re.compile(r"(?i)\b(?:did|was|were|had|used to|been)\b")


def held(bank: Bank, reader: Reader, found: Found, at: datetime) -> tuple[Found, Fact | None]:
    """The reply that holds at the time asked about comes first, and its fact; replies that hold no longer go.

    The best reply says which fact is asked for: the one that was read in its turn, with its words.
    """
    then = _asked_for(found, at, bank.zone)
    if then is None:
        return found, None
    for reply in found.replies[:FEW]:
        fact = _fact(bank, found, reply)
        if fact is None or fact.valid.overlaps(then):
            break
        following = [
            one for one in bank.facts.history(fact.subject, fact.predicate)
            if one.valid.overlaps(then) and one.confidence >= SURE and one.sources
        ]  # fmt: skip
        if following and not bank.facts.predicates.find(fact.predicate).multi:
            now = following[-1]
            return found.led_by(_pointing(read_turn(bank, reader, found, now.sources[0]), now)), now
        if fact.valid.end is None or (then.start is not None and fact.valid.end > then.start):
            break
        found = replace(found, replies=tuple(one for one in found.replies if one is not reply), gone=fact)
    return found, None


def _asked_for(found: Found, at: datetime, zone: str) -> Interval | None:
    """The time that a question is about: the one that it names, or now; none where it asks for the past at large."""
    if found.asked.kind not in HELD or found.asked.before:
        return None
    named = undated(found.asked.words, at, zone)
    if named is not None:
        return named[1]
    return None if _PAST.search(found.asked.words) else Interval(at, at + timedelta(microseconds=1))


def _fact(bank: Bank, found: Found, reply: Reply) -> Fact | None:
    """The fact that a reply tells: it was read in the same turn, and most of the reply's words are its value."""
    recalled = (bank.facts.get(one.id).subject for one in found.recall.memories if one.kind == "fact")
    told = [
        one for subject in dict.fromkeys((reply.turn.speaker, *recalled)) for one in bank.facts.about(subject)
        if reply.turn.id in one.sources and one.confidence >= SURE and _is_same(reply, one)
    ]  # fmt: skip
    return max(told, key=lambda one: one.confidence, default=None)


def _is_same(reply: Reply, fact: Fact) -> bool:
    said = words(reply.words)
    return 2 * len(said & words(fact.object)) >= max(1, len(said))


def _pointing(reply: Reply, fact: Fact) -> Reply:
    """The reply with a fact's value as its words, where the turn has them."""
    start = reply.passage.text.casefold().find(fact.object.casefold())
    if start < 0 or _is_same(reply, fact):
        return reply
    span = (start, start + len(fact.object))
    return replace(reply, reading=replace(reply.reading, span=span, span_chance=fact.confidence, others=()))
