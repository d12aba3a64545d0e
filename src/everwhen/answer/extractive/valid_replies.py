"""Whether an answer holds: the reader finds the words, the facts say from when until when they are so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import cast

from everwhen.answer.extractive.reply import TurnReply, content, words
from everwhen.answer.extractive.turn_replies import HELD, TurnReplies, read_turn
from everwhen.api.operations.surface import Bank
from everwhen.errors import NotFound
from everwhen.facts.bitemporal import RIGHTS
from everwhen.facts.interface import Facts
from everwhen.models.comparison import Reader
from everwhen.recall.names import capitalised
from everwhen.recall.question import parse, undated
from everwhen.types import Fact
from everwhen.types.facts import relations
from everwhen_time import Interval

SURE = 0.5  # the confidence from which a fact counts
SURE_END = 0.9  # the chance from which a reply ends what an earlier one says
FEW = 3  # replies that are looked at
NEVER_BELIEVED = frozenset({"overruled", "proposed"})
NOW = frozenset({"now", "currently", "today", "still", "these", "days"})  # words that ask for what holds


@dataclass(frozen=True, slots=True)
class ValidReplies:
    """What was found, without replies that do not hold at the time asked about."""

    found: TurnReplies
    fact: Fact | None = None
    """What holds then; the first reply says it."""
    ended: Fact | None = None
    """What the best reply says, and has ended by then."""
    until: TurnReply | None = None
    """The reply that says so, where no fact does."""
    sure: bool = False
    """Whether the question is one that asks for just this fact, so that the reader need not be sure."""
    set_by_user: Fact | None = None
    """What holds then and no turn says: a user set it."""


def valid_replies(
    bank: Bank, reader: Reader, found: TurnReplies, at: datetime, unsure: bool, as_of: datetime | None = None
) -> ValidReplies:
    """The replies that hold at the time asked about, by what had been said `as_of`.

    A reply says which fact is asked for: the one that was read in its turn, with its words. Where another one holds,
    the turn that states that one replies. Where the reader is `unsure` what was before something, the facts know.
    """
    asked_time = _asked_for(found, at, bank.zone)
    before = found.asked.before
    if asked_time is None and not before:
        return ValidReplies(found)
    known, facts = _facts_about(bank, found, as_of), cast(Facts, bank.facts)
    corrected = _corrected_facts(bank, known, as_of)
    if (
        asked_time is not None
        and (fact := _fact_set_by_user(facts, found, known, corrected, asked_time)) is not None
    ):
        return ValidReplies(found, set_by_user=fact)
    if before and unsure and (fact := _before(found, known)) is not None:
        return ValidReplies(
            found.led_by(_pointing(read_turn(bank, reader, found, fact.sources[0]), fact)), fact, sure=True
        )
    if asked_time is None:
        return ValidReplies(found)
    if unsure and (fact := _asked_fact(found, known, asked_time)) is not None:
        return ValidReplies(
            found.led_by(_pointing(read_turn(bank, reader, found, fact.sources[0]), fact)), fact, sure=True
        )
    ended: Fact | None = None
    for reply in [one for one in found.replies[:FEW] if one.answers >= 0.5]:
        fact = _fact_stated_by(found, reply, known) or _fact_stated_by(found, reply, corrected)
        if fact is None and (until := _ended_by(found, reply, asked_time)) is not None:
            rest = tuple(one for one in found.replies if one not in (reply, until))
            return ValidReplies(replace(found, replies=rest), until=until)
        if fact is None or (fact.superseded_at is None and fact.valid.overlaps(asked_time)):
            break
        following = [
            one for one in known
            if (one.subject, one.predicate) == (fact.subject, fact.predicate)
            and one.valid.overlaps(asked_time) and one.sources
        ]  # fmt: skip
        if following and not facts.predicates.find(fact.predicate).multi:
            now = following[-1]
            return ValidReplies(
                found.led_by(_pointing(read_turn(bank, reader, found, now.sources[0]), now)), now
            )
        if fact.superseded_at is None and not _is_over(fact, asked_time) and not _is_ahead(fact, asked_time):
            break
        ended = ended or (fact if _is_over(fact, asked_time) else None)
        found = replace(found, replies=tuple(one for one in found.replies if one is not reply))
    ended = ended or _ended_value(found, known, asked_time)
    return ValidReplies(_since(bank, reader, found, ended) if ended else found, ended=ended)


def _fact_set_by_user(
    facts: Facts, found: TurnReplies, known: Sequence[Fact], corrected: Sequence[Fact], asked_time: Interval
) -> Fact | None:
    """A fact that no turn states, where the question asks for it or the best reply says what it replaced. What is said
    after it was set is newer than it."""
    answering = [one for one in found.replies[:FEW] if one.answers >= 0.5]
    wrong = _fact_stated_by(found, answering[0], corrected) if answering else None
    for fact in known:
        holds = (
            not fact.sources
            and fact.valid.overlaps(asked_time)
            and not facts.predicates.find(fact.predicate).multi
        )
        if not holds or any(one.turn.said_at > fact.recorded_at for one in answering):
            continue
        replaces = wrong is not None and (wrong.subject, wrong.predicate) == (fact.subject, fact.predicate)
        if replaces or _is_asked(found, fact, found.asked.words):
            return fact
    return None


def _asked_fact(found: TurnReplies, known: Sequence[Fact], asked_time: Interval) -> Fact | None:
    """What a question asks for in the words of a relation, where something of it holds at the time asked about."""
    asked = [
        one
        for one in known
        if one.sources and one.valid.overlaps(asked_time) and _is_asked(found, one, found.asked.words)
    ]
    best = max(asked, key=lambda one: (RIGHTS[one.origin], one.confidence), default=None)
    return best if found.asked.kind in HELD else None


def _corrected_facts(bank: Bank, known: Sequence[Fact], as_of: datetime | None) -> list[Fact]:
    """What a user has corrected since it was said: it is believed no longer."""
    slots = dict.fromkeys((one.subject, one.predicate) for one in known if not one.sources)
    versions = [one for slot in slots for one in bank.facts.history(*slot, versions=True)]
    return [one for one in _as_of(bank, versions, as_of) if one.superseded_at is not None]


def _since(bank: Bank, reader: Reader, found: TurnReplies, ended: Fact) -> TurnReplies:
    """What was said since something ended. The turn that ended it often says what is instead: "First message from
    Porto. We moved yesterday."."""
    end = read_turn(bank, reader, found, ended.sources[-1])
    later = [one for one in found.replies if one.turn.said_at >= end.turn.said_at and one.turn != end.turn]
    says_what_is_instead = (
        end.answers >= 0.5 and end.kind == "span" and end.points and not _is_same(end, ended)
    )
    return replace(found, replies=(end, *later) if says_what_is_instead else tuple(later))


