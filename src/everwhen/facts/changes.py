"""Changes to the believed facts. Each runs inside one transaction: read the neighbours, decide, write new versions.

Every change supersedes one version and inserts the next; nothing is overwritten.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from everwhen.errors import NotFound, UsageError
from everwhen.facts.bitemporal import (
    OWN,
    RIGHTS,
    WHY_PROPOSED,
    Placement,
    authority,
    place,
    place_correction,
    until,
)
from everwhen.facts.statements import FactStatement, Predicate, Predicates, folded
from everwhen.store.rows import Act, ConflictRow, FactKey, FactRow
from everwhen.store.sql.facts import FactLedger
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


INSTANT = timedelta(microseconds=1)
NEITHER = "neither"


def assert_fact(ledger: FactLedger, said: FactStatement) -> FactRow:
    """Add a fact to what is believed, or to what supports it; or keep it as overruled, disputed or proposed."""
    said = _as_declared(ledger, said)
    key, at, backwards = _open(ledger, said)
    slot = ledger.slot(key.seq, said.predicate.slot(said.object))
    start = said.start or at
    row = _new_row(said, start, slot, at)
    after = _following(ledger, row, at)
    placed = place(row, ledger.last_started(slot, start), after, later=backwards and said.start is None)
    ledger.touch(key.seq, at)
    row = replace(row, valid_to=placed.valid_to)
    if said.ends and placed.decision not in ("reinforce", "propose"):
        placed = Placement("overrule", why="nothing is known that it ends")
    elif authority(row) >= OWN and placed.decision != "overrule":
        _drop_proposals(ledger, row, at)
    match placed.decision:
        case "insert":
            return _believed(ledger, row, placed, said, at)
        case "propose":
            return _proposed(ledger, row, placed, said, at)
        case "dispute":
            return _disputed(ledger, key, row, placed, said, at)
        case "overrule":
            row = ledger.insert(replace(row, standing="overruled", reason=placed.why))
            ledger.cite(row.id, said.sources, at)
            return row
    known = placed.target
    assert known is not None
    if not RIGHTS[said.origin]:
        return known  # a text that was passed on is no source of what is known already
    if placed.decision == "reinforce":
        return _reinforced(ledger, known, said, after, at)
    # It was so earlier than was known: the beginning moves, and the old one was a confirmation.
    earlier = replace(known, **_taken_over(known, said))
    row = stretch(ledger, earlier, placed, start, said.grain, said.confidence, at)
    return _supported(ledger, row, said, at, max(said.at, known.valid_from))


def correct_fact(ledger: FactLedger, said: FactStatement) -> FactRow:
    """The user's word: it replaces what it meets from its start on, up to what is planned for later."""
    said = replace(_as_declared(ledger, said), act="correct")
    key, at, _ = _open(ledger, said)
    slot = ledger.slot(key.seq, said.predicate.slot(said.object))
    start = said.start
    if start is None:
        wrong = ledger.last_started(slot, at)
        start = wrong.valid_from if wrong is not None and wrong.covers(at) else at
    row = _new_row(said, start, slot, at)
    last = max(at, start)
    placed = place_correction(
        row,
        ledger.last_started(slot, start),
        ledger.started_between(slot, start, last),
        ledger.next_started(slot, last),
    )
    ledger.touch(key.seq, at)
    settle_slot(ledger, key, slot, at)
    row = replace(row, valid_to=placed.valid_to)
    same = next((one for one in placed.dropped if one.object_key == row.object_key), None)
    if same is None:
        row = _believed(ledger, row, placed, said, at)
        ledger.reinforce(row, at, max(said.at, row.valid_from), 0)  # said now: it is as fresh as can be
        return row
    # The user says again, more exactly, what was known: the fact stays the same one, with its support.
    others = tuple(one for one in placed.dropped if one is not same)
    ledger.supersede(same, at, "revised")
    kept = replace(
        row, id=same.id, version=same.version + 1, support=same.support, confirmed_at=same.confirmed_at
    )
    kept = put(ledger, kept, replace(placed, dropped=others), at)
    _supported(ledger, kept, said, at)
    return kept


