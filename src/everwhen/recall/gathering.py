"""Gathers what is known for a question: plan, channels, evidence about the candidates, and the reranker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.rerank import Candidate, Reranker, RerankQuery
from everwhen.models.rerank.learned_maxsim import compare_codes
from everwhen.recall.channels import Found, find
from everwhen.recall.described_names import DescribedNames
from everwhen.recall.features import CandidatePool, TokenMatches
from everwhen.recall.llm_judge import plan_by_llm
from everwhen.recall.plan import Plan, plan
from everwhen.recall.query_embedding import Query, embed, shortened
from everwhen.recall.request import Request
from everwhen.recall.spelling import KnownNames, corrected
from everwhen.recall.stage_times import timed
from everwhen.store.rows import AsOf, Voices
from everwhen.store.search import Evidence, Filter, Search, SearchQuery, Wanted
from everwhen.store.sql.store import Store


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that was found for a question, before anything is selected."""

    plan: Plan
    search: Search
    found: Found
    pool: CandidatePool | None
    """The candidates; None where there are none."""
    vector: NDArray[np.float32]
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
    """Without the plans of which a later version had been told by the time that is asked about."""
    units = [row.seq for row in evidence.rows if row.kind == "event"]
    if not units:
        return evidence
    told = store.graph.events_told((), units, _then(where))
    replaced = {event.id for event in told if event.superseded_at is not None}
    return evidence.only({row.seq for row in evidence.rows if row.id not in replaced})


def _then(where: Filter) -> AsOf:
    """What may be seen: what had been said by the end of the window, and was known then."""
    said = where.between.end if where.between else None
    return AsOf(None if said is None else said - timedelta(microseconds=1), where.known_at)


def _planned(store: Store, voices: Voices, request: Request, words: str) -> Plan:
    """The question taken apart, its names as this memory spells them, and with those of whom it describes."""
    names = _names(voices.speakers, voices.names)
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
def _names(speakers: frozenset[str], entities: frozenset[str]) -> KnownNames:
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