def _ended_value(found: TurnReplies, known: Sequence[Fact], asked_time: Interval) -> Fact | None:
    """The fact that a question of yes or no asks for by its value, where it has ended: "do I still live in Lisbon?"."""
    asked = content(found.asked.words)
    if found.asked.kind != "yes or no":
        return None
    named = [one for one in known if content(one.object) <= asked]
    holds = {(one.subject, one.predicate) for one in named if not _is_over(one, asked_time)}
    over = [one for one in named if one.sources and (one.subject, one.predicate) not in holds]
    return next((one for one in over if any(asked & about for about in _questions(one.predicate))), None)


def _ended_by(found: TurnReplies, reply: TurnReply, asked_time: Interval) -> TurnReply | None:
    """What its speaker said later, by then, and ends what a reply says: "I stopped taking it". Of several the one that
    names most of what is asked."""
    said, asked = content(reply.words), content(found.asked.words)
    ends = [
        one
        for one in found.replies
        if reply.turn.said_at < one.turn.said_at
        and (asked_time.end is None or one.turn.said_at < asked_time.end)
        and one.turn.speaker == reply.turn.speaker
        and _is_end(one)
        and content(one.words) & said
    ]
    return max(ends, key=lambda one: len(content(one.turn.text) & asked), default=None)


def _is_end(reply: TurnReply) -> bool:
    status = reply.reading.status
    return status == "ended" and float(reply.reading.statuses.max()) >= SURE_END


def _asked_for(found: TurnReplies, at: datetime, zone: str) -> Interval | None:
    """The time that a question is about: the one that it names, or now; none where it asks for the past at large."""
    if found.asked.kind not in (*HELD, "yes or no") or found.asked.before:
        return None
    named = undated(found.asked.words, at, zone)
    if named is not None:
        return named[1] if found.asked.kind in HELD else None
    return None if found.asked.past else Interval(at, at + timedelta(microseconds=1))


