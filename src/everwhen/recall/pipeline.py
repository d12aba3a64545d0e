"""One question, from its words to the few memories that answer it: channels -> fuse -> facts -> budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from everwhen.errors import UsageError
from everwhen.facts.decay import HalfLives
from everwhen.facts.notes import Moment
from everwhen.models.embed import Embedder
from everwhen.recall.budget import fill
from everwhen.recall.channels import keyword, semantic
from everwhen.recall.facts import show_facts
from everwhen.recall.fuse import rrf
from everwhen.recall.plan import past_asked_for
from everwhen.recall.recipe import MID, Recipe
from everwhen.recall.result import Recall
from everwhen.store import Filter, Scored, Store, UnitRow
from everwhen.types import Dropped, Recalled, Why

ORDERS = ("relevance", "time", "level")
LONGEST_QUERY = 20_000
"""Characters of a query that take part; the semantic channel reads the first piece of them."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question with its constraints."""

    query: str
    max_tokens: int = 4096
    at: datetime | None = None
    where: Filter = field(default_factory=Filter)
    order: str = "relevance"
    recipe: Recipe = MID
    moment: Moment | None = None
    """Which facts are shown: those that hold then. None is what the question itself says, else now."""
    half_lives: HalfLives = field(default_factory=HalfLives)
    min_confidence: float | None = None

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise UsageError("the query is empty; ask for something, such as 'where does Ana live'")
        if self.max_tokens < 0:
            raise UsageError(f"max_tokens cannot be negative, got {self.max_tokens}")
        if self.order not in ORDERS:
            raise UsageError(f"unknown order '{self.order}'; use one of {', '.join(ORDERS)}")


def recall(store: Store, embedder: Embedder, request: Request) -> Recall:
    """The memories that answer, best first, inside the token budget, each with the reason for it."""
    timings: dict[str, float] = {}
    recipe, query = request.recipe, request.query[:LONGEST_QUERY]
    found: dict[str, list[Scored]] = {}
    if "semantic" in recipe.channels:
        with _timed(timings, "semantic"):
            found["semantic"] = semantic(
                store, embedder, query, recipe.candidates, request.where, recipe.min_similarity
            )
    if "keyword" in recipe.channels:
        with _timed(timings, "keyword"):
            found["keyword"] = keyword(store, query, recipe.candidates, request.where)
    with _timed(timings, "fuse"):
        fused = rrf({name: [unit for unit, _ in ranking] for name, ranking in found.items()}, recipe.rrf_k)
    with _timed(timings, "fetch"):
        units = store.units(list(fused))
    reasons = _reasons(found)
    ranked = [_recalled(units[unit], reasons[unit], score) for unit, score in fused.items() if unit in units]
    outdated: list[Dropped] = []
    if recipe.facts:
        with _timed(timings, "facts"):
            ranked, outdated = show_facts(
                store,
                ranked,
                lambda: _moment(request, store.info.zone),
                request.half_lives,
                request.min_confidence,
                request.where.kinds,
            )
    with _timed(timings, "budget"):
        kept, left, tokens = fill(ranked, request.max_tokens)
    trace: dict[str, Any] = {
        "recipe": recipe.name,
        "stages_ms": timings,
        "found": {name: len(ranking) for name, ranking in found.items()},
        "candidates": len(fused),
        "kept": len(kept),
    }
    return Recall(
        query=request.query,
        memories=tuple(_ordered(kept, request)),
        tokens=tokens,
        dropped=(
            *outdated,
            *(Dropped(memory.id, "no room in max_tokens", memory.score) for memory in left),
        ),
        trace=trace,
    )


def _moment(request: Request, zone: str) -> Moment:
    """The moment that was asked for; else the past that the question speaks of; else the moment of asking."""
    if request.moment is not None:
        return request.moment
    at = request.at or datetime.now(UTC)
    return Moment(at, past_asked_for(request.query, at, zone), request.where.known_at, zone)


def _reasons(found: dict[str, list[Scored]]) -> dict[int, dict[str, tuple[int, float]]]:
    reasons: dict[int, dict[str, tuple[int, float]]] = {}
    for channel, ranking in found.items():
        for rank, (unit, score) in enumerate(ranking, start=1):
            reasons.setdefault(unit, {})[channel] = (rank, score)
    return reasons


def _recalled(row: UnitRow, reasons: dict[str, tuple[int, float]], fused: float) -> Recalled:
    return Recalled(
        id=row.id,
        kind=row.kind,
        text=row.text,
        said_at=row.said_at,
        zone=row.zone,
        turns=row.turns,
        session=row.session,
        speaker=row.speaker,
        score=fused,
        why=Why(
            ranks={channel: rank for channel, (rank, _) in reasons.items()},
            scores={channel: score for channel, (_, score) in reasons.items()},
            fused=fused,
        ),
        tokens=row.tokens,
        occurred=row.occurred,
        metadata=row.metadata,
    )


def _ordered(memories: list[Recalled], request: Request) -> list[Recalled]:
    if request.order == "relevance":
        return memories
    if request.order == "level" and request.at is not None:
        # Raw turns are all of one level: the closest to the moment of asking come first.
        at = request.at
        return sorted(memories, key=lambda memory: abs((at - memory.said_at).total_seconds()))
    return sorted(memories, key=lambda memory: (memory.said_at, memory.id))


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = perf_counter()
    yield
    timings[stage] = (perf_counter() - start) * 1000
