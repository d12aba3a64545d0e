"""The recall pipeline: from a question to the few memories that answer it.

plan -> channels -> rerank -> fuse -> read -> latest -> satf -> tree -> expand -> facts -> gate -> budget -> dates:
one module each, composed here. The reranker runs before fusion, because its scores are features; the reader reads the
first few candidates after fusion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import UsageError
from everwhen.facts.fact_notes import FactScope
from everwhen.models.embed import Embedder
from everwhen.models.llm.base import LLM
from everwhen.models.reader import Reader
from everwhen.models.rerank import Candidate, Reranker, RerankQuery, open_reranker
from everwhen.models.rerank.learned_maxsim import compare
from everwhen.models.rerank.maxsim import best_matches
from everwhen.models.rerank.token_codes import decode
from everwhen.recall.answerable import answerable
from everwhen.recall.channels import Found, reasons, search
from everwhen.recall.date_annotations import with_dates
from everwhen.recall.fact_stage import show_facts
from everwhen.recall.features import CandidatePool, TokenMatches, features
from everwhen.recall.fuse import linear, rrf, weights
from everwhen.recall.gate import GateInputs, gate
from everwhen.recall.hierarchy import climb, leaf_scores
from everwhen.recall.llm_judge import gate_by_llm, plan_by_llm
from everwhen.recall.neighbour_turns import expand
from everwhen.recall.newer_first import newer_first
from everwhen.recall.plan import Plan, plan
from everwhen.recall.query_embedding import ASKED, Query, embed, shortened
from everwhen.recall.reader_stage import ReaderStage, is_readable, weight
from everwhen.recall.result import recalled
from everwhen.recall.satf import satf
from everwhen.recall.spelling import KnownNames, corrected
from everwhen.recall.token_budget import NO_ROOM, fill
from everwhen.recipes import MID, Recipe
from everwhen.settings import MAX_TOKENS
from everwhen.store import Filter, Store, Then
from everwhen.store.scan import Scan
from everwhen.types import KINDS, Dropped, HalfLives, Recall, Recalled, UnitRow, Why

ORDERS = ("relevance", "time", "level")
REACH = 32
"""Turns on each side of a candidate that its features look at, at least."""
CONTEXT = (
    "bm25_neighbour", "answers", "answers_match", "near_hits", "session_bm25", "session_maxsim", "session_affinity",
)  # fmt: skip
"""The features that a recipe without `context` does without."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question with its constraints."""

    query: str
    max_tokens: int = MAX_TOKENS
    at: datetime | None = None
    where: Filter = field(default_factory=Filter)
    order: str = "relevance"
    recipe: Recipe = MID
    moment: FactScope | None = None
    """Which facts are shown: those that hold then. None is what the question itself says, else now."""
    half_lives: HalfLives = field(default_factory=HalfLives)
    min_confidence: float | None = None
    reranker: Reranker = field(default_factory=lambda: open_reranker("maxsim"))
    reader: Reader | None = None
    """What reads the first candidates; None leaves them as they are."""
    nodes: bool = True
    """Whether nodes of the tree may come along where the recipe has `tree`: not where other kinds were asked for."""
    llm: LLM | None = None
    """A language model that plans and gates where the recipe does so; the rules where there is none, or it fails."""
    seek: str | None = None
    """Other words that look for the candidates, as an agent's search does; the query ranks what they find."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise UsageError("the query is empty; ask for something, such as 'where does Ana live'")
        if self.seek is not None and not self.seek.strip():
            raise UsageError("the words to look for are empty; give some, or leave them out")
        if self.max_tokens < 0:
            raise UsageError(f"max_tokens cannot be negative, got {self.max_tokens}")
        if self.order not in ORDERS:
            raise UsageError(f"unknown order '{self.order}'; use one of {', '.join(ORDERS)}")

    @property
    def asked_at(self) -> datetime:
        """The moment of asking."""
        return self.at or datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Fused:
    """Candidates in the order of their fused score, and what that score is made of."""

    rows: Sequence[UnitRow]
    scores: NDArray[np.float32]
    contributions: Mapping[str, NDArray[np.float32]]
    answerable: float


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that was found for a question, before anything is selected."""

    plan: Plan
    scan: Scan
    found: Found
    pool: CandidatePool | None
    """The candidates; None where there are none."""
    vector: NDArray[np.float32]
    """Of the question."""


