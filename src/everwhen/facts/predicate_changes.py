"""Applies a changed predicate declaration (single- or multi-valued): its facts are placed again, older versions stay
recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from everwhen.facts.bitemporal import place
from everwhen.facts.changes import FactStatement, to_claim
from everwhen.facts.fact_versions import dispute, put, stretch
from everwhen.facts.predicates import Predicate
from everwhen.store.facts import FactKey, FactLedger


def recast(ledger: FactLedger, key: FactKey, subject_key: str, predicate: Predicate, at: datetime) -> None:
    """Place all facts of a key again, in the order in which they came, under a predicate as it is declared now."""
    target = ledger.key(subject_key, predicate.key, key.subject, predicate.name)
    at = max(at, key.last_at or at, target.last_at or at)
    rows = ledger.unsettled(key.seq)
    for row in rows:
        ledger.supersede(row, at, "recast")
    for conflict in ledger.open_conflicts(key.seq):
        ledger.settle(conflict.id, at, None)
    for row in rows:
        slot = ledger.slot(target.seq, predicate.slot(row.object))
        claim = to_claim(
            FactStatement(
                key.subject, predicate, row.object, at, row.valid_from, row.claimed_to,
                confidence=row.confidence, origin=row.origin,
            ),
            row.valid_from,
        )  # fmt: skip
        start = claim.start
        placed = place(claim, ledger.last_started(slot, start), ledger.next_started(slot, start))
        fresh = replace(
            row,
            version=row.version + 1,
            slot=slot,
            recorded_at=at,
            standing="believed",
            valid_to=placed.valid_to,
            domain=row.domain or predicate.domain,
        )
        known = placed.target
        if placed.decision == "insert":
            put(ledger, fresh, placed, at)
        elif placed.decision == "dispute":
            dispute(ledger, target, replace(fresh, standing="disputed"), placed, at)
        elif placed.decision == "overrule" or known is None:
            ledger.insert(replace(fresh, standing="overruled", reason=placed.why))
        else:
            # Two facts turn out to be one: it gets the support and the sources of both.
            confirmed = max(row.confirmed_at or row.valid_from, known.valid_from)
            if placed.decision == "extend":
                known = stretch(ledger, known, placed, start, row.grain, row.confidence, at)
            ledger.reinforce(known, at, confirmed, row.support)
            ledger.adopt(known.id, row.id)
    ledger.touch(key.seq, at)
    ledger.touch(target.seq, at)
