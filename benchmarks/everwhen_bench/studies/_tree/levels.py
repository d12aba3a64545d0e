"""Which levels are recalled, flat or along the tree (TiMem, table 4), and how leaves are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everwhen.types import Recalled
from everwhen.types.recall import MID
from everwhen_bench.studies._tree.trial import Way


def ways() -> list[Way]:
    """Flat: the 20 best of the levels. Along the tree: the planner's levels over the best leaves, strictly gated."""
    planned = replace(MID, name="planned, gated", tree=True, gate="strict")
    return [
        Way("level 1, flat", MID, ("turn",), _first),
        Way("level 1, along the tree", planned, None, _leaves),
        Way("levels 2 to 5, flat", MID, ("node",), _first),
        Way("levels 2 to 5, along the tree", replace(planned, gate="none"), None, _nodes),
        Way("levels 1 to 5, flat", MID, ("turn", "node"), _first),
    ]


def leaves() -> list[Way]:
    """Leaves by TiMem's lambda, and by the fused channels: the 20 alone, then with what stands above them."""
    by_lambda = replace(MID, name="lambda", fusion="lambda")
    return [
        Way("lambda 0.9, leaves", by_lambda, ("turn",), _first),
        Way("fused channels, leaves", MID, ("turn",), _first),
        Way("lambda 0.9, tree", replace(by_lambda, tree=True)),
        Way("fused channels, tree", replace(MID, name="fused, tree", tree=True)),
    ]


def _first(memories: Sequence[Recalled]) -> Sequence[Recalled]:
    return memories[: MID.tree_leaves]


def _leaves(memories: Sequence[Recalled]) -> Sequence[Recalled]:
    return [one for one in memories if one.kind == "turn"]


def _nodes(memories: Sequence[Recalled]) -> Sequence[Recalled]:
    return [one for one in memories if one.kind == "node"]
