"""Closes the gaps in fact chains when facts are erased because their sources are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from everwhen.facts.changes import retract_fact
from everwhen.store.facts import FactLedger


def close_chains(ledger: FactLedger, facts: Sequence[str], at: datetime) -> None:
    """Take facts out of what is believed, at a transaction time of its own: neighbours get back what they had given up.

    What follows is `erase`: the retractions themselves are not to be found again either.
    """
    for fact_id in facts:
        row = ledger.fact(fact_id)
        if row is not None and row.superseded_at is None:
            retract_fact(ledger, fact_id, at, None)
