"""The search channels: semantic, keyword, temporal and graph. Each gives a ranked list of units; together they are the
candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TypeAlias

from everwhen.recall.graph_channel import graph
from everwhen.recall.plan import Plan
from everwhen.recall.query_embedding import ASKED
from everwhen.recall.temporal_channel import temporal
from everwhen.recipes import Recipe
from everwhen.store import Filter, Scored, Store
from everwhen.store.scan import SaidBy, Scan

Found: TypeAlias = dict[str, list[Scored]]

WORTH_A_THREAD = 20_000
"""Units from which channels run side by side: below, starting a thread takes longer than what it would save."""


def search(
    store: Store, plan: Plan, scan: Scan, who: SaidBy | None, where: Filter, recipe: Recipe
) -> tuple[Found, dict[str, float]]:
    """What each channel of the recipe finds, and how long each took in milliseconds.

    Meaning and words go through the bank at the same time, on a thread each; the graph starts from what meaning
    found. Both are asked twice where the question is about somebody: once of everything, once of what they said.
    """
    limit, floor = recipe.candidates, recipe.min_similarity
    found: Found = {}
    took: dict[str, float] = {}

    def semantic() -> list[Scored]:
        rankings = [scan.by_meaning(ASKED, limit, floor)]
        if who is not None:
            rankings.append(scan.by_meaning(ASKED, limit, floor, who))
        return merged(rankings)

    def keyword() -> list[Scored]:
        return merged([scan.by_words(limit), *([scan.by_words(limit, who)] if who is not None else [])])

    def timed(name: str, channel: Callable[[], list[Scored]]) -> None:
        start = perf_counter()
        found[name] = channel()
        took[name] = (perf_counter() - start) * 1000

    first = {"semantic": semantic, "keyword": keyword}
    chosen = {name: channel for name, channel in first.items() if name in recipe.channels}
    if len(scan) < WORTH_A_THREAD:
        for one in chosen.items():
            timed(*one)
    else:
        with ThreadPoolExecutor(max(1, len(chosen))) as pool:
            list(pool.map(lambda one: timed(*one), chosen.items()))
    found = {name: found[name] for name in chosen}
    if "graph" in recipe.channels:
        visits = max(1, limit // recipe.graph_share)
        timed("graph", lambda: graph(store, scan, found.get("semantic", []), visits, where, recipe))
    time = plan.question.time
    if "temporal" in recipe.channels and time is not None and time.intervals:
        windows = time.intervals
        timed("temporal", lambda: temporal(store, scan, windows, limit, where, recipe))
    return found, took


def merged(rankings: list[list[tuple[int, float]]]) -> list[Scored]:
    """Merges rankings that use the same measure: each unit with its best score."""
    best: dict[int, float] = {}
    for ranking in rankings:
        for unit, score in ranking:
            best[unit] = max(score, best.get(unit, score))
    return [Scored(*one) for one in sorted(best.items(), key=lambda item: (-item[1], item[0]))]


def reasons(found: Mapping[str, list[Scored]]) -> dict[int, tuple[dict[str, int], dict[str, float]]]:
    """For each unit its rank and score in every channel that found it."""
    out: dict[int, tuple[dict[str, int], dict[str, float]]] = {}
    for channel, ranking in found.items():
        for rank, (unit, score) in enumerate(ranking, start=1):
            ranks, scores = out.setdefault(unit, ({}, {}))
            ranks[channel], scores[channel] = rank, score
    return out