def _facts_about(bank: Bank, found: TurnReplies, as_of: datetime | None) -> list[Fact]:
    """All that is known of those who reply, of those whom recalled facts are about, and of those whom the question
    names."""
    recalled = (bank.facts.get(one.id).subject for one in found.recall.memories if one.kind == "fact")
    speakers = (one.turn.speaker for one in found.replies[:FEW])
    subjects = dict.fromkeys((*speakers, *recalled, *capitalised(found.asked.words)))
    versions = [fact for one in subjects for fact in bank.facts.about(one, versions=as_of is not None)]
    return [
        fact
        for fact in _as_of(bank, versions, as_of)
        if fact.superseded_at is None and fact.confidence >= SURE and fact.status not in NEVER_BELIEVED
    ]


def _as_of(bank: Bank, versions: Sequence[Fact], as_of: datetime | None) -> Sequence[Fact]:
    """Versions of facts as they stood: those of which something had been said, and what became of them by then."""
    if as_of is None:
        return versions
    said = [one for one in versions if one.recorded_at <= as_of]
    by_then = {
        id_ for id_ in {source for one in said for source in one.sources} if _is_said(bank, id_, as_of)
    }
    return [
        replace(
            one,
            superseded_at=one.superseded_at if one.superseded_at and one.superseded_at <= as_of else None,
            sources=tuple(source for source in one.sources if source in by_then),
        )
        for one in said
        if not one.sources or by_then.intersection(one.sources)
    ]


def _is_said(bank: Bank, source: str, as_of: datetime) -> bool:
    try:
        return bank.turn(source).said_at <= as_of
    except NotFound:  # no turn, or forgotten
        return False


def _before(found: TurnReplies, known: Sequence[Fact]) -> Fact | None:
    """What held before the fact that a question names."""
    than = words(found.asked.before)
    for named in [
        one for one in known if words(one.object) & than and _is_asked(found, one, found.asked.base)
    ]:
        earlier = [
            one for one in known
            if (one.subject, one.predicate) == (named.subject, named.predicate)
            and one.valid_from < named.valid_from and one.sources
        ]  # fmt: skip
        if earlier:
            return earlier[-1]
    return None


def _is_asked(found: TurnReplies, fact: Fact, question: str) -> bool:
    """Whether a question is one of those by which people ask for a fact of this kind, about this subject: those of its
    relation, or one in the words of the predicate itself. Of a yes, the value is in the question."""
    own = parse(question).first_person and found.asker == fact.subject
    whose = words(fact.subject)
    if not own and not whose <= words(question):
        return False
    about = content(question) - whose - NOW
    if found.asked.kind == "yes or no":
        about -= content(fact.object)
    return about in _questions(fact.predicate) or (bool(about) and about <= words(fact.predicate))


@cache
def _questions(predicate: str) -> tuple[frozenset[str], ...]:
    """The words that say what each question for a relation is about."""
    return tuple(content(one) for kind in relations() if kind.name == predicate for one in kind.questions)


def _fact_stated_by(found: TurnReplies, reply: TurnReply, known: Sequence[Fact]) -> Fact | None:
    """The fact that a reply states: read in the same turn, and most of the reply's words are its value. Of a yes,
    the value is in the question."""
    stated = [one for one in known if reply.turn.id in one.sources]
    if found.asked.kind == "yes or no":
        asked = words(found.asked.words)
        stated = [one for one in stated if words(one.object) & asked] if reply.yes else []
    else:
        stated = [one for one in stated if _is_same(reply, one)]
    return max(stated, key=lambda one: one.confidence, default=None)


def _is_same(reply: TurnReply, fact: Fact) -> bool:
    said = words(reply.words)
    return 2 * len(said & words(fact.object)) >= max(1, len(said))


def _is_over(fact: Fact, asked_time: Interval) -> bool:
    return fact.valid.end is not None and asked_time.start is not None and fact.valid.end <= asked_time.start


def _is_ahead(fact: Fact, asked_time: Interval) -> bool:
    """Whether it began only later, on a day that was said."""
    return asked_time.end is not None and fact.valid_from >= asked_time.end and fact.valid.grain != "second"


def _pointing(reply: TurnReply, fact: Fact) -> TurnReply:
    """The reply with a fact's value as its words, where the turn has them."""
    start = reply.passage.text.casefold().find(fact.object.casefold())
    if start < 0 or _is_same(reply, fact):
        return reply
    span = (start, start + len(fact.object))
    return replace(reply, reading=replace(reply.reading, span=span, span_chance=fact.confidence, others=()))
