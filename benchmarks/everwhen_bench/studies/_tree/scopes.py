"""Fixed scopes and the planner, each with and without a gate (TiMem, table 3)."""

from __future__ import annotations

from dataclasses import replace

from everwhen.types.recall import MID, Complexity
from everwhen_bench.studies._tree.trial import Way

SCOPES: tuple[Complexity, ...] = ("simple", "hybrid", "complex")


def ways() -> list[Way]:
    """Hierarchical recall with the levels of one complexity for every question; then with the planner's."""
    out = []
    for gate in ("none", "strict"):
        named = "" if gate == "none" else ", gated"
        for scope in SCOPES:
            recipe = replace(MID, name=f"{scope}{named}", tree=True, scope=scope, gate=gate)
            out.append(Way(f"{scope}{named}", recipe))
        out.append(Way(f"planned{named}", replace(MID, name=f"planned{named}", tree=True, gate=gate)))
    return out
