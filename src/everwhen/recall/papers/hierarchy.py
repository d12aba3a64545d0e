"""TiMem's hierarchical recall: from the best turns up to the tree nodes above them, inside budgets (eq. 8 and 9).

Source: the third of the five documents (docs/five-documents.md). The leaves are turns. Which levels are added, and how
much of each, depends on the complexity of the question: a simple one gets turns only, a complex one also days and weeks
as context. Settings: `tree_recall`, `tree_leaves`, `tree_budgets`; recipes `TIMEM` and `tree=True`. What it is worth:
docs/tree.md, measured by `benchmarks/everwhen_bench/studies/tree.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.candidates import recalled
from everwhen.store.rows import Filter, SearchQuery
from everwhen.store.sql.store import Store
from everwhen.types import Dropped, Recalled, UnitRow, Why
from everwhen.types.recall import Complexity, Recipe

LEAF, SESSION = 1, 2
SHARE = 0.5
"""What an ancestor is worth of the best leaf under it, at most: the words themselves go first."""


def level_budgets(recipe: Recipe, complexity: Complexity, top: int) -> dict[int, int]:
    """How much of each level is kept. By default, in a tree of five: simple 1:20 2:4 5:1, hybrid also 3:2, complex
    1:20 2:8 3:4 4:2 5:1. In a lower tree the profile, the top, stands for the levels that lack."""
    sessions, first, further, profile = recipe.tree_budgets[get_args(Complexity).index(complexity)]
    budgets = {LEAF: recipe.tree_leaves, SESSION: sessions}
    for level in range(SESSION + 1, top):
        budgets[level] = first if level == SESSION + 1 else further
    if top > SESSION:
        budgets[top] = profile
    return {level: most for level, most in budgets.items() if most}


def climb(
    store: Store,
    question: NDArray[np.float32],
    ranked: Sequence[Recalled],
    complexity: Complexity,
    where: Filter,
    recipe: Recipe,
) -> tuple[list[Recalled], list[Dropped]]:
    """The leaves with the nodes above them, best first, and what the levels' budgets leave out.

    Ancestors are pruned by their cosine with the question; one is worth at most half of the best leaf under it, less
    as its cosine falls behind the best one's.
    """
    leaves = [one for one in ranked if one.kind == "turn"][: recipe.tree_leaves]
    if not leaves:
        return list(ranked), []
    kept = {one.id for one in leaves}
    below = [one for one in ranked if one.kind == "turn" and one.id not in kept]
    others = [one for one in ranked if one.kind != "turn"]
    dropped = [Dropped(one.id, f"not among the {recipe.tree_leaves} best leaves", one.score) for one in below]
    paths = store.tree.paths([turn for one in leaves for turn in one.turns])
    best_leaf: dict[int, float] = {}
    levels: dict[int, list[int]] = {}
    for leaf in leaves:
        for node in (node for turn in leaf.turns for node in paths.get(turn, ())):
            if node.level > LEAF:
                if node.unit not in best_leaf:
                    levels.setdefault(node.level, []).append(node.unit)
                best_leaf[node.unit] = max(best_leaf.get(node.unit, 0.0), leaf.score)
    above = [unit for several in levels.values() for unit in several]
    allowed = replace(where, kinds=frozenset({"node"}))
    evidence = store.search(SearchQuery(question, where=allowed)).evidence(above)
    near = {row.seq: cosine for row, cosine in zip(evidence.rows, evidence.own.cosines.tolist(), strict=True)}
    nodes, pruned = _pruned(near, levels, level_budgets(recipe, complexity, max(levels, default=SESSION)))
    rows = {row.seq: row for row in evidence.rows}
    closest = max(nodes.values(), default=1.0)
    found = [
        _node(row, SHARE * best_leaf[row.seq] * max(nodes[row.seq], 0.0) / max(closest, 1e-9), nodes[row.seq])
        for row in rows.values()
        if row.seq in nodes and _inside(row, where)
    ]
    dropped += [Dropped(rows[unit].id, "its level is full", value) for unit, value in pruned.items()]
    return sorted([*leaves, *others, *found], key=lambda one: -one.score), dropped


def _pruned(
    near: Mapping[int, float], levels: Mapping[int, Sequence[int]], budgets: Mapping[int, int]
) -> tuple[dict[int, float], dict[int, float]]:
    """The nodes of each level that are nearest to the question, as many as it may keep, and the others."""
    kept: dict[int, float] = {}
    left: dict[int, float] = {}
    for level, several in levels.items():
        order = sorted((unit for unit in several if unit in near), key=lambda unit: -near[unit])
        for place, unit in enumerate(order):
            (kept if place < budgets.get(level, 0) else left)[unit] = near[unit]
    return kept, left


def _inside(row: UnitRow, where: Filter) -> bool:
    """A node covers all its interval: under a hard filter by time it must lie in there as a whole."""
    return where.between is None or row.occurred is None or where.between.covers(row.occurred)


def _node(row: UnitRow, score: float, cosine: float) -> Recalled:
    return recalled(row, score, Why(scores={"node": round(cosine, 4)}, fused=score))