def gather(store: Store, embedder: Embedder, request: Request, timings: dict[str, float]) -> Gathered:
    """Plan, channels and reranker: the candidates with everything known about them."""
    recipe = request.recipe
    with _timed(timings, "plan"):
        asked = _planned(store, request.query, request.asked_at)
        if request.llm is not None and recipe.needs_complexity:
            asked = plan_by_llm(request.llm, asked)
    with _timed(timings, "embed"):
        query = embed(embedder, asked)
    scan = store.scan(query.vectors, asked.query, request.where)
    has_assistant = scan.has_role("assistant")
    who = asked.whose(has_assistant) if recipe.speaker else None
    if request.seek is None:
        found, took = search(store, asked, scan, who, request.where, recipe)
    else:
        found, took = _sought(store, embedder, request, request.seek)
    timings |= took
    with _timed(timings, "fetch"):
        # The graph and the temporal channel read the store itself, which another process may have added to.
        held = store.units(
            scan.held(dict.fromkeys(unit for ranking in found.values() for unit, _ in ranking))
        )
    rows = _current(store, list(held.values()), request.where)
    if not rows:
        return Gathered(asked, scan, found, None, query.vectors[ASKED])
    seqs = [row.seq for row in rows]
    with _timed(timings, "around"):
        pool = CandidatePool(
            asked, rows, scan.around(seqs, REACH), scan.vectors_of(seqs), scan.names(asked.people), who,
            scan.ever_said(who), has_assistant,
        )  # fmt: skip
    # Late interaction is a feature of the fitted sum; a cross-encoder also orders what RRF has found, as in TEMPR.
    if recipe.rerank and (
        recipe.fusion == "linear" or (recipe.fusion == "rrf" and request.reranker.name != "maxsim")
    ):
        with _timed(timings, "rerank"):
            pool = _compared(store, scan, query, pool, request.reranker)
    return Gathered(asked, scan, found, pool, query.vectors[ASKED])


def _current(store: Store, rows: list[UnitRow], where: Filter) -> list[UnitRow]:
    """Without the plans of which a later version had been told by the time that is asked about."""
    units = [row.seq for row in rows if row.kind == "event"]
    said = where.between.end if where.between else None
    then = Then(None if said is None else said - timedelta(microseconds=1), where.known_at)
    events = store.graph.events_told((), units, then) if units else []
    replaced = {event.id for event in events if event.superseded_at is not None}
    return [row for row in rows if row.id not in replaced]


def _planned(store: Store, words: str, at: datetime) -> Plan:
    """The question taken apart, its names as this memory spells them."""
    names = _names(store.speakers(), store.graph.names())
    query, read = corrected(
        shortened(words),
        names,
        lambda word: bool(store.search_text(word, 1, Filter(kinds=frozenset({"turn"})))),
    )
    return replace(plan(query, at, store.info.zone, store.speakers()), read_as=tuple(read.items()))


@lru_cache(maxsize=8)
def _names(speakers: frozenset[str], entities: frozenset[str]) -> KnownNames:
    """The names of a bank, ready to be compared; a bank's sets are the same objects until a name changes."""
    return KnownNames(speakers | entities)


