"""Adds the turns said right before and after the best turns, if there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everwhen.recall.result import recalled
from everwhen.store import Store
from everwhen.store.scan import Scan
from everwhen.types import Recalled, UnitRow, Why

LEADING = 10
"""The best turns that are given their neighbours."""
SHARE = 0.5
"""What a neighbour is worth of the turn that brought it."""


def expand(
    store: Store, scan: Scan, ranked: Sequence[Recalled], seqs: Mapping[str, int], reach: int
) -> list[Recalled]:
    """The same order, with the turns around the leading ones after each; those that are there already stay where
    they are. `seqs` are the units of the turns, by id; what is no turn, a node say, has no neighbours."""
    turns = [(place, seqs[one.id]) for place, one in enumerate(ranked) if one.kind == "turn"]
    leading = turns[:LEADING]
    around = scan.around([seq for _, seq in leading], reach)
    there = {seq for _, seq in turns}
    brought: dict[int, list[int]] = {}
    for (place, _), row in zip(leading, around.rows_of, strict=True):
        for other in range(max(0, int(row) - reach), min(len(around.units), int(row) + reach + 1)):
            seq = int(around.units[other])
            if around.sessions[other] == around.sessions[row] and seq not in there:
                there.add(seq)
                brought.setdefault(place, []).append(seq)
    rows = store.units([seq for more in brought.values() for seq in more])
    out: list[Recalled] = []
    for place, memory in enumerate(ranked):
        out.append(memory)
        out += [_beside(memory, rows[seq]) for seq in brought.get(place, ()) if seq in rows]
    return out


def _beside(memory: Recalled, row: UnitRow) -> Recalled:
    score = memory.score * SHARE
    return recalled(row, score, Why(fused=score, beside=memory.id))
