"""Flat recall, each gate, and the tree, at the same budgets: by complexity and by category."""

from __future__ import annotations

from dataclasses import replace

from everwhen.types.recall import MID
from everwhen_bench.studies._tree.trial import Way


def ways() -> list[Way]:
    """The first is what the others are compared with."""
    return [
        Way("flat", MID),
        Way("careful gate", replace(MID, name="careful", gate="careful")),
        Way("strict gate", replace(MID, name="strict", gate="strict")),
        Way("tree", replace(MID, name="tree", tree=True)),
    ]
