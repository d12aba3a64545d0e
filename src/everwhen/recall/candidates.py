"""The candidates of a question: what is asked, the search channels, and all that is known of what they find.

TEMPR, SATF and TiMem are systems of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import UsageError
from everwhen.facts.shown_facts import FactScope
from everwhen.models.comparison import (
    Candidate,
    Reader,
    Reranker,
    RerankQuery,
    Scores,
    compare_codes,
    open_reranker,
)
from everwhen.models.embedder import Embedder, gives_tokens
from everwhen.models.llm.base import LLM
from everwhen.recall.names import DescribedNames, KnownNames, Plan, corrected, plan
from everwhen.recall.temporal_channel import POOL, temporal
from everwhen.settings import MAX_TOKENS
from everwhen.store.index import K1, B
from everwhen.store.rows import (
    AsOf,
    Evidence,
    Filter,
    SaidBy,
    Scored,
    Search,
    SearchQuery,
    Turns,
    Voices,
    Wanted,
)
from everwhen.store.sql.store import Store
from everwhen.types import HalfLives, Recalled, UnitRow, Why
from everwhen.types.recall import MID, Recipe
from everwhen.types.turns import SUMMARY

Array = NDArray[np.float32]
Found: TypeAlias = dict[str, list[Scored]]
ORDERS = ("relevance", "time", "level")


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
    top_k: int | None = None
    """Memories at the most; None is all that fit."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise UsageError("the query is empty; ask for something, such as 'where does Ana live'")
        if self.seek is not None and not self.seek.strip():
            raise UsageError("the words to look for are empty; give some, or leave them out")
        if self.max_tokens < 0:
            raise UsageError(f"max_tokens cannot be negative, got {self.max_tokens}")
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k must be at least 1, got {self.top_k}; leave it out for all that fit")
        if self.order not in ORDERS:
            raise UsageError(f"unknown order '{self.order}'; use one of {', '.join(ORDERS)}")

    @property
    def asked_at(self) -> datetime:
        """The moment of asking."""
        return self.at or datetime.now(UTC)


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Add a stage to the timings, in milliseconds."""
    start = perf_counter()
    yield
    timings[stage] = (perf_counter() - start) * 1000


HEAD, TAIL = 3_000, 1_000
"""Characters of a long question that take part: its time grows with each word, and the embedder reads a few hundred."""


@dataclass(frozen=True, slots=True)
class Query:
    """The vector of a question, and those of its words if the embedder gives them."""

    vector: Array
    tokens: Array | None = None
    words: tuple[str, ...] = ()
    """The word that each token is of."""


def shortened(words: str) -> str:
    """The part of a question that is searched: all of it or, if it is very long, its beginning and its end."""
    if len(words) <= HEAD + TAIL:
        return words
    words = words.strip()
    return f"{words[:HEAD]} {words[-TAIL:]}"


def embed(embedder: Embedder, plan: Plan) -> Query:
    """Embed a question in one run; of a long one, its first piece."""
    if gives_tokens(embedder):
        vectors, tokens, words = embedder.embed_question(plan.query)
        return Query(vectors[0], tokens, tuple(words))
    return Query(embedder.embed([embedder.pieces(plan.query)[0]])[0])


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """Late interaction before it is summed up: for each candidate (row) the best match of each word of the question."""

    best: Array
    compared: Array
    """The learned comparison's score of each candidate."""
    telling: Array
    """How telling each word is; 0 for a stop word."""
    named: NDArray[np.bool_]
    """Which words are the name of somebody whom the question is about."""


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """The candidates of a question with everything that is known about them, in one order."""

    plan: Plan
    found: Evidence
    who: SaidBy | None
    """Whose turns would tell, where the question says so."""
    has_assistant: bool
    matches: TokenMatches | None = None
    rerank: Scores | None = None
    """A cross-encoder's scores, or those of a caller's own reranker."""

    def __len__(self) -> int:
        return len(self.found)

    @property
    def rows(self) -> Sequence[UnitRow]:
        return self.found.rows

    @property
    def idf(self) -> Array:
        """How rare each of the question's terms is in this memory; 0 for the names of those it is about."""
        terms = self.found.terms
        return np.where(terms.names, 0, terms.idf).astype(np.float32)

    def bm25(self, turns: Turns) -> Array:
        """The BM25 of some turns, without the names."""
        return bm25(turns.counts, turns.lengths, self.found.terms.mean_length, self.idf)


