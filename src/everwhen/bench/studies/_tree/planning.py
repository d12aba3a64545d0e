"""Flat recall, the planner, and the planner with each gate, at the same budgets: by complexity and by category."""

from __future__ import annotations

from dataclasses import replace

from everwhen.bench.studies._tree.trial import FLAT, Way
from everwhen.recall import MID


def ways() -> list[Way]:
    """The first is what the others are compared with."""
    return [
        Way("flat", FLAT),
        Way("planned", MID),
        Way("planned, careful gate", replace(MID, name="careful", gate="careful")),
        Way("planned, strict gate", replace(MID, name="strict", gate="strict")),
        Way("planned, tree", replace(MID, name="tree", tree=True)),
    ]
