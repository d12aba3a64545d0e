"""Where extracted facts go: the facts room's door for extractors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import NamedTuple

from everwhen.facts.changes import INSTANT
from everwhen.facts.predicates import Predicates, folded
from everwhen.facts.relearn import LearnedFact as Learned
from everwhen.facts.relearn import relearn
from everwhen.ingest.extract.base import ExtractedFact
from everwhen.models.embed import Embedder
from everwhen.store import Store
from everwhen.types import Turn
from everwhen.when import Grain
from everwhen.when.tokenizer import word_set

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
    learned: list[Learned] = []
    told = [one for one in facts if one.turns and one.turns[0] in turns]
    for fact in sorted(told, key=lambda one: turns[one.turns[0]].said_at):
        turn = turns[fact.turns[0]]
        if fact.status in ("ended", "denied"):
            found = _ended(store, fact, turns, learned)
        elif fact.status == "held":
            found = _held(store, fact, turns, learned)
        else:
            found = _learned(fact, turn)
        learned += [found] if found is not None else []
    now = datetime.now(UTC)
    zone = store.info.zone if dated else None
    return len(relearn(store.facts, embedder, list(turns), learned, now, [*turns, *around], zone=zone))


def _learned(fact: ExtractedFact, turn: Turn) -> Learned:
    valid = fact.valid
    start = valid.start if valid is not None else None
    end = valid.end if valid is not None else None
    if start is None and end is not None and end <= turn.said_at:
        end = None  # it would end before anybody spoke of it: the words gave no beginning
    return Learned(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        turns=fact.turns,
        at=turn.said_at,
        valid_from=start,
        valid_to=end,
        grain=valid.grain if valid is not None and start is not None else "second",
        confidence=fact.confidence,
        domain=fact.domain if fact.domain != "general" else None,
    )


class _Known(NamedTuple):
    object: str
    start: datetime
    grain: Grain


def _ended(
    store: Store, fact: ExtractedFact, turns: Mapping[str, Turn], learned: Sequence[Learned]
) -> Learned | None:
    """What held until then and is said to hold no longer, with its end; None where nothing such is known.

    The words may say less than what is known, or more: "stopped the lisinopril" ends "lisinopril 10 mg".
    """
    turn = turns[fact.turns[0]]
    end = fact.valid.start if fact.valid is not None and fact.valid.start is not None else turn.said_at
    known = [one for one in _known(store, fact, end - INSTANT, turns, learned) if one.start < end]
    same = [(apart, one) for one in known if (apart := words_apart(one.object, fact.object)) is not None]
    if not same:
        return None
    least = min(apart for apart, _ in same)
    object_, start, grain = max((one for apart, one in same if apart == least), key=lambda one: one.start)
    return replace(
        _learned(replace(fact, valid=None, object=object_), turn), valid_from=start, valid_to=end, grain=grain
    )


def _held(
    store: Store, fact: ExtractedFact, turns: Mapping[str, Turn], learned: Sequence[Learned]
) -> Learned | None:
    """What held at a time. Where that is known already it is not its end; None where something else held all the time.

    "I stayed in a hotel last week" is not the end of living in Leeds.
    """
    found = _learned(fact, turns[fact.turns[0]])
    if found.valid_from is None or found.valid_to is None:
        return found
    start, object_ = found.valid_from, folded(fact.object)
    then = [one for one in _known(store, fact, start, turns, learned) if one.start <= start]
    if any(folded(one.object) == object_ for one in then):
        return replace(found, valid_to=None)
    after = [one for one in _known(store, fact, found.valid_to, turns, learned) if one.start <= start]
    slot = Predicates(store.facts.predicates()).find(fact.predicate).slot
    return None if any(slot(one.object) == slot(fact.object) for one in after) else found


def _known(
    store: Store, fact: ExtractedFact, at: datetime, turns: Mapping[str, Turn], learned: Sequence[Learned]
) -> list[_Known]:
    """What of a fact's subject and predicate is known to hold at a time, or to have been ended by its turn before.

    What rests on nothing but the turns that are being read is known only if they say it again.
    """
    predicates = Predicates(store.facts.predicates())
    predicate = predicates.find(fact.predicate)
    subject = folded(fact.subject)
    rows = {row.id: row for row in store.facts.valid_at(at, subject, predicate.key, None)}
    for row in store.facts.by_id(store.facts.from_sources(fact.turns)):
        if folded(row.subject) == subject and predicates.find(row.predicate).key == predicate.key:
            rows[row.id] = row
    sources = store.facts.sources(list(rows))
    again = [one for one in learned if folded(one.subject) == subject and one.predicate == fact.predicate]
    over = {(folded(one.object), one.valid_from) for one in again if one.valid_to is not None}
    return [
        _Known(row.object, row.valid_from, row.grain)
        for row in rows.values()
        if row.act != "learn" or not set(sources.get(row.id, [])) <= turns.keys()
    ] + [
        _Known(one.object, start, one.grain)
        for one in again
        if one.valid_to is None and (folded(one.object), start := one.valid_from or one.at) not in over
    ]


def words_apart(known: str, said: str) -> int | None:
    """By how many words two names of a thing differ; None where they name two things.

    One may say less than the other, but both have the same head: a guitar case is no guitar. What follows the head, "10
    mg every morning", is no part of the name; and a proper name may be cut short anywhere, as the Honda Civic.
    """
    if folded(known) == folded(said):
        return 0
    short, long = sorted((_words(known), _words(said)), key=len)
    inside = {word.casefold() for word in short} <= {word.casefold() for word in long}
    if not short or not inside:
        return None
    head, phrase = _phrase(short)[-1], _phrase(long)
    proper = list(takewhile(lambda word: word[0].isupper(), reversed(phrase)))
    heads = {word.casefold() for word in (phrase[-1], *proper)}
    return 1 + len(long) - len(short) if head.casefold() in heads else None


def _words(name: str) -> list[str]:
    words = re.findall(r"\w+", name)
    return words[1:] if len(words) > 1 and words[0].casefold() in _ARTICLES else words


def _phrase(words: Sequence[str]) -> list[str]:
    """The words up to the head of a noun phrase: what stands before an amount, or before how, where and how often."""
    first = next((place for place, word in enumerate(words) if not _is_after_head(word)), 0)
    return [*words[:first], *takewhile(lambda word: not _is_after_head(word), words[first:])] or list(words)


def _is_after_head(word: str) -> bool:
    return word[0].isdigit() or word.casefold() in _AFTER_HEAD
