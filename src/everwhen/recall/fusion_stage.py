"""The fusion stage: the candidates in one order, with the reader's part in it.

By a weighted sum of features (the default), by reciprocal ranks, or as TiMem ranks its leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.answerable import answerable
from everwhen.recall.features import CandidatePool, features
from everwhen.recall.fuse import fitted, linear, rrf, weighted
from everwhen.recall.gathering import Gathered
from everwhen.recall.hierarchy import leaf_scores
from everwhen.recall.reader_stage import ReaderStage, is_readable
from everwhen.recall.request import Request
from everwhen.recall.stage_times import timed
from everwhen.store.search import SaidBy
from everwhen.store.sql.store import Store
from everwhen.types import UnitRow
from everwhen.types.recipes import Recipe
from everwhen.write.changes.newer_answers import MAY_ANSWER, newer_first

CONTEXT = ("bm25_neighbour", "answers_match", "near_hits", "session_bm25", "session_affinity")
"""The features that a recipe without `context` does without."""


@dataclass(frozen=True, slots=True)
class Fused:
    """Candidates in the order of their fused score, and what that score is made of."""

    rows: Sequence[UnitRow]
    scores: NDArray[np.float32]
    contributions: Mapping[str, NDArray[np.float32]]
    answerable: float


def fuse(store: Store, gathered: Gathered, request: Request, timings: dict[str, float]) -> Fused:
    asked, pool = gathered.plan, gathered.pool
    if pool is None:
        return Fused((), np.zeros(0, np.float32), {}, 0.0)
    if request.recipe.fusion == "rrf":
        rankings = {name: [unit for unit, _ in one] for name, one in gathered.found.items()}
        return _by_ranks(pool, rankings, request.recipe)
    if request.recipe.fusion == "lambda":
        return _by_lambda(pool, request.recipe.tree_lambda)

    desk = None
    if request.reader is not None and request.recipe.read and is_readable(pool.plan.query):
        desk = ReaderStage(pool, request.reader)
    return _by_weights(pool, request.recipe, asked.question.asks_now(request.asked_at), desk, timings)


def _by_ranks(pool: CandidatePool, rankings: Mapping[str, list[int]], recipe: Recipe) -> Fused:
    """By reciprocal ranks, or by a cross-encoder's score where there is one; what it cannot compare comes last."""
    fused = rrf(rankings, recipe.rrf_k)
    scores = np.array([fused[row.seq] for row in pool.rows], np.float32)
    order = np.argsort([-fused[row.seq] for row in pool.rows], kind="stable")
    if pool.rerank:  # any scale will do: the place says how good one is, as in `_by_lambda`
        read = np.nan_to_num(next(iter(pool.rerank.values())), nan=-np.inf)
        order = order[np.argsort(-read[order], kind="stable")]
        scores[order] = 1.0 / (1.0 + np.arange(len(order)))
    best = float(pool.found.own.cosines.max())
    return Fused([pool.rows[place] for place in order], scores[order], {}, best)


def _by_lambda(pool: CandidatePool, weight: float) -> Fused:
    """TiMem's leaves: by meaning and words. A sum of cosines says little of how much better one is; its rank does."""
    scores = leaf_scores(pool, weight)
    order = np.argsort(-scores, kind="stable")
    shares = (1.0 / (1.0 + np.arange(len(order)))).astype(np.float32)
    return Fused(
        [pool.rows[place] for place in order],
        shares,
        {"lambda": scores[order].astype(np.float32)},
        float(scores.max()),
    )


def _by_weights(
    pool: CandidatePool, recipe: Recipe, now: bool, desk: ReaderStage | None, timings: dict[str, float]
) -> Fused:
    """Best first; the score is `exp(s - max s)`, s the fused one: 1 for the best, and shares of it below.

    Where a question asks how things stand (`now`), what replaces an answer comes before it.
    """
    columns = features(pool)
    if not recipe.context:
        columns = {name: values for name, values in columns.items() if name not in CONTEXT}
    weights = fitted()["weights"]["plain" if pool.matches is None else "maxsim"]
    contributions = weighted(columns, weights)
    contributions |= {name: columns[name] * np.float32(recipe.rerank_weight) for name in pool.rerank or ()}
    fused = linear(contributions, len(pool))
    read = None
    if desk is not None:
        with timed(timings, "read"):
            read = desk.first(fused, recipe.read)
    chance = answerable(pool, contributions, fused, read)
    if desk is not None and read is not None:
        # An assistant's long turns are not what the reader was trained on: there a logit weighs otherwise.
        worth = fitted()["read"]["assistant" if pool.has_assistant else "people"]
        contributions["read"] = read.added(fused, worth)
        fused = fused + contributions["read"]
        if recipe.latest and now:
            with timed(timings, "newer"):
                said = [(row.said_at, row.seq) if row.kind == "turn" else None for row in pool.rows]
                answers = set(read.places[read.logits >= MAY_ANSWER].tolist())
                answered = pool.found.said_by(SaidBy(role="assistant")) & (
                    not pool.plan.question.second_person
                )
                contributions["newer"] = newer_first(fused, said, answers, answered, desk.renews)
            fused = fused + contributions["newer"]
    scores = np.exp(fused - fused.max())
    order = np.argsort(-scores, kind="stable")
    return Fused(
        [pool.rows[place] for place in order],
        scores[order],
        {name: values[order] for name, values in contributions.items()},
        chance,
    )
