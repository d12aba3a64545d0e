"""Where one exchange ends and the next begins: somebody speaks, somebody answers."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 50
"""Turns of an exchange at the most, so that adding to a long monologue stays fast."""


def begins_exchange(speakers: Sequence[str], speaker: str) -> bool:
    """Whether a turn opens a new exchange, given who spoke in the one before it, turn by turn.

    An exchange is what one person says (in one or more turns) and the answer to it (in one or more turns);
    whoever takes the floor after the answer opens the next, and so does whoever goes on after `LONGEST` turns.
    The rule looks only backwards, so turns that come one by one are cut as in bulk.
    """
    if not speakers or len(speakers) >= LONGEST:
        return True
    answered = any(one != speakers[0] for one in speakers)
    return answered and speaker != speakers[-1]