def retract_fact(ledger: FactLedger, fact_id: str, at: datetime, reason: str | None) -> FactRow:
    """Retract a fact. Its predecessor gets back its time; a disputed rival is believed instead."""
    row = existing_fact(ledger, fact_id)
    if row.superseded_at is not None:
        if row.outcome == "retracted":
            return row  # already so
        raise UsageError(
            f"fact {fact_id} is believed no longer (it was {row.outcome}); there is nothing to retract"
        )
    at = ledger.touch(row.key, at)
    ledger.supersede(row, at, "retracted", reason)
    if row.standing == "believed":
        adjust_predecessor(ledger, row.slot, row.valid_from, at)
    for conflict in ledger.open_conflicts(row.key):
        if fact_id == conflict.challenger:
            ledger.settle(conflict.id, at, conflict.incumbent)
        elif fact_id == conflict.incumbent:
            ledger.settle(conflict.id, at, conflict.challenger)
            waited = existing_fact(ledger, conflict.challenger)
            promote(ledger, waited, at, waited.act)
    return replace(row, superseded_at=at, outcome="retracted", reason=reason)


def close_chains(ledger: FactLedger, facts: Sequence[str], at: datetime) -> None:
    """Take facts out of what is believed, at a transaction time of its own: neighbours get back what they had given up.

    What follows is `erase`: the retractions themselves are not to be found again either.
    """
    for fact_id in facts:
        row = ledger.fact(fact_id)
        if row is not None and row.superseded_at is None:
            retract_fact(ledger, fact_id, at, None)


def end_facts(ledger: FactLedger, key: FactKey, on: datetime, at: datetime) -> list[FactRow]:
    """End whatever of a key holds just before an instant, at that instant."""
    at = ledger.touch(key.seq, at)
    ended = []
    for slot in ledger.slots(key.seq):
        row = ledger.last_started(slot, on - INSTANT)
        if row is not None and (row.valid_to is None or row.valid_to > on):
            ended.append(revised(ledger, row, at, claimed_to=on, valid_to=on, act=_set_by_user(row)))
    if not ended:
        raise NotFound(
            f"nothing of '{key.subject} {key.predicate}' holds until {on.isoformat()}, so nothing ends then; "
            f"`everwhen facts history` shows what is known"
        )
    return ended


def confirm_fact(ledger: FactLedger, fact_id: str, at: datetime, by: str) -> FactRow:
    """Somebody has checked it, and it is still true: its age counts from now. A proposal is believed from now on."""
    row = existing_fact(ledger, fact_id)
    if row.is_proposed:
        return _accepted(ledger, row, ledger.touch(row.key, at), by)
    if row.superseded_at is not None or row.standing != "believed":
        raise UsageError(
            f"fact {fact_id} is not believed, so it cannot be confirmed; assert or correct it instead"
        )
    recorded = ledger.touch(row.key, at)
    if row.act != _set_by_user(row):
        origin = row.origin if RIGHTS[row.origin] >= OWN else "user"
        row = revised(ledger, row, recorded, act=_set_by_user(row), origin=origin)
    ledger.reinforce(row, recorded, at, 0)
    return existing_fact(ledger, fact_id)


def reject_proposal(ledger: FactLedger, fact_id: str, at: datetime, by: str) -> FactRow:
    """A person says no: the turns that said it do not propose it again."""
    row = existing_fact(ledger, fact_id)
    if not row.is_proposed:
        raise UsageError(f"fact {fact_id} is no proposal; retract it where it was never so")
    ledger.supersede(row, ledger.touch(row.key, at), "retracted", f"{row.reason}; rejected by {by}")
    return existing_fact(ledger, fact_id)


def _accepted(ledger: FactLedger, row: FactRow, at: datetime, by: str) -> FactRow:
    """As if the one whose fact it is had said it. The turns stay its sources, and who confirmed it is its reason."""
    why: dict[str, Any] = {"origin": "user", "reason": f"{row.reason}; confirmed by {by}"}
    after = _following(ledger, replace(row, act="resolve"), at)
    known = ledger.last_started(row.slot, row.valid_from)
    if known is None or not known.covers(row.valid_from) or known.object_key != row.object_key:
        accepted = promote(ledger, row, at, "resolve", **why)
    else:
        ledger.supersede(row, at, "revised", row.reason)
        end = row.claimed_to or known.claimed_to
        accepted = revised(
            ledger, known, at, claimed_to=end, valid_to=until(end, after), act=_set_by_user(known), **why
        )
        ledger.adopt(known.id, row.id)
    _drop_proposals(ledger, accepted, at)
    ledger.reinforce(accepted, at, max(at, accepted.valid_from), 0)
    return accepted


