"""Adds the turns said right before and after the best turns, if there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everwhen.recall.result import recalled
from everwhen.store.search import Search
from everwhen.types import Recalled, Why

LEADING = 10
"""The best turns that are given their neighbours."""
SHARE = 0.5
"""What a neighbour is worth of the turn that brought it."""


def expand(search: Search, ranked: Sequence[Recalled], seqs: Mapping[str, int], reach: int) -> list[Recalled]:
    """The same order, with the turns around the leading ones after each; those that are there already stay where
    they are. `seqs` are the units of the turns, by id; what is no turn, a node say, has no neighbours."""
    turns = [(place, seqs[one.id]) for place, one in enumerate(ranked) if one.kind == "turn"]
    leading = dict(turns[:LEADING])
    around = search.around(list(leading.values()), reach)
    there = {seq for _, seq in turns}
    out: list[Recalled] = []
    for place, memory in enumerate(ranked):
        out.append(memory)
        for row in around.get(leading.get(place, 0), ()):
            if row.seq not in there:
                there.add(row.seq)
                score = memory.score * SHARE
                out.append(recalled(row, score, Why(fused=score, beside=memory.id)))
    return out
