"""How well the planner's rules tell simple, hybrid and complex questions apart.

No data set has these labels, so its own kinds of question stand in for them: LoCoMo's multi-hop for hybrid, open domain
for complex, the others for simple.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from everwhen.recall.question import complexity
from everwhen.types.recall import Complexity
from everwhen_bench.retrieval import figure

MEANT: dict[int, Complexity] = {1: "hybrid", 2: "simple", 3: "complex", 4: "simple"}
"""LoCoMo's categories."""
KINDS: tuple[Complexity, ...] = ("simple", "hybrid", "complex")


def confusion(questions: Sequence[tuple[str, Complexity]]) -> dict[str, Any]:
    """What each kind is taken for, and F1 of each and of all (the mean)."""
    pairs = [(meant, complexity(text)[0]) for text, meant in questions]
    counts = Counter(pairs)
    scores = {kind: _f1(counts, kind) for kind in KINDS}
    return {
        "questions": len(pairs),
        "rows": {meant: {taken: counts[meant, taken] for taken in KINDS} for meant in KINDS},
        "f1": {kind: figure(score) for kind, score in scores.items()},
        "macro_f1": figure(sum(scores.values()) / len(scores)),
    }


def _f1(counts: Counter[tuple[Complexity, Complexity]], kind: Complexity) -> float:
    right = counts[kind, kind]
    taken = sum(counts[other, kind] for other in KINDS)
    meant = sum(counts[kind, other] for other in KINDS)
    return 2 * right / (taken + meant) if taken + meant else float("nan")