@dataclass(frozen=True, slots=True)
class ReaderScores:
    """The reader's result: the places of the candidates it read, and for each the logit that it answers the
    question."""

    places: NDArray[np.int64]
    logits: Array

    def added(self, fused: Array, worth: float) -> Array:
        """What is added to each fused score: `worth` times the logit if a candidate was read; the others stay behind
        those."""
        gained = np.zeros(len(fused), np.float32)
        gained[self.places] = np.float32(worth) * self.logits
        rest = np.delete(np.arange(len(fused)), self.places)
        if len(rest):
            lowest = float((fused + gained)[self.places].min())
            gained[rest] = min(0.0, lowest - float(fused[rest].max()))
        return gained


def bm25(counts: Array, lengths: Array, mean_length: float, weights: Array) -> Array:
    """BM25 from given term counts (one row each) and idf values."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-6))
    parts = counts * (K1 + 1.0) / (counts + norm[:, None])
    # Not `@`: OpenBLAS's product of a narrow matrix with a vector raises the flag of an invalid number now and then,
    # for finite numbers and with a right result, and NumPy passes that on as a warning.
    return np.asarray(np.einsum("rt,t->r", parts, weights), dtype=np.float32)


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
        from everwhen.recall.papers.graph import graph

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


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that was found for a question, before anything is selected."""

    plan: Plan
    search: Search
    found: Found
    pool: CandidatePool | None
    """The candidates; None where there are none."""
    vector: Array
    """Of the question."""


def gather(
    store: Store, embedder: Embedder, request: Request, timings: dict[str, float], *, latest: bool = False
) -> Gathered:
    """The candidates of a question with everything known about them.

    It is planned with the voices last known, and once more with the `latest` where those have changed.
    """
    recipe = request.recipe
    with timed(timings, "plan"):
        voices = store.voices(latest=latest or request.seek is not None)
        asked = _planned(store, voices, request, request.query)
        if request.llm is not None and (recipe.needs_complexity or recipe.time_by_llm):
            from everwhen.recall.papers.llm_judge import plan_by_llm

            at, zone = request.asked_at, store.info.zone
            asked = plan_by_llm(
                request.llm, asked, at, zone, names=voices.names, reads_time=recipe.time_by_llm
            )
    with timed(timings, "embed"):
        query = embed(embedder, asked)
    # TiMem's eq. 7: words are compared by the planner's keywords alone.
    words = " ".join(asked.keywords) if recipe.fusion == "lambda" else ""
    search = store.search(SearchQuery(query.vector, words or asked.query, request.where))
    has_assistant = "assistant" in voices.roles
    who = asked.whose(has_assistant) if recipe.speaker else None
    if request.seek is None:
        found, took = find(asked, search, who, request.where, recipe)
    else:
        found, took = _sought(store, voices, embedder, request, request.seek)
    if search.voices_changed:
        return gather(store, embedder, request, timings, latest=True)
    timings |= took
    # Late interaction is a feature of the fitted sum; a cross-encoder also orders what RRF has found, as in TEMPR.
    reranks = recipe.rerank and (
        recipe.fusion == "linear" or (recipe.fusion == "rrf" and request.reranker.name != "maxsim")
    )
    by_tokens = reranks and request.reranker.name == "maxsim" and query.tokens is not None
    with timed(timings, "evidence"):
        evidence = search.evidence(
            {unit for ranking in found.values() for unit, _ in ranking},
            who=who,
            people=asked.people,
            tokens=query.words if by_tokens else (),
            sessions=has_assistant and recipe.fusion == "linear" and recipe.context,
            vectors=recipe.gate != "none" or (recipe.fusion == "linear" and not has_assistant),
            codes=by_tokens,
        )
    evidence = _current(store, evidence, request.where)
    pool = CandidatePool(asked, evidence, who, has_assistant) if len(evidence) else None
    if pool is not None and reranks:
        with timed(timings, "rerank"):
            pool = _compared(query, pool, request.reranker)
    return Gathered(asked, search, found, pool, query.vector)


