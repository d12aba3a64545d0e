"""The recall pipeline: from a question to the few memories that answer it.

candidates -> features -> fusion (with the reader) -> facts -> budget, with dates: one module each, composed here. What
the source documents describe beside that (SATF, TEMPR, TiMem: docs/five-documents.md) is in `recall/papers/`, and
loaded only where a recipe names it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import EverwhenError, Unavailable, UsageError
from everwhen.facts.shown_facts import FactScope
from everwhen.models.embedder import Embedder
from everwhen.recall.budget import BEYOND, NO_ROOM, select, show_facts
from everwhen.recall.candidates import Gathered, Request, gather, reasons, recalled, timed
from everwhen.recall.fusion import NOTHING, fuse
from everwhen.recall.names import Plan
from everwhen.store.rows import Access, Filter, Search
from everwhen.store.sql.store import Store
from everwhen.types import KINDS, Accessed, Dropped, Recall, Recalled, Why
from everwhen.types.recall import tokens_of

LEADING = 10
"""The best turns that are given their neighbours, where a recipe has `expand`."""
NEIGHBOUR = 0.5
"""What a neighbour is worth of the turn that brought it."""
BATCH = 64
"""Recalls whose counts are written together, in one commit."""
MOST_WAITING = 4096
"""Recalls whose counts wait for a locked bank; of more, the oldest are given up."""


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
        if gathered.pool is None:
            fused = NOTHING
        elif recipe.fusion == "linear":
            fused = fuse(gathered.pool, request, timings)
        else:
            from everwhen.recall.papers.fusion import fuse_by_paper

            fused = fuse_by_paper(gathered, recipe)
    timings["fuse"] -= timings.get("read", 0.0) + timings.get(
        "newer", 0.0
    )  # stages of their own in the trace
    why = reasons(gathered.found)
    ranked = [
        recalled(row, score, Why(*why[row.seq], score, ScoreParts(fused.contributions, place)))
        for place, (row, score) in enumerate(zip(fused.rows, fused.scores.tolist(), strict=True))
    ]
    dropped: list[Dropped] = []
    if ranked and (recipe.satf or recipe.tree):
        ranked, dropped = _as_papers_have_it(store, gathered, ranked, request, timings)
    if recipe.expand and ranked:
        with timed(timings, "expand"):
            seqs = {row.id: row.seq for row in fused.rows}
            ranked = expand(gathered.search, ranked, seqs, recipe.expand)
        brought = {one.id for one in ranked}  # among them leaves that the tree left out
        dropped = [one for one in dropped if one.id not in brought]
    if recipe.facts:
        with timed(timings, "facts"):
            ranked, outdated = show_facts(
                store,
                ranked,
                lambda: _moment(request, gathered.plan, store.info.zone),
                request.half_lives,
                request.min_confidence,
                _kinds_beside_turns(request.where),
            )
        dropped += outdated
    note = ""
    if recipe.gate != "none":
        from everwhen.recall.papers.gate import gated

        with timed(timings, "gate"):
            ranked, unhelpful, note = gated(ranked, gathered, request)
        dropped += unhelpful
    kept, beyond, left = select(store, ranked, request, timings)
    return Recall(
        query=request.query,
        memories=tuple(_ordered(kept, request)),
        tokens=tokens_of(kept),
        dropped=(
            *dropped,
            *(Dropped(memory.id, BEYOND, memory.score) for memory in beyond),
            *(Dropped(memory.id, NO_ROOM, memory.score) for memory in left),
        ),
        trace={
            "recipe": recipe.name,
            "plan": _plan_in_trace(gathered.plan),
            "stages_ms": timings,
            "vectors": gathered.search.way,
            "found": {name: len(ranking) for name, ranking in gathered.found.items()},
            "candidates": len(fused.rows),
            "kept": len(kept),
            "answerable": fused.answerable,
            "notes": [
                *(f"read {word!r} as {name}" for word, name in gathered.plan.read_as),
                *(one for one in (gathered.plan.note, note) if one),
            ],
        },
    )


def _as_papers_have_it(
    store: Store, gathered: Gathered, ranked: list[Recalled], request: Request, timings: dict[str, float]
) -> tuple[list[Recalled], list[Dropped]]:
    """SATF's boost and TiMem's nodes above the best turns, where the recipe has them; and what the tree leaves out."""
    recipe, where = request.recipe, request.where
    left_out: list[Dropped] = []
    if recipe.satf:
        from everwhen.recall.papers.satf import boosted

        with timed(timings, "satf"):
            ranked = boosted(ranked, recipe)
    if recipe.tree and request.nodes:
        from everwhen.recall.papers.hierarchy import climb

        with timed(timings, "tree"):
            # A node has no metadata and no network of its own, so that none can pass such a filter.
            if not where.metadata and where.networks is None:
                scope = gathered.plan.question.complexity
                ranked, left_out = climb(store, gathered.vector, ranked, scope, where, recipe)
    return ranked, left_out


def _plan_in_trace(asked: Plan) -> dict[str, Any]:
    return {
        "about": sorted(asked.people),
        "complexity": asked.question.complexity,
        "cues": list(asked.question.cues),
        "keywords": list(asked.keywords),
        "time": asked.question.time.interval if asked.question.time else None,
    }


def _moment(request: Request, asked: Plan, zone: str) -> FactScope:
    """The moment that was asked for; else the past that the question speaks of; else the moment of asking."""
    if request.moment is not None:
        return request.moment
    at = request.asked_at
    return FactScope(at, asked.question.past_asked(at), request.where.known_at, zone)


def _kinds_beside_turns(where: Filter) -> frozenset[str] | None:
    """The kinds that a turn may bring: no facts under a filter by metadata or network, which each must pass itself.

    A turn passes by its own; what has become of the fact it states may have been said elsewhere.
    """
    if not where.metadata and where.networks is None:
        return where.kinds
    return frozenset(KINDS if where.kinds is None else where.kinds) - {"fact"}


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
                score = memory.score * NEIGHBOUR
                out.append(recalled(row, score, Why(fused=score, beside=memory.id)))
    return out


class ScoreParts(Mapping[str, float]):
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


class Accesses:
    """Counts how often memories of one open bank are recalled: in memory at first, written in batches on a thread.

    Counting never delays a recall. While another process writes, the counts wait; in a bank that cannot be written,
    they are dropped. A process that is killed loses the counts it has not written: usually fewer than `BATCH` recalls.
    Safe to use from several threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._given: list[tuple[datetime, list[str]]] = []
        self._due = BATCH

    @property
    def pending(self) -> int:
        """Recalls that are counted but not written yet."""
        return len(self._given)

    def count(self, memories: Iterable[Recalled]) -> None:
        """Count one recall and the memories it gave back; returns at once."""
        given = datetime.now(UTC), [memory.id for memory in memories]
        with self._lock:
            self._given.append(given)
            if len(self._given) < self._due:
                return
            # When a bank is locked, the next attempt is a batch later, not with the next recall.
            self._due = len(self._given) + BATCH
        with suppress(RuntimeError):  # no thread to be had, such as at the end of the process: close() writes
            threading.Thread(target=self.write, name="everwhen-accesses", daemon=True).start()

    def write(self) -> None:
        """Write pending counts now. Never raises: what cannot be written waits, or is dropped."""
        with self._writing:
            with self._lock:
                given, self._given, self._due = self._given, [], BATCH
            if not given:
                return
            try:
                self._store.count_accesses(len(given), _summed(given))
            except Unavailable:
                self._put_back(given)
            except EverwhenError:
                return  # a bank that is only read

    def most(self, limit: int) -> list[Accessed]:
        """The memories recalled most often, by all processes, most frequent first."""
        if limit < 0:
            raise UsageError(f"limit cannot be negative, got {limit}")
        self.write()
        found = self._store.accesses(limit)
        rows = self._store.units(list(found))
        return [
            Accessed(row.id, row.kind, row.text, row.speaker, row.said_at, row.zone, *found[unit])
            for unit, row in ((unit, rows[unit]) for unit in found if unit in rows)
        ]

    def _put_back(self, given: list[tuple[datetime, list[str]]]) -> None:
        with self._lock:
            self._given = (given + self._given)[-MOST_WAITING:]
            self._due = len(self._given) + BATCH


def _summed(given: Iterable[tuple[datetime, list[str]]]) -> dict[str, Access]:
    """How often each memory was given back, and when last; the notes are in the order of their time."""
    counts: dict[str, Access] = {}
    for at, ids in given:
        for id_ in ids:
            before = counts.get(id_)
            counts[id_] = Access(before.times + 1 if before else 1, at)
    return counts
