"""Turns are read again: what an extractor had learned from them is confirmed or taken back, then the rest is learned.

Nothing is overwritten: taking back is a version at a new transaction time, and `known_at` still sees what was believed
before. A person's word is never touched, nor is what a person took back learned again from the same turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from everwhen.facts.changes import Statement, assert_fact, retract_fact, reweigh_fact
from everwhen.facts.learn import ExtractedFact, learn, statements
from everwhen.facts.predicates import folded
from everwhen.facts.wording import Wording, prepared
from everwhen.store.facts import FactLedger, FactRow, FactStore

REREAD = "its turns were read again, and no longer say so"


def relearn(
    store: FactStore,
    wording: Wording,
    turns: Sequence[str],
    facts: Sequence[ExtractedFact],
    at: datetime,
    read: Sequence[str] = (),
) -> list[FactRow]:
    """Replace what was learned from some turns by what they are found to say now; gives back what is new.

    A fact that they say as before stays as it is, with no support added; one that has other sources loses these
    turns as sources; one that has none, or now has another beginning or end, is retracted at `at`.
    """
    known = store.from_sources(turns)
    if not known:
        return learn(store, wording, facts, read)
    cited = store.sources(known)
    said = prepared(statements(store, facts), wording)
    reading = frozenset(turns)
    with store.writing(read) as ledger:
        for fact_id in known:
            _look_again(ledger, fact_id, cited.get(fact_id, []), said, reading, at)
        rows = []
        for one in said:  # each is held against the facts as the ones before it left them
            held = [id_ for id_ in known if not set(one.sources).isdisjoint(cited.get(id_, []))]
            if not any(_settled(ledger, one, id_) for id_ in held):
                rows.append(assert_fact(ledger, one))
        return [ledger.fact(row.id) or row for row in rows]


def _look_again(
    ledger: FactLedger,
    fact_id: str,
    sources: Sequence[str],
    said: Sequence[Statement],
    reading: frozenset[str],
    at: datetime,
) -> None:
    row = ledger.fact(fact_id)
    if row is None or row.act != "learn" or row.superseded_at is not None:
        return
    again = [one for one in said if _same(ledger, row, one) and not set(one.sources).isdisjoint(sources)]
    if not reading.issuperset(sources):
        saying = {source for one in again for source in one.sources}
        ledger.uncite(row.id, [one for one in sources if one in reading and one not in saying])
    elif not again or not _as_before(row, again):
        retract_fact(ledger, row.id, at, REREAD)
    elif (sure := max(one.confidence for one in again)) != row.confidence:
        reweigh_fact(ledger, row.id, sure, at)


def _same(ledger: FactLedger, row: FactRow, said: Statement) -> bool:
    key = ledger.find_key(folded(said.subject), said.predicate.key)
    return key is not None and key.seq == row.key and folded(said.object) == row.object_key


def _as_before(row: FactRow, again: Sequence[Statement]) -> bool:
    """Whether the statements would make the fact as it is: the earliest beginning, the end that was named last."""
    starts = [one.start for one in again if one.start is not None]
    ends = [one.end for one in again if one.end is not None]
    return min(starts, default=None) == row.valid_from and (ends[-1] if ends else None) == row.claimed_to


def _settled(ledger: FactLedger, said: Statement, fact_id: str) -> bool:
    """Whether a statement adds nothing to a fact that its turns were a source of, or a person has decided about it."""
    row = ledger.fact(fact_id)
    if row is None or not _same(ledger, row, said):
        return False
    start = said.start or said.at
    if row.superseded_at is None:
        return row.act != "learn" or (row.covers(start) and said.end in (None, row.claimed_to))
    if row.outcome == "outweighed":  # as long as something stands in its place
        stands = ledger.last_started(row.slot, start)
        return stands is not None and stands.covers(start)
    return row.outcome in ("retracted", "corrected") and row.reason != REREAD
