"""TEMPR's ablation: what is each channel worth, and what do three-way and four-way recalls take?

LoCoMo's conversations are read by the rules first, so that the graph has entities, events and facts; LongMemEval's are
not (reading 60,000 turns takes hours). `two-hop neighbours` visits everything within two links of the seeds, whatever
its activation, in place of spreading. The timed recipes are asked one after the other for each question, so that a busy
moment of the machine meets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

from everwhen.bench.cases import bench_of, cases, opened
from everwhen.bench.metrics import percentile
from everwhen.bench.retrieval import EVERYTHING, Scored, figure
from everwhen.bench.studies import Request, Result, Table
from everwhen.bench.studies._rows import by_group, differences, table, turns
from everwhen.recall import MID, Recipe
from everwhen.recall import graph as graph_channel

FOUR_WAY = "four-way (default)"
_RRF = replace(MID, name="rrf", fusion="rrf", rrf_k=60, rerank=False)
"""TEMPR's own fusion and constant."""
TWO_HOPS = "two-hop neighbours"
RECIPES: dict[str, Recipe] = {
    FOUR_WAY: MID,
    "three-way, no temporal": MID.without("temporal"),
    "three-way, no graph": MID.without("graph"),
    "no keyword": MID.without("keyword"),
    "no semantic": MID.without("semantic"),
    "vector only": replace(_RRF, name="vector", channels=("semantic",)),
    "no rerank": MID.without("rerank"),
    TWO_HOPS: MID,
}
BY_RANKS: dict[str, Recipe] = {
    "rrf k=60, four-way": _RRF,
    "rrf k=60, no temporal": _RRF.without("temporal"),
    "rrf k=60, no graph": _RRF.without("graph"),
    "rrf k=60, no keyword": _RRF.without("keyword"),
    "rrf k=60, no semantic": _RRF.without("semantic"),
    f"rrf k=60, {TWO_HOPS}": _RRF,
}
TIMED = (FOUR_WAY, "three-way, no temporal", "three-way, no graph", "vector only", "no rerank", TWO_HOPS)


@dataclass(slots=True)
class Timings:
    """How long the recalls of one recipe took, and their stages."""

    whole: list[float]
    stages: dict[str, list[float]]

    def row(self) -> list[Any]:
        return [round(percentile(self.whole, q), 1) for q in (50, 95, 99)]

    def shares(self) -> dict[str, dict[str, float | None]]:
        """Each stage over the recalls in which it ran; its share is of all recalls."""
        whole = sum(self.whole)
        out = {
            stage: {"p50": figure(percentile(ms, 50)), "p95": figure(percentile(ms, 95)),
                    "p99": figure(percentile(ms, 99)), "share": figure(sum(ms) / whole)}
            for stage, ms in self.stages.items()
        }  # fmt: skip
        return dict(sorted(out.items(), key=lambda item: -(item[1]["share"] or 0)))


def run(request: Request) -> Result:
    extract = "rules" if bench_of(request.data) == "locomo" else "none"
    rows: dict[str, list[Scored]] = {}
    timings = {name: Timings([], {}) for name in TIMED}
    asked = 0
    for case in cases(request.data, request.limit):
        with opened(case, extract=extract) as memory:
            for question in case.questions:
                for name, recipe in (RECIPES | BY_RANKS).items():
                    with _walking(two_hops if TWO_HOPS in name else None):
                        start = perf_counter()
                        found = memory.recall(
                            question.text, at=question.at, max_tokens=EVERYTHING, recipe=recipe
                        )
                        ms = (perf_counter() - start) * 1000
                    rows.setdefault(name, []).append(question.score(turns(found.memories)))
                    if name in timings:
                        timings[name].whole.append(ms)
                        for stage, took in found.trace["stages_ms"].items():
                            timings[name].stages.setdefault(stage, []).append(took)
                asked += 1
                if request.progress:
                    request.progress(asked)
    learned = differences({name: rows[name] for name in RECIPES if name in rows}, FOUR_WAY)
    first = next(iter(BY_RANKS))
    ranks = differences({name: rows[name] for name in BY_RANKS if name in rows}, first)
    return {
        "tables": [
            table(f"learned fusion, {asked} questions, difference to the default [95%]", learned, FOUR_WAY),
            table("reciprocal ranks, k = 60, no rerank: TEMPR's fusion", ranks, first),
            by_group("by kind of question", learned, FOUR_WAY, "turn recall@10"),
            _totals(timings),
            _stages(timings[FOUR_WAY]),
        ],
        "figures": {
            "questions": asked,
            "rows": learned | ranks,
            "latency_ms": {
                name: dict(zip(("p50", "p95", "p99"), one.row(), strict=True))
                for name, one in timings.items()
            },
            "stages": {name: one.shares() for name, one in timings.items()},
        },
    }


def two_hops(
    neighbours: graph_channel.Neighbours,
    seeds: Mapping[int, float],
    *,
    decay: float,
    min_edge: float,
    stop: float,
    limit: int,
) -> dict[int, float]:
    """Breadth first: the seeds, then what one link leads to, then what two do, each as active as its hop says."""
    visited = dict(seeds)
    edge: Sequence[int] = list(seeds)
    for hop in (1, 2):
        found = neighbours(edge) if edge else {}
        reached = [
            other
            for unit in edge
            for other, weight in found.get(unit, ())
            if weight >= min_edge and other not in visited
        ]
        edge = list(dict.fromkeys(reached))[: limit - len(visited)]
        visited |= dict.fromkeys(edge, decay**hop)
    return visited


@contextmanager
def _walking(way: Callable[..., dict[int, float]] | None) -> Iterator[None]:
    """The graph channel with another walk than its own."""
    if way is None:
        yield
        return
    with patch.object(graph_channel, "spread", way):
        yield


def _totals(timings: Mapping[str, Timings]) -> Table:
    return {
        "title": "a whole recall, in ms",
        "heads": ["", "p50", "p95", "p99"],
        "rows": [[name, *one.row()] for name, one in timings.items() if one.whole],
    }


def _stages(timings: Timings) -> Table:
    return {
        "title": "its stages, in ms, and their share of the time of all recalls",
        "heads": ["stage", "p50", "p95", "p99", "share"],
        "rows": [
            [stage, *(f"{one[key]:.2f}" for key in ("p50", "p95", "p99")), f"{one['share']:.1%}"]
            for stage, one in timings.shares().items()
        ],
    }