def reweigh_fact(ledger: FactLedger, fact_id: str, confidence: float, at: datetime) -> FactRow:
    row = existing_fact(ledger, fact_id)
    return revised(ledger, row, ledger.touch(row.key, at), confidence=confidence)


def reopen_fact(ledger: FactLedger, fact_id: str, at: datetime) -> FactRow:
    """The same fact without the end that was claimed for it: it holds until the next of its slot."""
    row = existing_fact(ledger, fact_id)
    after = ledger.next_started(row.slot, row.valid_from)
    return revised(ledger, row, ledger.touch(row.key, at), claimed_to=None, valid_to=until(None, after))


def resolve_conflict(ledger: FactLedger, conflict_id: str, keep: str, at: datetime) -> FactRow | None:
    """Keep one side of a conflict, by its id or its object, or neither."""
    conflict = ledger.conflict(conflict_id)
    if conflict is None:
        raise NotFound(f"there is no conflict '{conflict_id}'; `everwhen facts review` lists them")
    if conflict.resolved_at is not None:
        raise UsageError(f"conflict {conflict_id} is resolved already (kept: {conflict.kept or NEITHER})")
    incumbent, challenger = (existing_fact(ledger, one) for one in (conflict.incumbent, conflict.challenger))
    at = ledger.touch(challenger.key, at)
    if keep == NEITHER:
        ledger.settle(conflict_id, at, None)
        for side in (challenger, incumbent):
            retract_fact(ledger, side.id, at, f"conflict {conflict_id}: neither is right")
        return None
    if keep in (incumbent.id, "first") or folded(keep) == incumbent.object_key:
        ledger.settle(conflict_id, at, incumbent.id)
        ledger.supersede(challenger, at, "outweighed", f"conflict {conflict_id}: {incumbent.object} was kept")
        if incumbent.superseded_at is not None:
            return incumbent  # it has been replaced by something else meanwhile
        return revised(ledger, incumbent, at, act="resolve", stated_at=at)
    if keep in (challenger.id, "second") or folded(keep) == challenger.object_key:
        ledger.settle(conflict_id, at, challenger.id)
        return promote(ledger, challenger, at, "resolve")
    raise UsageError(
        f"keep={keep!r} is neither side: give {incumbent.id} ({incumbent.object}), {challenger.id} "
        f"({challenger.object}) or '{NEITHER}'"
    )


def _believed(
    ledger: FactLedger, row: FactRow, placed: Placement, said: FactStatement, at: datetime
) -> FactRow:
    return _searchable(ledger, put(ledger, row, placed, at), said, at)


def _reinforced(
    ledger: FactLedger, known: FactRow, said: FactStatement, after: FactRow | None, at: datetime
) -> FactRow:
    """The same again: more support, a later confirmation; a new version only where it says something new."""
    changes: dict[str, Any] = {}
    if said.end is not None and said.end != known.claimed_to:
        changes |= {"claimed_to": said.end, "valid_to": until(said.end, after)}
    if said.confidence > known.confidence:
        changes["confidence"] = said.confidence
    if RIGHTS[said.origin] > authority(known) or (said.origin == "user" and known.origin != "user"):
        changes["origin"] = said.origin
    if said.domain is not None and known.domain is None:
        changes["domain"] = said.domain
    changes |= _taken_over(known, said)
    if changes:
        known = revised(ledger, known, at, **changes)
    seen = min(said.at, said.end) if said.end is not None else said.at
    return _supported(ledger, known, said, at, max(seen, known.valid_from))


