"""What do three-way and four-way recalls take, and which stage takes it?

The first two conversations (or as many as `--limit` says), read by the rules, so that every channel has work. Recipes
are asked one after the other for each question, so that a busy moment of the machine meets all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from everwhen.types.recall import FOUR_WAY, MID, Recipe
from everwhen_bench.cases import bench_of, cases, opened
from everwhen_bench.metrics import percentile
from everwhen_bench.retrieval import figure
from everwhen_bench.studies import Request, Result, Table
from everwhen_bench.studies.channels import BY_RANKS, TWO_HOPS, two_hops, walking

CONVERSATIONS = 2
DEFAULT = "the default"
RECIPES: Mapping[str, Recipe] = {
    DEFAULT: MID,
    "no temporal": MID.without("temporal"),
    "four-way, with the graph": FOUR_WAY,
    f"four-way, {TWO_HOPS}": FOUR_WAY,
    "no reader": MID.without("read"),
    "no rerank": MID.without("rerank").without("read"),
    "vector only": BY_RANKS["vector only"],
}
QUANTILES = (50, 95, 99)


@dataclass(slots=True)
class Timings:
    """How long the recalls of one recipe took, and their stages, in ms."""

    whole: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)

    def spread(self) -> dict[str, float | None]:
        return {f"p{q}": figure(percentile(self.whole, q)) for q in QUANTILES}

    def shares(self) -> dict[str, dict[str, float | None]]:
        """Each stage over the recalls in which it ran; its share is of all recalls. Meaning and words are searched
        side by side, and both count; `other` is what no stage counts."""
        whole = sum(self.whole)
        out: dict[str, dict[str, float | None]] = {}
        for stage, times in self.stages.items():
            out[stage] = {f"p{q}": figure(percentile(times, q)) for q in QUANTILES}
            out[stage]["share"] = figure(sum(times) / whole)
        return dict(sorted(out.items(), key=lambda item: -(item[1]["share"] or 0)))


def run(request: Request) -> Result:
    extract = "rules" if bench_of(request.data) == "locomo" else "none"
    timings = {name: Timings() for name in RECIPES}
    asked = 0
    for case in cases(request.data, request.limit or CONVERSATIONS):
        with opened(case, extract=extract) as memory:
            for question in case.questions:
                for name, recipe in RECIPES.items():
                    with walking(two_hops if TWO_HOPS in name else None):
                        start = perf_counter()
                        found = memory.recall(question.text, at=question.at, recipe=recipe)
                        ms = (perf_counter() - start) * 1000
                    timings[name].whole.append(ms)
                    stages: dict[str, float] = found.trace["stages_ms"]
                    for stage, took in {**stages, "other": max(0.0, ms - sum(stages.values()))}.items():
                        timings[name].stages.setdefault(stage, []).append(took)
                asked += 1
                if request.progress:
                    request.progress(asked)
    whole = {name: one.spread() for name, one in timings.items() if one.whole}
    return {
        "tables": [
            {
                "title": f"a whole recall, {asked} questions, in ms",
                "heads": ["", "p50", "p95", "p99"],
                "rows": [[name, *(_ms(value) for value in one.values())] for name, one in whole.items()],
            },
            _stages(timings[DEFAULT]),
        ],
        "figures": {
            "questions": asked,
            "latency_ms": whole,
            "stages": {name: one.shares() for name, one in timings.items()},
        },
    }


def _stages(timings: Timings) -> Table:
    rows: list[list[Any]] = [
        [stage, *(_ms(one[f"p{q}"]) for q in QUANTILES), f"{one['share'] or 0:.1%}"]
        for stage, one in timings.shares().items()
    ]
    title = f"the stages of the {DEFAULT}, and their share of the time of all recalls"
    return {"title": title, "heads": ["stage", "p50", "p95", "p99", "share"], "rows": rows}


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
