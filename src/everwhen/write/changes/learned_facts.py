"""From extracted facts to believed ones: who says each, which of them contradict what is held, and since when they
hold.

An origin decides what a fact may change (`facts/bitemporal.py` has the rights). What contradicts a fact that is held
has to replace it ("good morning from Kyoto" does not move anybody): the reader is shown the turn that said what is
held and the one that says otherwise, and the question that both would answer. What it rules out is not learned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from everwhen.facts.bitemporal import OWN, RIGHTS, authority
from everwhen.facts.changes import INSTANT
from everwhen.facts.relearn import relearn
from everwhen.facts.statements import FactStatement, Predicates, checked_statement, folded
from everwhen.models.comparison import Passage, Reader
from everwhen.models.embedder import Embedder
from everwhen.store.sql.store import Store
from everwhen.types import ROLES, Origin, Turn
from everwhen.types.facts import asked_of, relations
from everwhen.write.entities import KnownEntities, are_name_forms
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.foreign_text import is_passed_on
from everwhen_time import Grain, Interval
from everwhen_time.tokens import word_set

UNNAMED = "user"
CALLED = "called"
"""The relation that gives somebody a name."""


class SaidBy:
    """Everybody who speaks in a bank, by all their names."""

    def __init__(self, store: Store, turns: Mapping[str, Turn], entities: KnownEntities) -> None:
        self._store, self._turns, self._entities = store, turns, entities
        people = (one for one in store.voices().speakers if one == UNNAMED or one not in ROLES)
        self._speakers = {folded(one): one for one in people}
        self._of_things = {one.name for one in relations() if one.of == "thing"}
        rows = store.facts.history(UNNAMED, CALLED, versions=False)
        self._own_names = [row.object for row in rows if row.origin == "self"]

    def attributed(self, facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
        """Facts with their origins, and each subject under the name by which that person speaks."""
        people = [one for one in facts if one.turns and one.predicate not in self._of_things]
        self._own_names += [
            one.object
            for one in people
            if (one.subject, one.predicate) == (UNNAMED, CALLED) and self._origin(one) == "self"
        ]
        named = [replace(one, subject=self._speaker(one.subject)) if one in people else one for one in facts]
        return [
            replace(new, origin=self._origin(new)) if old in people else old
            for old, new in zip(facts, named, strict=True)
        ]

    def _origin(self, fact: ExtractedFact) -> Origin:
        turn = self._turns[fact.turns[0]]
        if is_passed_on(turn.text, fact.object):
            return "pasted"
        if turn.role != "user":
            return turn.role
        return "self" if folded(fact.subject) == folded(turn.speaker) else "speaker"

    def _speaker(self, name: str) -> str:
        """The name under which somebody speaks; the name itself where that is nobody, or may be several."""
        called = folded(name)
        if called in self._speakers:
            return self._speakers[called]
        if any(called == folded(one) or are_name_forms(name, one) for one in self._own_names):
            return UNNAMED
        aliases = {other for names in self._people if called in names for other in names}
        found = [
            one
            for key, one in self._speakers.items()
            if (key in aliases if aliases else are_name_forms(name, one))
        ]
        return found[0] if len(found) == 1 else name

    @cached_property
    def _people(self) -> list[frozenset[str]]:
        """The names of each entity that the bank knows."""
        known = [one.names for one in self._entities.known.values()]
        known = known or [frozenset((one.name, *one.aliases)) for one in self._store.graph.entities()]
        return [frozenset(map(folded, names)) for names in known]


RULED_OUT = -10.0
"""The logit below which the later turn does not replace the earlier one, whatever it seems to tell."""

Key = tuple[str, str]
"""A subject and a predicate, folded."""


def believed(
    store: Store, reader: Reader | None, facts: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[ExtractedFact]:
    """The facts without those that contradict what is held and cannot replace it."""
    in_order = sorted(
        (one for one in facts if one.turns and one.turns[0] in turns),
        key=lambda one: turns[one.turns[0]].said_at,
    )
    if reader is None:
        return in_order
    predicates = Predicates(store.facts.predicates())
    held: dict[Key, tuple[str, Turn]] = {}
    found: list[ExtractedFact] = []
    for fact in in_order:
        turn, predicate = turns[fact.turns[0]], predicates.find(fact.predicate)
        if fact.status == "holds" and not predicate.multi:
            key = (folded(fact.subject), predicate.key)
            before = held.get(key) or _held_before(store, key, turn)
            is_other = before is not None and folded(before[0]) != folded(fact.object)
            if before is not None and is_other and _is_ruled_out(reader, fact, before[1], turn):
                continue
            if before is None or RIGHTS[fact.origin] >= OWN:  # nobody else's word is what is held
                held[key] = (fact.object, turn)
        found.append(fact)
    return found


def _held_before(store: Store, key: Key, turn: Turn) -> tuple[str, Turn] | None:
    """What holds when a turn is said, and the turn that said it."""
    for row in store.facts.valid_at(turn.said_at, {key[0]}, {key[1]}, None):
        sources = store.facts.sources([row.id]).get(row.id, [])
        before = [one for one in store.turns(ids=sources) if one.said_at < turn.said_at]
        if before:
            return row.object, before[0]
    return None


def _is_ruled_out(reader: Reader, fact: ExtractedFact, before: Turn, turn: Turn) -> bool:
    asks = next((one.questions for one in relations() if one.name == fact.predicate), ())
    if not asks:
        return False
    pair = (Passage(before.speaker, before.text), Passage(turn.speaker, turn.text))
    return float(reader.renews(asked_of(asks[0], fact.subject), [pair])[0]) < RULED_OUT


_ARTICLES = word_set("a an the my our his her their your this that")
_AFTER_HEAD = word_set(
    """a an the and or of in on at by for from to with without as per near over under after before during until since
    about around between through every each once twice half one two three four when while if that which who because
    not hourly daily nightly weekly monthly yearly"""
)
"""Words that a noun phrase goes on with when its head has been said; a number does so too."""


def learn_facts(
    store: Store,
    embedder: Embedder,
    facts: Sequence[ExtractedFact],
    turns: Mapping[str, Turn],
    around: Sequence[str] = (),
    *,
    dated: bool = False,
) -> int:
    """Give extracted facts, dated by the turns that they came from, to what is believed; how many are new.

    `turns` are all that were read: what was learned from them before and is not found any more is taken back.
    `around` are those that were read to understand them.
    """
    known = _KnownBeside(store, turns)
    dated_facts = [one for one in facts if one.turns and one.turns[0] in turns]
    for fact in sorted(dated_facts, key=lambda one: turns[one.turns[0]].said_at):
        turn = turns[fact.turns[0]]
        if fact.status in ("ended", "denied"):
            found = _with_its_end(known, fact, turn)
        elif fact.status == "held":
            found = _held_at_a_time(known, fact, turn)
        else:
            found = _as_statement(known, fact, turn)
        known.learned += [found] if found is not None else []
    now = datetime.now(UTC)
    zone = store.info.zone if dated else None
    return len(relearn(store.facts, embedder, list(turns), known.learned, now, [*turns, *around], zone=zone))


class _Span(NamedTuple):
    object: str
    start: datetime
    grain: Grain
    right: int


class _KnownBeside:
    """What is known beside a fact, in the bank and from the turns that are being read."""

    def __init__(self, store: Store, turns: Mapping[str, Turn]) -> None:
        self.predicates = Predicates(store.facts.predicates())
        self.learned: list[FactStatement] = []
        self._facts, self._turns = store.facts, turns

    def at(self, time: datetime, fact: ExtractedFact) -> list[_Span]:
        """What of a fact's subject and predicate is known to hold at a time, or to have been ended by its turn before.

        What rests on nothing but the turns that are being read is known only if they say it again.
        """
        subject, key = folded(fact.subject), self.predicates.find(fact.predicate).key
        rows = {row.id: row for row in self._facts.valid_at(time, {subject}, {key}, None)}
        for row in self._facts.by_id(self._facts.from_sources(fact.turns)):
            if folded(row.subject) == subject and self.predicates.find(row.predicate).key == key:
                rows[row.id] = row
        sources = self._facts.sources(list(rows))
        held = [
            _Span(row.object, row.valid_from, row.grain, authority(row))
            for row in rows.values()
            if row.act != "learn" or not set(sources.get(row.id, [])) <= self._turns.keys()
        ]
        again = [one for one in self.learned if folded(one.subject) == subject and one.predicate.key == key]
        # One that began when it was said may have begun at any time: it is the end of no other.
        over = {
            (folded(one.object), one.start)
            for one in again
            if one.end is not None and one.start != one.at and RIGHTS[one.origin] >= RIGHTS[fact.origin]
        }
        return held + [
            _Span(one.object, one.start or one.at, one.grain, RIGHTS[one.origin])
            for one in again
            if one.end is None and (folded(one.object), one.start) not in over
        ]


def _as_statement(known: _KnownBeside, fact: ExtractedFact, turn: Turn) -> FactStatement:
    start, end = (fact.valid.start, fact.valid.end) if fact.valid is not None else (None, None)
    if start is None and end is not None and end <= turn.said_at:
        end = None  # it would end before anybody spoke of it: the words gave no beginning
    said = checked_statement(
        known.predicates, fact.subject, fact.predicate, fact.object, at=turn.said_at,
        valid_from=start or turn.said_at, valid_to=end,
        grain=fact.valid.grain if fact.valid is not None and start is not None else "second",
        confidence=fact.confidence, domain=fact.domain if fact.domain != "general" else None, source=fact.turns,
    )  # fmt: skip
    return replace(said, act="learn", origin=fact.origin)


def _with_its_end(known: _KnownBeside, fact: ExtractedFact, turn: Turn) -> FactStatement | None:
    """What held until then and is said to hold no longer, with its end; None where nothing such is known.

    The words may say less than what is known, or more: "stopped the lisinopril" ends "lisinopril 10 mg".
    """
    end = fact.valid.start if fact.valid is not None and fact.valid.start is not None else turn.said_at
    before = [one for one in known.at(end - INSTANT, fact) if one.start < end]
    same = [(apart, one) for one in before if (apart := words_apart(one.object, fact.object)) is not None]
    if not same:
        return None
    least = min(apart for apart, _ in same)
    ended = max((one for apart, one in same if apart == least), key=lambda one: (one.right, one.start))
    until = Interval(ended.start, end, ended.grain)
    return replace(_as_statement(known, replace(fact, object=ended.object, valid=until), turn), ends=True)


def _held_at_a_time(known: _KnownBeside, fact: ExtractedFact, turn: Turn) -> FactStatement | None:
    """What held at a time. Where that is known already it is not its end; None where something else held all the time.

    "I stayed in a hotel last week" is not the end of living in Leeds.
    """
    found = _as_statement(known, fact, turn)
    start, end = fact.valid.start if fact.valid is not None else None, found.end
    if start is None or end is None:
        return found
    begun = [one for one in known.at(start, fact) if one.start <= start]
    if any(folded(one.object) == folded(fact.object) for one in begun):
        return replace(found, end=None)
    slot = known.predicates.find(fact.predicate).slot
    after = [one for one in known.at(end, fact) if one.start <= start]
    return None if any(slot(one.object) == slot(fact.object) for one in after) else found


def words_apart(known: str, said: str) -> int | None:
    """By how many words two names of a thing differ; None where they name two things.

    One may say less than the other, but both have the same head: a guitar case is no guitar. What follows the head, "10
    mg every morning", is no part of the name; and a proper name may be cut short anywhere, as the Honda Civic.
    """
    if folded(known) == folded(said):
        return 0
    short, long = sorted((_words_of_name(known), _words_of_name(said)), key=len)
    inside = {word.casefold() for word in short} <= {word.casefold() for word in long}
    if not short or not inside:
        return None
    head, phrase = _phrase(short)[-1], _phrase(long)
    proper = list(takewhile(lambda word: word[0].isupper(), reversed(phrase)))
    heads = {word.casefold() for word in (phrase[-1], *proper)}
    return 1 + len(long) - len(short) if head.casefold() in heads else None


def _words_of_name(name: str) -> list[str]:
    words = re.findall(r"\w+", name)
    return words[1:] if len(words) > 1 and words[0].casefold() in _ARTICLES else words


def _phrase(words: Sequence[str]) -> list[str]:
    """The words up to the head of a noun phrase: what stands before an amount, or before how, where and how often."""
    first = next((place for place, word in enumerate(words) if not _is_after_head(word)), 0)
    return [*words[:first], *takewhile(lambda word: not _is_after_head(word), words[first:])] or list(words)


def _is_after_head(word: str) -> bool:
    return word[0].isdigit() or word.casefold() in _AFTER_HEAD