def _supported(
    ledger: FactLedger, known: FactRow, said: FactStatement, at: datetime, seen: datetime | None = None
) -> FactRow:
    """One source more for a fact, which was seen to hold then; when it was said, where nothing else is given."""
    ledger.reinforce(known, at, seen or max(said.at, known.valid_from), 1)
    ledger.cite(known.id, said.sources, at)
    return existing_fact(ledger, known.id)


def _following(ledger: FactLedger, row: FactRow, at: datetime) -> FactRow | None:
    """What starts next after a fact. What was said with less right, and would close it, is proposed from now on."""
    while (after := ledger.next_started(row.slot, row.valid_from)) is not None:
        is_closed = row.claimed_to is None or row.claimed_to > after.valid_from
        if after.object_key == row.object_key or authority(after) >= authority(row) or not is_closed:
            break
        demote(ledger, after, at, WHY_PROPOSED[after.origin])
    return after


def _drop_proposals(ledger: FactLedger, row: FactRow, at: datetime) -> None:
    """Who may say so has said the same: nobody has to decide about it any more."""
    for waiting in ledger.proposed(row.slot):
        if waiting.object_key == row.object_key:
            ledger.supersede(waiting, at, "outweighed", "said since by who may say so")


def _proposed(
    ledger: FactLedger, row: FactRow, placed: Placement, said: FactStatement, at: datetime
) -> FactRow:
    for waiting in ledger.proposed(row.slot):
        if (waiting.object_key, waiting.claimed_to) == (row.object_key, row.claimed_to):
            return _supported(ledger, waiting, said, at)
    row = ledger.insert(replace(row, standing="overruled", act="propose", reason=placed.why))
    return _searchable(ledger, row, said, at)


def _disputed(
    ledger: FactLedger, key: FactKey, row: FactRow, placed: Placement, said: FactStatement, at: datetime
) -> FactRow:
    for waiting in ledger.disputed(row.slot):
        if waiting.object_key == row.object_key:
            taken = _taken_over(waiting, said)
            rival = revised(ledger, waiting, at, **taken) if taken else waiting
            return _supported(ledger, rival, said, at)
    row = dispute(ledger, key, replace(row, standing="disputed"), placed, at)
    return _searchable(ledger, row, said, at)


def _searchable(ledger: FactLedger, row: FactRow, said: FactStatement, at: datetime) -> FactRow:
    if said.made_with is not None:
        ledger.add_unit(row, said.text, said.vectors, said.made_with)
    ledger.cite(row.id, said.sources, at)
    return row


def _set_by_user(row: FactRow) -> Act:
    """A person has spoken of what an extractor had learned: from now on it is their word."""
    return "assert" if row.act == "learn" else row.act


def _taken_over(known: FactRow, said: FactStatement) -> dict[str, Any]:
    return {"act": said.act} if known.act == "learn" and said.act != "learn" else {}


def _as_declared(ledger: FactLedger, said: FactStatement) -> FactStatement:
    """With the predicate as it is declared now: another process may have declared it since the words were checked."""
    return replace(said, predicate=Predicates(ledger.predicates()).find(said.predicate.name))


def _open(ledger: FactLedger, said: FactStatement) -> tuple[FactKey, datetime, bool]:
    """The key, the transaction time (which never runs backwards there), and whether the clock did."""
    subject, predicate = folded(said.subject), said.predicate
    key = ledger.key(subject, predicate.key, said.subject, predicate.name)
    if key.last_at is None or said.at >= key.last_at:
        return key, said.at, False
    return key, key.last_at, True


def _new_row(said: FactStatement, start: datetime, slot: int, at: datetime) -> FactRow:
    if said.end is not None and said.end <= start:
        raise UsageError(
            f"the fact would end ({said.end.isoformat()}) before it begins ({start.isoformat()}); "
            "give a valid_to after valid_from, and a valid_from when it lies in the past"
        )
    return FactRow(
        id=f"f{secrets.token_hex(8)}",
        version=1,
        slot=slot,
        object=said.object,
        object_key=folded(said.object),
        domain=said.domain,
        grain=said.grain,
        valid_from=start,
        claimed_to=said.end,
        valid_to=said.end,
        stated_at=at,
        recorded_at=at,
        confidence=said.confidence,
        origin=said.origin,
        act=said.act,
        tokens=said.tokens,
    )
