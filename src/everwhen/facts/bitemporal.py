"""The bitemporal algebra: where a new claim belongs among the believed facts, and which of them it changes.

In one slot (see `Predicate.slot`) the believed facts form a chain in valid time. Each has the interval that was
claimed for it; it holds for the part of it that comes before the next fact:

    valid_to(i) = min(claimed_to(i), valid_from(i + 1))

So no two facts overlap, a newer fact closes an older one, a backfilled fact is closed by its successor, and the same
claims make the same chain in any order of arrival. When a fact is retracted, its predecessor gets back the time that
the fact had taken. These functions depend only on the neighbours in the chain; they read no clock and no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everwhen.facts.conflicts import Claim, judge
from everwhen.store.facts import FactRow, Outcome

Decision = Literal["insert", "reinforce", "extend", "overrule", "dispute"]


@dataclass(frozen=True, slots=True)
class Placement:
    """What a claim does to the chain.

    `insert` adds a fact that holds until `valid_to`. `reinforce` and `extend` change the `target`, which says the
    same. `overrule` and `dispute` leave the chain as it is, because the `target` contradicts the claim. Facts in
    `dropped` are no longer believed; facts that began before the claim end where it starts.
    """

    decision: Decision
    valid_to: datetime | None = None
    target: FactRow | None = None
    dropped: tuple[FactRow, ...] = ()
    outcome: Outcome = "outweighed"
    why: str = ""


def place(claim: Claim, before: FactRow | None, after: FactRow | None) -> Placement:
    """Place a claim between the fact that started last at or before it and the first that starts after it."""
    covering = before if before is not None and before.covers(claim.start) else None
    if covering is not None and covering.object_key == claim.object_key:
        return Placement("reinforce", target=covering, valid_to=until(claim.end, after))
    dropped: tuple[FactRow, ...] = ()
    why = ""
    if covering is not None:
        verdict = judge(covering, claim)
        why = verdict.why
        if verdict.winner != "challenger":
            decision: Decision = "overrule" if verdict.winner == "incumbent" else "dispute"
            return Placement(decision, target=covering, valid_to=until(claim.end, after), why=why)
        if covering.valid_from == claim.start:
            dropped = (covering,)
    if after is not None and after.object_key == claim.object_key and reaches(claim.end, after.valid_from):
        return Placement("extend", target=after, valid_to=after.valid_to, dropped=dropped, why=why)
    return Placement("insert", valid_to=until(claim.end, after), dropped=dropped, why=why)


def place_correction(
    claim: Claim, before: FactRow | None, started: Sequence[FactRow], after: FactRow | None
) -> Placement:
    """The user's word holds from its start until a fact that is planned for later; what it meets gives way.

    `started` are the facts that start from the claim's start up to the moment of speaking, `after` is the first
    that starts later.
    """
    dropped = tuple(started)
    if (
        before is not None
        and before.valid_from < claim.start
        and before.covers(claim.start)
        and before.object_key == claim.object_key
    ):
        dropped = (before, *dropped)  # the same thing, but not from then: the user moves its beginning
    return Placement("insert", valid_to=until(claim.end, after), dropped=dropped, outcome="corrected")


def until(claimed: datetime | None, after: FactRow | None) -> datetime | None:
    """The claimed end, cut at the start of the next fact."""
    ends = [end for end in (claimed, after.valid_from if after else None) if end is not None]
    return min(ends, default=None)


def reaches(end: datetime | None, instant: datetime) -> bool:
    return end is None or end >= instant
