"""The search channels: semantic, keyword, temporal and graph. Each gives a ranked list of units; together they are the
candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from everwhen.recall.graph_channel import graph
from everwhen.recall.plan import Plan
from everwhen.recall.stage_times import timed
from everwhen.recall.temporal_channel import POOL, temporal
from everwhen.store.search import Filter, SaidBy, Scored, Search, Wanted
from everwhen.types.recipes import Recipe

Found: TypeAlias = dict[str, list[Scored]]


def find(
    plan: Plan, search: Search, who: SaidBy | None, where: Filter, recipe: Recipe
) -> tuple[Found, dict[str, float]]:
    """What each channel of the recipe finds, and how long it took in milliseconds.

    Meaning and words are asked twice where the question is about somebody: once of everything, once of what they said.
    The graph starts from what meaning found.
    """
    limit, took, time = recipe.candidates, dict[str, float](), plan.question.time
    windows = time.intervals if "temporal" in recipe.channels and time is not None else ()
    with timed(took, "candidates"):
        candidates = search.candidates(
            Wanted(
                limit,
                recipe.min_similarity,
                meaning="semantic" in recipe.channels,
                words="keyword" in recipe.channels,
                whose=(None,) if who is None else (None, who),
                windows=windows,
                timed=limit * POOL,
                timed_floor=recipe.temporal_similarity,
            )
        )
    rankings = {"semantic": candidates.meaning, "keyword": candidates.words}
    found = {name: merged(several) for name, several in rankings.items() if name in recipe.channels}
    if "graph" in recipe.channels:
        visits = max(1, limit // recipe.graph_share)
        with timed(took, "graph"):
            found["graph"] = graph(search, found.get("semantic", []), visits, where, recipe)
    if windows:
        with timed(took, "temporal"):
            found["temporal"] = temporal(search, candidates.timed, windows, limit, where, recipe)
    return found, took


def merged(rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Merges rankings that use the same measure: each unit with its best score."""
    best: dict[int, Scored] = {}
    for ranking in rankings:
        for one in ranking:
            known = best.setdefault(one.unit, one)
            if one.score > known.score:
                best[one.unit] = one
    return sorted(best.values(), key=lambda one: (-one.score, one.unit))


def reasons(found: Mapping[str, list[Scored]]) -> dict[int, tuple[dict[str, int], dict[str, float]]]:
    """For each unit its rank and score in every channel that found it."""
    out: dict[int, tuple[dict[str, int], dict[str, float]]] = {}
    for channel, ranking in found.items():
        for rank, (unit, score) in enumerate(ranking, start=1):
            if unit not in out:
                out[unit] = {channel: rank}, {channel: score}
                continue
            ranks, scores = out[unit]
            ranks[channel], scores[channel] = rank, score
    return out