def _current(store: Store, evidence: Evidence, where: Filter) -> Evidence:
    """Without the plans of which a later version had been said by the time that is asked about."""
    units = [row.seq for row in evidence.rows if row.kind == "event"]
    if not units:
        return evidence
    events = store.graph.events_told((), units, _then(where))
    replaced = {event.id for event in events if event.superseded_at is not None}
    return evidence.only({row.seq for row in evidence.rows if row.id not in replaced})


def _then(where: Filter) -> AsOf:
    """What may be seen: what had been said by the end of the window, and was known then."""
    said = where.between.end if where.between else None
    return AsOf(None if said is None else said - timedelta(microseconds=1), where.known_at)


def _planned(store: Store, voices: Voices, request: Request, words: str) -> Plan:
    """The question taken apart, its names as this memory spells them, and with those of whom it describes."""
    names = _known_names(voices.speakers, voices.names)
    query, read = corrected(shortened(words), names, lambda word: _is_said(store, word))
    reader, where = request.reader if request.recipe.read else None, request.where
    if not (where.metadata or where.networks or (where.between and where.between.start)):
        # Under a filter no name comes from what it leaves out.
        query, more = DescribedNames(store, reader, request.asked_at, _then(where)).put_in(query)
        read |= more
    return replace(
        plan(query, request.asked_at, store.info.zone, voices.speakers, voices.names),
        read_as=tuple(read.items()),
    )


def _is_said(store: Store, word: str) -> bool:
    """Whether a word stands in any turn."""
    search = store.search(SearchQuery(words=word, where=Filter(kinds=frozenset({"turn"}))))
    return any(search.candidates(Wanted(1)).words)


@lru_cache(maxsize=8)
def _known_names(speakers: frozenset[str], entities: frozenset[str]) -> KnownNames:
    """The names of a bank, ready to be compared; a bank's sets are the same objects until a name changes."""
    return KnownNames(speakers | entities)


def _sought(
    store: Store, voices: Voices, embedder: Embedder, request: Request, words: str
) -> tuple[Found, dict[str, float]]:
    """What other words than the question's find."""
    asked = _planned(store, voices, request, words)
    search = store.search(SearchQuery(embed(embedder, asked).vector, asked.query, request.where))
    who = asked.whose("assistant" in voices.roles) if request.recipe.speaker else None
    return find(asked, search, who, request.where, request.recipe)


def _compared(query: Query, pool: CandidatePool, reranker: Reranker) -> CandidatePool:
    """The candidates with what a word by word comparison says of them."""
    if reranker.name == "maxsim":
        if query.tokens is None or not len(query.tokens) or pool.found.codes is None:
            return pool
        best, compared = compare_codes(query.tokens, pool.found.codes.tolist())
        if np.isnan(best).all():
            return pool
        named = {word.casefold() for person in pool.plan.people for word in person.split()}
        is_name = np.array([word in named for word in query.words], np.bool_)
        return replace(pool, matches=TokenMatches(best, compared, pool.found.terms.telling, is_name))
    scores = reranker.score(
        RerankQuery(pool.plan.query, query.tokens),
        [Candidate(row.text, row.said_at, row.zone, row.speaker) for row in pool.rows],
    )
    return replace(pool, rerank=scores or None)


def recalled(row: UnitRow, score: float, why: Why) -> Recalled:
    """A stored unit as it is given back."""
    return Recalled(
        row.id,
        row.kind,
        row.text,
        row.said_at,
        row.zone,
        row.turns,
        row.session,
        row.speaker or (SUMMARY if row.kind == "node" else ""),
        score,
        why,
        row.tokens,
        row.occurred,
        row.metadata,
        row.level,
    )
