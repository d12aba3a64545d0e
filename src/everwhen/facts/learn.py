"""How extractors add facts: what was found in turns becomes believed facts, with those turns as sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everwhen.facts.changes import FactStatement, assert_fact
from everwhen.facts.fact_text import Wording, checked_statement, prepared
from everwhen.facts.predicates import Predicates
from everwhen.store.facts import FactLedger, FactRow, FactStore
from everwhen.types import Origin
from everwhen.when import Grain


@dataclass(frozen=True, slots=True)
class LearnedFact:
    """A fact that an extractor found: subject, predicate, object, interval, confidence, and the turns it came from.

    `at` is when it was said, which is when the memory learned it. `valid_from` is when it began to be true according
    to the words ("since May" is 1 May with grain "month"); if they do not say, it is the time it was said.
    """

    subject: str
    predicate: str
    object: str
    turns: tuple[str, ...]
    at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    grain: Grain = "second"
    confidence: float = 1.0
    domain: str | None = None
    origin: Origin = "observation"


def learn(
    store: FactStore, wording: Wording, facts: Sequence[LearnedFact], read: Sequence[str] = ()
) -> list[FactRow]:
    """Believe what was extracted, in the order in which it was said, all in one transaction.

    Saying the same again reinforces it, and adds its turns to the sources. A fact that loses to what is known, or
    that no rule decides about, comes back with that standing. A start that the words do not give is `at` itself:
    turns that are imported late are then placed where they belong, not at the end. `read` are the turns that were read
    for it: nothing is learned when one of them was forgotten meanwhile.
    """
    return record(store, prepared(statements(store, facts), wording), read)


def statements(store: FactStore, facts: Sequence[LearnedFact]) -> list[FactStatement]:
    """What was extracted, checked, in the order in which it was said."""
    predicates = Predicates(store.predicates())
    checked = [
        checked_statement(
            predicates,
            fact.subject,
            fact.predicate,
            fact.object,
            at=fact.at,
            valid_from=fact.valid_from or fact.at,
            valid_to=fact.valid_to,
            grain=fact.grain,
            confidence=fact.confidence,
            domain=fact.domain,
            source=fact.turns,
            origin=fact.origin,
        )
        for fact in sorted(facts, key=lambda one: one.at)
    ]
    return [replace(said, act="learn") for said in checked]


def record(store: FactStore, said: Sequence[FactStatement], read: Sequence[str] = ()) -> list[FactRow]:
    """Assert statements in one transaction; each comes back as it stands afterwards."""
    if not said:
        return []

    def assert_all(ledger: FactLedger) -> list[FactRow]:
        rows = [assert_fact(ledger, one) for one in said]
        return [ledger.fact(row.id) or row for row in rows]

    return store.write(assert_all, read)
