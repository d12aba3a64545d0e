"""What studies share: rows of one study beside a base, with 95% intervals, as cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everwhen.types import Recalled
from everwhen_bench import metrics
from everwhen_bench.ablation import compared
from everwhen_bench.retrieval import RANKS, Scored
from everwhen_bench.studies import Table

KEYS = ("turn recall@10", "turn ndcg@10", "session ndcg@10", "session all@5")


def turns(memories: Sequence[Recalled]) -> list[str]:
    """Single turns in rank order: a memory that covers several takes several ranks."""
    found = metrics.unique(turn for one in memories for turn in one.turns)
    return [str(turn) for turn in found[:RANKS]]


def differences(rows: Mapping[str, Sequence[Scored]], base: str) -> dict[str, Any]:
    """Each row's figures with the paired difference to the base and its interval, over all and by group."""
    return {name: compared(scored, rows[base]) for name, scored in rows.items()}


def table(title: str, compared_rows: Mapping[str, Any], base: str, keys: Sequence[str] = KEYS) -> Table:
    """Rows with value, difference and interval."""
    return {
        "title": title,
        "heads": ["", *keys],
        "rows": [
            [name, *(cell(row["figures"].get(key), name != base) for key in keys)]
            for name, row in compared_rows.items()
        ],
    }


def by_group(title: str, compared_rows: Mapping[str, Any], base: str, key: str) -> Table:
    """One figure's differences by kind of question: does a part harm where it does not help?"""
    groups = list(compared_rows[base]["by_group"])
    return {
        "title": title,
        "heads": [key, *groups],
        "rows": [
            [name, *(cell(row["by_group"][group].get(key), name != base) for group in groups)]
            for name, row in compared_rows.items()
        ],
    }


def cell(figure: Mapping[str, Any] | None, differs: bool) -> str:
    """`0.712 +0.004 [-0.001, +0.009]`; a difference whose interval leaves out 0 has a star behind it."""
    if figure is None:
        return "-"
    if not differs:
        return f"{figure['value']:.3f}"
    low, high = figure["interval_95"]
    mark = "*" if low > 0 or high < 0 else ""
    return f"{figure['value']:.3f} {figure['difference']:+.3f} [{low:+.3f}, {high:+.3f}]{mark}"
