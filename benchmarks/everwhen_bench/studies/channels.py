"""TEMPR's ablation: what is each channel worth, by its own fusion, and does spreading beat two-hop neighbours?

LoCoMo's conversations are read by the rules first, so that the graph has entities, events and facts; LongMemEval's are
not (reading 62,000 turns takes hours). `two-hop neighbours` visits everything within two links of the seeds, whatever
its activation, in place of spreading. The rows above it have our bounds of the graph; `tempr` is the recipe with the
paper's numbers throughout. Under the learned fusion each channel is left out by `bench locomo --ablate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from everwhen.recall.papers import graph
from everwhen.recall.temporal_channel import Neighbours
from everwhen.types.recall import FOUR_WAY as EVERY_CHANNEL
from everwhen.types.recall import MID, TEMPR, Recipe
from everwhen_bench.cases import bench_of, cases, opened
from everwhen_bench.retrieval import EVERYTHING, Scored
from everwhen_bench.studies import Request, Result
from everwhen_bench.studies._rows import by_group, differences, table, turns

FOUR_WAY = "four-way"
DEFAULT = "learned fusion"
TWO_HOPS = "two-hop neighbours"
RRF = replace(EVERY_CHANNEL, name="rrf", fusion="rrf", rrf_k=60, rerank=False)
"""TEMPR's own fusion and constant."""
BY_RANKS: dict[str, Recipe] = {
    FOUR_WAY: RRF,
    "no temporal": RRF.without("temporal"),
    "no graph": RRF.without("graph"),
    "no keyword": RRF.without("keyword"),
    "no semantic": RRF.without("semantic"),
    "vector only": replace(RRF, channels=("semantic",)),
    TWO_HOPS: RRF,
    TEMPR.name: TEMPR,
    f"{TEMPR.name}, no graph": TEMPR.without("graph"),
}
LEARNED: dict[str, Recipe] = {DEFAULT: MID, f"{DEFAULT}, {TWO_HOPS}": EVERY_CHANNEL}


def run(request: Request) -> Result:
    extract = "rules" if bench_of(request.data) == "locomo" else "none"
    rows: dict[str, list[Scored]] = {}
    asked = 0
    for case in cases(request.data, request.limit):
        with opened(case, extract=extract) as memory:
            for question in case.questions:
                for name, recipe in (BY_RANKS | LEARNED).items():
                    with walking(two_hops if TWO_HOPS in name else None):
                        found = memory.recall(
                            question.text, at=question.at, max_tokens=EVERYTHING, recipe=recipe
                        )
                    rows.setdefault(name, []).append(question.score(turns(found.memories)))
                asked += 1
                if request.progress:
                    request.progress(asked)
    ranks = differences({name: rows[name] for name in BY_RANKS if name in rows}, FOUR_WAY)
    learned = differences({name: rows[name] for name in LEARNED if name in rows}, DEFAULT)
    return {
        "tables": [
            table(f"reciprocal ranks, k = 60, no rerank, {asked} questions [95%]", ranks, FOUR_WAY),
            by_group("the same by kind of question", ranks, FOUR_WAY, "turn recall@10"),
            table("the default, difference [95%]", learned, DEFAULT),
        ],
        "figures": {"questions": asked, "rows": ranks | learned},
    }


def two_hops(
    neighbours: Neighbours,
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
def walking(way: Callable[..., dict[int, float]] | None) -> Iterator[None]:
    """The graph channel with another walk than its own."""
    if way is None:
        yield
        return
    with patch.object(graph, "spread", way):
        yield
