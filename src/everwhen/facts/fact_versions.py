"""Versions of facts in a ledger: every change supersedes one version and inserts the next; nothing is overwritten."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import datetime
from typing import Any

from everwhen.errors import NotFound
from everwhen.facts.bitemporal import Placement, place, until
from everwhen.facts.predicates import Predicate
from everwhen.store.facts import Act, ConflictRow, FactKey, FactLedger, FactRow
from everwhen_time import Grain


def put(ledger: FactLedger, row: FactRow, placed: Placement, at: datetime) -> FactRow:
    """Write a believed version: first what gives way, then itself, so that no two ever overlap."""
    for dropped in placed.dropped:
        ledger.supersede(dropped, at, placed.outcome, placed.why or None)
    before = ledger.last_started(row.slot, row.valid_from)
    if before is not None:
        end = (
            before.claimed_to if before.claimed_to and before.claimed_to < row.valid_from else row.valid_from
        )
        if before.valid_to != end:
            revised(ledger, before, at, valid_to=end)
    return ledger.insert(row)


def revised(ledger: FactLedger, row: FactRow, at: datetime, **changes: Any) -> FactRow:
    """A new version of the same fact; the old one stays as what was believed until now."""
    ledger.supersede(row, at, "revised")
    return ledger.insert(replace(row, version=row.version + 1, recorded_at=at, **changes))


def stretch(
    ledger: FactLedger,
    known: FactRow,
    placed: Placement,
    start: datetime,
    grain: Grain,
    sure: float,
    at: datetime,
) -> FactRow:
    ledger.supersede(known, at, "revised")
    row = replace(
        known,
        version=known.version + 1,
        valid_from=start,
        grain=grain,
        recorded_at=at,
        confidence=max(known.confidence, sure),
    )
    return put(ledger, row, placed, at)


def adjust_predecessor(ledger: FactLedger, slot: int, start: datetime, at: datetime) -> None:
    """Set the end of the fact before this place in the chain to the start of its next neighbour."""
    before = ledger.last_started(slot, start)
    if before is not None:
        end = until(before.claimed_to, ledger.next_started(slot, start))
        if before.valid_to != end:
            revised(ledger, before, at, valid_to=end)


def dispute(ledger: FactLedger, key: FactKey, row: FactRow, placed: Placement, at: datetime) -> FactRow:
    assert placed.target is not None
    row = ledger.insert(row)
    conflict = ConflictRow(f"c{secrets.token_hex(6)}", placed.target.id, row.id, placed.why, at, None, None)
    ledger.open_conflict(conflict, key.seq)
    return row


def demote(ledger: FactLedger, row: FactRow, at: datetime, why: str) -> None:
    """What was believed is only proposed from now on."""
    revised(ledger, row, at, standing="overruled", act="propose", reason=why, valid_to=row.claimed_to)
    adjust_predecessor(ledger, row.slot, row.valid_from, at)


def promote(ledger: FactLedger, waiting: FactRow, at: datetime, act: Act, **changes: Any) -> FactRow:
    """What was disputed or proposed is believed from now on; what starts at the same instant gives way."""
    ledger.supersede(waiting, at, "revised", waiting.reason)
    same_start = ledger.started_between(waiting.slot, waiting.valid_from, waiting.valid_from)
    after = ledger.next_started(waiting.slot, waiting.valid_from)
    row = replace(
        waiting,
        version=waiting.version + 1,
        standing="believed",
        act=act,
        recorded_at=at,
        stated_at=at,
        valid_to=until(waiting.claimed_to, after),
        **changes,
    )
    return put(ledger, row, Placement("insert", dropped=tuple(same_start), why="a person decided"), at)


def settle_slot(ledger: FactLedger, key: FactKey, slot: int, at: datetime) -> None:
    """The user has spoken: what waited for a decision in this slot has one."""
    waiting = {row.id: row for row in ledger.disputed(slot)}
    for conflict in ledger.open_conflicts(key.seq):
        if conflict.challenger in waiting:
            ledger.supersede(waiting[conflict.challenger], at, "corrected", "the user decided")
            ledger.settle(conflict.id, at, None)
    for proposal in ledger.proposed(slot):
        ledger.supersede(proposal, at, "corrected", "the user decided")


def recast(ledger: FactLedger, key: FactKey, subject_key: str, predicate: Predicate, at: datetime) -> None:
    """Place all facts of a key again, in the order in which they came, under a predicate as it is declared now, single-
    or multi-valued; older versions stay recorded."""
    target = ledger.key(subject_key, predicate.key, key.subject, predicate.name)
    at = max(at, key.last_at or at, target.last_at or at)
    rows = ledger.unsettled(key.seq)
    for row in rows:
        ledger.supersede(row, at, "recast")
    for conflict in ledger.open_conflicts(key.seq):
        ledger.settle(conflict.id, at, None)
    for row in rows:
        slot = ledger.slot(target.seq, predicate.slot(row.object))
        start = row.valid_from
        placed = place(row, ledger.last_started(slot, start), ledger.next_started(slot, start))
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
        if row.act == "propose" or placed.decision == "propose":
            why = row.reason or placed.why
            ledger.insert(replace(fresh, standing="overruled", act="propose", reason=why))
        elif placed.decision == "insert":
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


def existing_fact(ledger: FactLedger, fact_id: str) -> FactRow:
    row = ledger.fact(fact_id)
    if row is None:
        raise NotFound(f"there is no fact '{fact_id}'; `everwhen facts current` lists those that hold")
    return row
