"""The recall pipeline: from a question to the few memories that answer it.

plan -> channels -> rerank -> fuse -> read -> latest -> satf -> tree -> expand -> facts -> gate -> budget (with dates):
one module each, composed here. The reranker runs before fusion, because its scores are features; the reader reads the
first few candidates after fusion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.facts.shown_facts import FactScope
from everwhen.models.embed import Embedder
from everwhen.recall.budget_stage import select
from everwhen.recall.channels import reasons
from everwhen.recall.fact_stage import show_facts
from everwhen.recall.fusion_stage import fuse
from everwhen.recall.gate import GateInputs, gate
from everwhen.recall.gathering import Gathered, gather
from everwhen.recall.hierarchy import climb
from everwhen.recall.llm_judge import gate_by_llm
from everwhen.recall.neighbour_turns import expand
from everwhen.recall.plan import Plan
from everwhen.recall.request import Request
from everwhen.recall.result import recalled
from everwhen.recall.satf import satf
from everwhen.recall.stage_times import timed
from everwhen.recall.token_budget import BEYOND, NO_ROOM
from everwhen.store.search import Filter
from everwhen.store.sql.store import Store
from everwhen.types import KINDS, Dropped, Recall, Recalled, Why
from everwhen.types.recall import tokens_of
from everwhen.types.recipes import SATF_NUMBERS, Recipe


def recall(store: Store, embedder: Embedder, request: Request) -> Recall:
    """The memories that answer, best first, inside the token budget, each with the reason for it."""
    timings: dict[str, float] = {}
    return decide(store, gather(store, embedder, request, timings), request, timings)


def decide(store: Store, gathered: Gathered, request: Request, timings: dict[str, float]) -> Recall:
    """Fuse, gate and cut to the budget what was found."""
    recipe = request.recipe
    if recipe.scope is not None:
        fixed = replace(gathered.plan.question, complexity=recipe.scope, cues=("fixed",))
        gathered = replace(gathered, plan=replace(gathered.plan, question=fixed))
    with timed(timings, "fuse"):
        fused = fuse(store, gathered, request, timings)
    timings["fuse"] -= timings.get("read", 0.0) + timings.get("newer", 0.0)  # told by themselves
    why = reasons(gathered.found)
    ranked = [
        recalled(row, score, Why(*why[row.seq], score, _Parts(fused.contributions, place)))
        for place, (row, score) in enumerate(zip(fused.rows, fused.scores.tolist(), strict=True))
    ]
    if recipe.satf and ranked:
        with timed(timings, "satf"):
            ranked = _anchored(ranked, recipe)
    left_below: list[Dropped] = []
    if recipe.tree and request.nodes and ranked:
        with timed(timings, "tree"):
            ranked, left_below = _climbed(store, gathered, ranked, request)
    if recipe.expand and ranked:
        with timed(timings, "expand"):
            seqs = {row.id: row.seq for row in fused.rows}
            ranked = expand(gathered.search, ranked, seqs, recipe.expand)
        brought = {one.id for one in ranked}  # also leaves that were left below
        left_below = [one for one in left_below if one.id not in brought]
    outdated: list[Dropped] = []
    if recipe.facts:
        with timed(timings, "facts"):
            ranked, outdated = show_facts(
                store,
                ranked,
                lambda: _moment(request, gathered.plan, store.info.zone),
                request.half_lives,
                request.min_confidence,
                _beside_turns(request.where),
            )
    with timed(timings, "gate"):
        ranked, unhelpful, said = _gated(ranked, gathered, request)
    kept, beyond, left = select(store, ranked, request, timings)
    return Recall(
        query=request.query,
        memories=tuple(_ordered(kept, request)),
        tokens=tokens_of(kept),
        dropped=(
            *left_below,
            *outdated,
            *unhelpful,
            *(Dropped(memory.id, BEYOND, memory.score) for memory in beyond),
            *(Dropped(memory.id, NO_ROOM, memory.score) for memory in left),
        ),
        trace={
            "recipe": recipe.name,
            "plan": _told(gathered.plan),
            "stages_ms": timings,
            "vectors": gathered.search.way,
            "found": {name: len(ranking) for name, ranking in gathered.found.items()},
            "candidates": len(fused.rows),
            "kept": len(kept),
            "answerable": fused.answerable,
            "notes": [
                *(f"read {word!r} as {name}" for word, name in gathered.plan.read_as),
                *(note for note in (gathered.plan.note, said) if note),
            ],
        },
    )


def _climbed(
    store: Store, gathered: Gathered, ranked: list[Recalled], request: Request
) -> tuple[list[Recalled], list[Dropped]]:
    """Hierarchical recall, where a node can pass the filters: it has no metadata and no network of its own."""
    if request.where.metadata or request.where.networks is not None:
        return ranked, []
    return climb(
        store, gathered.vector, ranked, gathered.plan.question.complexity, request.where, request.recipe
    )


def _gated(
    ranked: Sequence[Recalled], gathered: Gathered, request: Request
) -> tuple[list[Recalled], list[Dropped], str]:
    """Recall-time forgetting, by the model where one is given, else by the rule; and why the model did not decide."""
    said = ""
    if request.llm is not None and request.recipe.gate != "none":
        judged = gate_by_llm(request.llm, request.query, ranked, gathered.plan.question.complexity)
        if not isinstance(judged, str):
            return *judged, ""
        said = judged
    known = _known(gathered) if request.recipe.gate != "none" else None
    return *gate(ranked, gathered.plan.question.complexity, request.recipe.gate, known), said


def _known(gathered: Gathered) -> GateInputs:
    """What the gate reads of the candidates."""
    pool = gathered.pool
    if pool is None:
        return GateInputs()
    ids, found = [row.id for row in pool.rows], pool.found
    return GateInputs(
        {} if found.vectors is None else dict(zip(ids, found.vectors, strict=True)),
        dict(zip(ids, found.own.counts > 0, strict=True)),
        pool.idf,
    )


def _told(asked: Plan) -> dict[str, Any]:
    return {
        "about": sorted(asked.people),
        "complexity": asked.question.complexity,
        "cues": list(asked.question.cues),
        "keywords": list(asked.keywords),
        "time": asked.question.time.interval if asked.question.time else None,
    }


def _anchored(ranked: Sequence[Recalled], recipe: Recipe) -> list[Recalled]:
    """SATF over the fused order."""
    days = np.array([one.said_at.timestamp() / 86_400 for one in ranked])
    numbers = {name.removeprefix("satf_"): getattr(recipe, name) for name in SATF_NUMBERS}
    found = satf(days, **{name: value for name, value in numbers.items() if value is not None})
    if not found.active:
        return list(ranked)
    order = np.argsort(-found.scores, kind="stable")
    best = float(found.scores[order[0]])
    return [
        replace(
            ranked[place],
            score=float(found.scores[place]) / best,
            why=replace(ranked[place].why, affinity=float(found.affinity[place])),
        )
        for place in order
    ]


def _moment(request: Request, asked: Plan, zone: str) -> FactScope:
    """The moment that was asked for; else the past that the question speaks of; else the moment of asking."""
    if request.moment is not None:
        return request.moment
    at = request.asked_at
    return FactScope(at, asked.question.past_asked(at), request.where.known_at, zone)


def _beside_turns(where: Filter) -> frozenset[str] | None:
    """The kinds that a turn may bring: no facts under a filter by metadata or network, which each must pass itself.

    A turn passes by its own; what has become of the fact that it told may have been told elsewhere.
    """
    if not where.metadata and where.networks is None:
        return where.kinds
    return frozenset(KINDS if where.kinds is None else where.kinds) - {"fact"}


class _Parts(Mapping[str, float]):
    """The parts of a fused score, computed when they are asked for: most memories are never asked why."""

    __slots__ = ("_contributions", "_place")

    def __init__(self, contributions: Mapping[str, NDArray[np.float32]], place: int) -> None:
        self._contributions = contributions
        self._place = place

    def __getitem__(self, name: str) -> float:
        return round(float(self._contributions[name][self._place]), 4)

    def __iter__(self) -> Iterator[str]:
        return (name for name, values in self._contributions.items() if values[self._place])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


def _ordered(memories: list[Recalled], request: Request) -> list[Recalled]:
    if request.order == "relevance":
        return memories
    if request.order == "level":
        at = request.asked_at
        return sorted(
            memories, key=lambda memory: (max(memory.level, 1), abs(at - _ended(memory)), memory.id)
        )
    return sorted(memories, key=lambda memory: (memory.said_at, memory.id))


def _ended(memory: Recalled) -> datetime:
    """When a memory ends: a node with its interval, what was said when it was said."""
    end = memory.occurred.end if memory.level and memory.occurred is not None else None
    return end or memory.said_at
