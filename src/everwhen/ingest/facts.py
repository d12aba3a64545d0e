"""Where extracted facts go: the facts room's door for extractors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from everwhen.facts.book import Words
from everwhen.facts.learn import ExtractedFact as Learned
from everwhen.facts.predicates import Predicates, folded
from everwhen.facts.relearn import relearn
from everwhen.ingest.extract.base import ExtractedFact
from everwhen.models.embed import Embedder
from everwhen.store import Store
from everwhen.types import Turn


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
            ended = _ended(store, fact, turn, learned)
            learned += [ended] if ended is not None else []
        else:
            learned.append(_learned(fact, turn))
    now = datetime.now(UTC)
    words = Words(embedder, store.info.zone if dated else None)
    return len(relearn(store.facts, words, list(turns), learned, now, [*turns, *around]))


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
        origin="observation" if fact.origin == "stated" else "inference",
    )


def _ended(store: Store, fact: ExtractedFact, turn: Turn, learned: Sequence[Learned]) -> Learned | None:
    """What holds until now and is said to hold no longer, with its end; None where nothing such is known.

    The words may say less than what is known, or more: "stopped the lisinopril" ends "lisinopril 10 mg".
    """
    predicate = Predicates(store.facts.predicates()).find(fact.predicate)
    end = fact.valid.start if fact.valid is not None and fact.valid.start is not None else turn.said_at
    known = [
        (row.object, row.valid_from, row.grain)
        for row in store.facts.valid_at(turn.said_at, folded(fact.subject), predicate.key, None)
    ] + [
        (one.object, one.valid_from or one.at, one.grain)
        for one in learned
        if folded(one.subject) == folded(fact.subject)
        and one.predicate == fact.predicate
        and one.valid_to is None
    ]
    same = [one for one in known if _is_same(one[0], fact.object) and one[1] < end]
    if not same:
        return None
    object_, start, grain = max(same, key=lambda one: one[1])
    return replace(
        _learned(replace(fact, valid=None, object=object_), turn), valid_from=start, valid_to=end, grain=grain
    )


def _is_same(known: str, said: str) -> bool:
    """Whether the words of one are all in the other."""
    a, b = (frozenset(re.findall(r"\w+", one.casefold())) for one in (known, said))
    return bool(a and b) and (a <= b or b <= a)