def _sought(store: Store, embedder: Embedder, request: Request, words: str) -> tuple[Found, dict[str, float]]:
    """What other words than the question's find."""
    asked = _planned(store, words, request.asked_at)
    query = embed(embedder, asked)
    scan = store.scan(query.vectors, asked.query, request.where)
    who = asked.whose(scan.has_role("assistant")) if request.recipe.speaker else None
    return search(store, asked, scan, who, request.where, request.recipe)


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
    with _timed(timings, "fuse"):
        fused = _fused(store, gathered, request, timings)
    timings["fuse"] -= timings.get("read", 0.0)  # read in between, and told by itself
    why = reasons(gathered.found)
    ranked = [
        recalled(row, score, Why(*why[row.seq], score, _Parts(fused.contributions, place)))
        for place, (row, score) in enumerate(zip(fused.rows, fused.scores.tolist(), strict=True))
    ]
    seqs = {row.id: row.seq for row in fused.rows}
    if recipe.satf and ranked:
        with _timed(timings, "satf"):
            ranked = _anchored(ranked, recipe)
    left_below: list[Dropped] = []
    if recipe.tree and request.nodes and ranked:
        with _timed(timings, "tree"):
            ranked, left_below = _climbed(store, gathered, ranked, request)
    if recipe.expand and ranked:
        with _timed(timings, "expand"):
            ranked = expand(store, gathered.scan, ranked, seqs, recipe.expand)
        brought = {one.id for one in ranked}  # also leaves that were left below
        left_below = [one for one in left_below if one.id not in brought]
    outdated: list[Dropped] = []
    if recipe.facts:
        with _timed(timings, "facts"):
            ranked, outdated = show_facts(
                store,
                ranked,
                lambda: _moment(request, gathered.plan, store.info.zone),
                request.half_lives,
                request.min_confidence,
                _beside_turns(request.where),
            )
    with _timed(timings, "gate"):
        ranked, unhelpful, said = _gated(ranked, gathered, request)
    with _timed(timings, "budget"):
        kept, left, tokens = fill(ranked, request.max_tokens)
    if recipe.dates:
        with _timed(timings, "dates"):
            kept, crowded_out, tokens = _with_dates(store, kept, request.max_tokens)
            left = [*crowded_out, *left]
    return Recall(
        query=request.query,
        memories=tuple(_ordered(kept, request)),
        tokens=tokens,
        dropped=(
            *left_below,
            *outdated,
            *unhelpful,
            *(Dropped(memory.id, NO_ROOM, memory.score) for memory in left),
        ),
        trace={
            "recipe": recipe.name,
            "plan": _told(gathered.plan),
            "stages_ms": timings,
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


def _with_dates(
    store: Store, kept: Sequence[Recalled], max_tokens: int
) -> tuple[list[Recalled], list[Recalled], int]:
    """What is kept with its dates, which take room too; what only they would crowd out stays as it was said."""
    dated = with_dates(store, kept)
    found, crowded_out, tokens = fill(dated, max_tokens)
    if not crowded_out:
        return found, crowded_out, tokens
    without = {one.id for one in crowded_out}
    return fill(
        [plain if plain.id in without else with_date for plain, with_date in zip(kept, dated, strict=True)],
        max_tokens,
    )


def _climbed(
    store: Store, gathered: Gathered, ranked: list[Recalled], request: Request
) -> tuple[list[Recalled], list[Dropped]]:
    """Hierarchical recall, where a node can pass the filters: it has no metadata and no network of its own."""
    if request.where.metadata or request.where.networks is not None:
        return ranked, []
    return climb(store, gathered.vector, ranked, gathered.plan.question.complexity, request.where)


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
    ids, words = [row.id for row in pool.rows], pool.around.counts[pool.around.rows_of] > 0
    return GateInputs(
        dict(zip(ids, pool.vectors, strict=True)),
        dict(zip(ids, words, strict=True)),
        np.where(pool.names, 0, pool.around.idf).astype(np.float32),
    )


def _told(asked: Plan) -> dict[str, Any]:
    return {
        "about": sorted(asked.people),
        "complexity": asked.question.complexity,
        "cues": list(asked.question.cues),
        "keywords": list(asked.keywords),
        "time": asked.question.time.interval if asked.question.time else None,
    }


def _compared(
    store: Store, scan: Scan, query: Query, pool: CandidatePool, reranker: Reranker
) -> CandidatePool:
    """The candidates with what a word by word comparison says of them."""
    seqs = [row.seq for row in pool.rows]
    if reranker.name == "maxsim":
        if query.tokens is None or not len(query.tokens):
            return pool
        codes = store.token_codes(seqs)
        tokens = decode([codes.get(seq, b"") for seq in seqs])
        alike = query.tokens @ tokens[0].T
        best = best_matches(query.tokens, *tokens, alike)
        if np.isnan(best).all():
            return pool
        named = {word.casefold() for person in pool.plan.people for word in person.split()}
        is_name = np.array([word in named for word in query.words], np.bool_)
        compared = compare(query.tokens, *tokens, alike)
        return replace(pool, matches=TokenMatches(best, compared, scan.telling(query.words), is_name))
    scores = reranker.score(
        RerankQuery(pool.plan.query, query.tokens),
        [Candidate(row.text, row.said_at, row.zone, row.speaker) for row in pool.rows],
    )
    return replace(pool, rerank=scores or None)


def _fused(store: Store, gathered: Gathered, request: Request, timings: dict[str, float]) -> _Fused:
    asked, pool = gathered.plan, gathered.pool
    if pool is None:
        return _Fused((), np.zeros(0, np.float32), {}, 0.0)
    if request.recipe.fusion == "rrf":
        rankings = {name: [unit for unit, _ in one] for name, one in gathered.found.items()}
        return _by_ranks(pool, rankings, request.recipe)
    if request.recipe.fusion == "lambda":
        return _by_lambda(pool)

    desk = None
    if request.reader is not None and request.recipe.read and is_readable(pool.plan.query):
        desk = ReaderStage(store, pool, request.reader)
    return _by_weights(pool, request.recipe, asked.question.asks_now(request.asked_at), desk, timings)


def _by_ranks(pool: CandidatePool, rankings: Mapping[str, list[int]], recipe: Recipe) -> _Fused:
    """By reciprocal ranks, or by a cross-encoder's score where there is one; what it cannot compare comes last."""
    fused = rrf(rankings, recipe.rrf_k)
    scores = np.array([fused[row.seq] for row in pool.rows], np.float32)
    order = np.argsort([-fused[row.seq] for row in pool.rows], kind="stable")
    if pool.rerank:  # any scale will do: the place says how good one is, as in `_by_lambda`
        read = np.nan_to_num(next(iter(pool.rerank.values())), nan=-np.inf)
        order = order[np.argsort(-read[order], kind="stable")]
        scores[order] = 1.0 / (1.0 + np.arange(len(order)))
    best = float(pool.around.cosines[pool.around.rows_of].max())
    return _Fused([pool.rows[place] for place in order], scores[order], {}, best)


def _by_lambda(pool: CandidatePool) -> _Fused:
    """TiMem's leaves: by meaning and words. A sum of cosines says little of how much better one is; its rank does."""
    scores = leaf_scores(pool)
    order = np.argsort(-scores, kind="stable")
    shares = (1.0 / (1.0 + np.arange(len(order)))).astype(np.float32)
    return _Fused(
        [pool.rows[place] for place in order],
        shares,
        {"lambda": scores[order].astype(np.float32)},
        float(scores.max()),
    )


def _by_weights(
    pool: CandidatePool, recipe: Recipe, now: bool, desk: ReaderStage | None, timings: dict[str, float]
) -> _Fused:
    """Best first; the score is `exp(s - max s)`, s the fused one: 1 for the best, and shares of it below.

    Where a question asks how things stand (`now`), what replaces an answer comes before it.
    """
    columns = features(pool)
    if not recipe.context:
        columns = {name: values for name, values in columns.items() if name not in CONTEXT}
    contributions = weights("plain" if pool.matches is None else "maxsim").contributions(columns)
    contributions |= {name: columns[name] * np.float32(recipe.rerank_weight) for name in pool.rerank or ()}
    fused = linear(contributions, len(pool))
    read = None
    if desk is not None:
        with _timed(timings, "read"):
            read = desk.first(fused, recipe.read)
    chance = answerable(pool, contributions, fused, read)
    if desk is not None and read is not None:
        contributions["read"] = read.added(fused, weight(pool.has_assistant))
        fused = fused + contributions["read"]
        if recipe.latest and now:
            with _timed(timings, "newer"):
                contributions["newer"] = newer_first(pool, fused, read, desk.renews)
            fused = fused + contributions["newer"]
    scores = np.exp(fused - fused.max())
    order = np.argsort(-scores, kind="stable")
    return _Fused(
        [pool.rows[place] for place in order],
        scores[order],
        {name: values[order] for name, values in contributions.items()},
        chance,
    )


def _anchored(ranked: Sequence[Recalled], recipe: Recipe) -> list[Recalled]:
    """SATF over the fused order."""
    days = np.array([one.said_at.timestamp() / 86_400 for one in ranked])
    found = satf(
        days,
        anchors=recipe.satf_anchors,
        sigma=recipe.satf_sigma,
        alpha=recipe.satf_alpha,
        gamma=recipe.satf_gamma,
    )
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


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = perf_counter()
    yield
    timings[stage] = (perf_counter() - start) * 1000
