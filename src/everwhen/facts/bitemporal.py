"""The bitemporal algebra: where a new claim belongs among the believed facts, and which of them it changes.

In one slot (see `Predicate.slot`) the believed facts form a chain in valid time. Each has the interval that was
claimed for it; it holds for the part of it that comes before the next fact:

    valid_to(i) = min(claimed_to(i), valid_from(i + 1))

So no two facts overlap, a newer fact closes an older one, a backfilled fact is closed by its successor, and the same
claims make the same chain in any order of arrival. When a fact is retracted, its predecessor gets back the time that
the fact had taken. These functions depend only on the neighbours in the chain; they read no clock and no database.

Which facts a statement may change depends on its origin: `RIGHTS` gives each origin a number, its authority. A few
rules name an origin beside that: in `judge`, for what the user has corrected and for inferences, and in
`facts/changes.py`.

Used by: `facts/changes.py`, learned facts, and answers, which say why something is only a proposal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from everwhen.store.rows import FactRow, Outcome
from everwhen.types import Origin

OWN = 3
RIGHTS: Mapping[Origin, int] = {
    "user": OWN, "observation": OWN, "inference": OWN,  # set by a call, or said of a thing, which cannot speak
    "self": OWN,
    "speaker": 2,
    "assistant": 1, "system": 1,
    "tool": 0, "pasted": 0,
}  # fmt: skip
"""Authority by origin. A statement may change facts whose authority is equal or lower, else it becomes a proposal (a
repeat only reinforces). Authority 0 changes nothing."""

LEAST_TO_ADD = 1
"""The authority that a statement needs where nothing is known yet for its time."""

WHY_PROPOSED: Mapping[Origin, str] = {
    "speaker": "somebody else said it", "assistant": "the assistant said it", "system": "the system's prompt said it",
    "tool": "a tool returned it", "pasted": "it stood in a text that was passed on",
}  # fmt: skip
"""Why a statement of this origin is only a proposal, in words."""


def authority(row: FactRow) -> int:
    """The authority of a fact: that of its origin, or `OWN` once a person has decided about it."""
    return RIGHTS[row.origin] if row.act in ("learn", "propose") else OWN


Decision = Literal["insert", "reinforce", "extend", "overrule", "dispute", "propose"]
Winner = Literal["incumbent", "challenger", "nobody"]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Placement:
    """What a claim does to the chain.

    `insert` adds a fact that holds until `valid_to`. `reinforce` and `extend` change the `target`, which says the
    same. The other three leave the chain as it is: `overrule` and `dispute` because the `target` contradicts the claim,
    `propose` because the claim has too little authority. Facts in `dropped` are no longer believed; facts that began
    before the claim end where it starts.
    """

    decision: Decision
    valid_to: datetime | None = None
    target: FactRow | None = None
    dropped: tuple[FactRow, ...] = ()
    outcome: Outcome = "outweighed"
    why: str = ""


def place(claim: FactRow, before: FactRow | None, after: FactRow | None, *, later: bool = False) -> Placement:
    """Place a claim between the fact that started last at or before it and the first that starts after it.

    `later` marks a claim that was certainly made after everything known, although the clock does not show it: it came
    without a start of its own while the clock ran backwards.
    """
    ends = until(claim.claimed_to, after)
    covering = before if before is not None and before.covers(claim.valid_from) else None
    is_known = covering is not None and covering.object_key == claim.object_key
    needed = LEAST_TO_ADD if covering is None else authority(covering)
    if authority(claim) < needed:
        moves_end = covering is not None and claim.claimed_to not in (None, covering.claimed_to)
        if not is_known or moves_end:
            return Placement("propose", target=covering, valid_to=ends, why=WHY_PROPOSED[claim.origin])
    if is_known:
        return Placement("reinforce", target=covering, valid_to=ends)
    dropped: tuple[FactRow, ...] = ()
    why = ""
    if covering is not None:
        winner, why = judge(covering, claim, later=later)
        if winner != "challenger":
            decision: Decision = "overrule" if winner == "incumbent" else "dispute"
            return Placement(decision, target=covering, valid_to=ends, why=why)
        if covering.valid_from == claim.valid_from:
            dropped = (covering,)
    same_after = after is not None and after.object_key == claim.object_key and ends == after.valid_from
    if after is not None and same_after and authority(claim) >= authority(after):
        return Placement("extend", target=after, valid_to=after.valid_to, dropped=dropped, why=why)
    return Placement("insert", valid_to=ends, dropped=dropped, why=why)


def place_correction(
    claim: FactRow, before: FactRow | None, started: Sequence[FactRow], after: FactRow | None
) -> Placement:
    """Place a correction by the user: it holds from its start until the next fact that is planned for later.

    `before` is the last fact that starts at or before the correction; `started` are the facts that start from there up
    to the moment of speaking: they are no longer believed. `after` is the first that starts later.
    """
    dropped, start = tuple(started), claim.valid_from
    covers = before is not None and before.valid_from < start and before.covers(start)
    if before is not None and covers and before.object_key == claim.object_key:
        dropped = (before, *dropped)  # the same thing, but not from then: the user moves its beginning
    return Placement("insert", valid_to=until(claim.claimed_to, after), dropped=dropped, outcome="corrected")


def until(claimed: datetime | None, after: FactRow | None) -> datetime | None:
    """The claimed end, cut at the start of the next fact."""
    ends = [end for end in (claimed, after.valid_from if after else None) if end is not None]
    return min(ends, default=None)


# Two facts that contradict each other


class Verdict(NamedTuple):
    winner: Winner
    why: str


def judge(incumbent: FactRow, challenger: FactRow, *, later: bool = False) -> Verdict:
    """Who is right about the time from the challenger's start on, where the incumbent is believed to hold.

    Rules, in this order:

    1. What the user has corrected or resolved wins against claims about the time before that decision; an inference
       about later is disputed. A new statement by the user is not held to this rule.
    2. The higher authority wins, if it is the challenger's. (A challenger with less never comes here: see `place`.)
    3. The one that starts later wins; with `later`, the challenger.
    4. The more specific wins.
    5. The more confident wins.

    If none applies, both are kept and a person decides.
    """
    if incumbent.act in ("correct", "resolve") and challenger.origin != "user":
        if challenger.valid_from <= incumbent.stated_at:
            return Verdict("incumbent", "the user has corrected this")
        if challenger.origin == "inference":
            return Verdict("nobody", "an inference contradicts what the user said")
    if authority(challenger) > authority(incumbent):
        return Verdict("challenger", "who said it has more right to")
    if challenger.valid_from > incumbent.valid_from or later:
        return Verdict("challenger", "it is more recent")
    if more_specific(challenger.object, incumbent.object):
        return Verdict("challenger", "it is more specific")
    if more_specific(incumbent.object, challenger.object):
        return Verdict("incumbent", "what is known is more specific")
    if challenger.confidence != incumbent.confidence:
        if challenger.confidence > incumbent.confidence:
            return Verdict("challenger", "it is more confident")
        return Verdict("incumbent", "what is known is more confident")
    return Verdict("nobody", "both start at the same time and are equally sure")


def more_specific(a: str, b: str) -> bool:
    """Whether `a` says all that `b` says, and more: "Bonfim, Porto" against "Porto"."""
    return _word_set(a) > _word_set(b)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
