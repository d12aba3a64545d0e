"""Origin decides rights: who said something says what it may change. Data; nothing else in the engine names an origin
to decide that."""

from __future__ import annotations

from collections.abc import Mapping

from everwhen.store.facts import FactRow
from everwhen.types import Origin

OWN = 3
RIGHTS: Mapping[Origin, int] = {
    "user": OWN, "observation": OWN, "inference": OWN,  # set by a call, or told of a thing, which cannot speak
    "self": OWN,
    "speaker": 2,
    "assistant": 1, "system": 1,
    "tool": 0, "pasted": 0,
}  # fmt: skip
"""A statement changes what was said with no more right than its own; where it may not, it is proposed. With 0 it is
always proposed."""

SAID_BY: Mapping[Origin, str] = {
    "speaker": "somebody else said it", "assistant": "the assistant said it", "system": "the system's prompt said it",
    "tool": "a tool returned it", "pasted": "it stood in a text that was passed on",
}  # fmt: skip
"""Why something is a proposal, in words."""


def right(row: FactRow) -> int:
    """What a person has decided about counts as said by the one it is about."""
    return RIGHTS[row.origin] if row.act in ("learn", "propose") else OWN
