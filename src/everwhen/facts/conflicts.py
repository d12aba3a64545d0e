"""Two facts that contradict each other: which one stands, by which rule, and when a person must decide.

Rules, in this order: the user's explicit correction; the more recent; the more specific; the more confident. If none
applies, both are kept and a review item is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everwhen.store.facts import FactRow
from everwhen.types import Origin

Winner = Literal["incumbent", "challenger", "nobody"]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody says: an object, its interval, and with what authority.

    `later` marks a claim that was certainly made after everything known, although the clock does not show it: it came
    without a start of its own while the clock ran backwards.
    """

    object: str
    object_key: str
    start: datetime
    end: datetime | None
    confidence: float
    origin: Origin
    later: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    winner: Winner
    why: str


def judge(incumbent: FactRow, challenger: Claim) -> Verdict:
    """Who is right about the time from the challenger's start on, where the incumbent is valid now."""
    if incumbent.act in ("correct", "resolve") and challenger.origin != "user":
        if challenger.start <= incumbent.stated_at:
            return Verdict("incumbent", "the user has corrected this")
        if challenger.origin == "inference":
            return Verdict("nobody", "an inference contradicts what the user said")
    if challenger.start > incumbent.valid_from or challenger.later:
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
    return _words(a) > _words(b)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
