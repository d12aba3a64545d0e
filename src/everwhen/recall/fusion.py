"""Fusion: candidates in one order by a fitted sum of their features and what the reader says of the first ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import Passage, Reader
from everwhen.recall.candidates import CandidatePool, ReaderScores, Request, timed
from everwhen.recall.features import features, gates
from everwhen.store.rows import SaidBy
from everwhen.types import UnitRow
from everwhen.write.changes.newer_answers import MAY_ANSWER, newer_first

Array = NDArray[np.float32]

WEIGHTS = Path(__file__).with_name("weights.json")
CONTEXT = ("answers_match", "session", "session_bm25", "session_affinity")
"""The features that a recipe without `context` does without."""
SPEAKER_FEATURES = ("about", "by_user")
"""Features that a sign leaves out of the score: they say who spoke, which is what is asked here."""
SURE = 5.0
"""A logit that leaves no doubt: it makes the reader's sign about as large as the others."""
FIRST = 5
"""The best turns that should have the question's words between them."""


@dataclass(frozen=True, slots=True)
class Fused:
    """Candidates in the order of their fused score, and what that score is made of."""

    rows: Sequence[UnitRow]
    scores: Array
    contributions: Mapping[str, Array]
    answerable: float


NOTHING = Fused((), np.zeros(0, np.float32), {}, 0.0)


def fuse(pool: CandidatePool, request: Request, timings: dict[str, float]) -> Fused:
    """Best first; the score is `exp(s - max s)`, s the fused one: 1 for the best, and shares of it below.

    Where a question asks how things stand, what replaces an answer comes before it.
    """
    recipe, question = request.recipe, pool.plan.question
    columns = features(pool)
    if not recipe.context:
        columns = {name: values for name, values in columns.items() if name not in CONTEXT}
    contributions = weighted(
        columns, fitted()["weights"]["plain" if pool.matches is None else "maxsim"], gates(pool)
    )
    contributions |= {name: columns[name] * np.float32(recipe.rerank_weight) for name in pool.rerank or ()}
    fused = linear(contributions, len(pool))
    reader = request.reader if recipe.read and is_readable(pool.plan.query) else None
    read = None
    if reader is not None:
        with timed(timings, "read"):
            read = read_first(pool, reader, np.argsort(-fused, kind="stable")[: recipe.read])
    chance = answerable(pool, contributions, fused, read)
    if reader is not None and read is not None:
        # An assistant's long turns are not what the reader was trained on: there a logit weighs otherwise.
        worth = fitted()["read"]["assistant" if pool.has_assistant else "people"]
        contributions["read"] = read.added(fused, worth)
        fused = fused + contributions["read"]
        if recipe.latest and question.asks_now(request.asked_at):
            with timed(timings, "newer"):
                said = [(row.said_at, row.seq) if row.kind == "turn" else None for row in pool.rows]
                answers = set(read.places[read.logits >= MAY_ANSWER].tolist())
                by_assistant = pool.found.said_by(SaidBy(role="assistant")) & (not question.second_person)
                contributions["newer"] = newer_first(
                    fused, said, answers, by_assistant, partial(renews, pool, reader)
                )
            fused = fused + contributions["newer"]
    scores = np.exp(fused - fused.max())
    order = np.argsort(-scores, kind="stable")
    return Fused(
        [pool.rows[place] for place in order],
        scores[order],
        {name: values[order] for name, values in contributions.items()},
        chance,
    )


def weighted(
    features: Mapping[str, Array], weights: Mapping[str, Sequence[float]], gates: Mapping[str, float]
) -> dict[str, Array]:
    """`w_f x_f` of every candidate, by feature: the score is their sum, and they are the reason for it.

    A weight is a number, and what each gate adds to it: `w_f = a_f + sum over g of gate_g b_fg`. A feature without a
    weight takes no part.
    """
    open_ = np.array([1.0, *gates.values()])
    return {
        name: features[name] * np.float32(open_ @ np.array(parts))
        for name, parts in weights.items()
        if name in features
    }


def linear(contributions: Mapping[str, Array], count: int) -> Array:
    """The fused score of each candidate: `sum over f of w_f x_f`."""
    return sum(contributions.values(), np.zeros(count, np.float32))


@cache
def fitted() -> Mapping[str, Any]:
    """What `training/fit_fusion.py` fitted: `weights` of the features (`maxsim` where the words were compared, else
    `plain`), `read` (what a logit of the reader weighs beside the fused score), and `answerable` (a weight for each
    sign, and the constant)."""
    held: Mapping[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return held


def read_first(pool: CandidatePool, reader: Reader, places: NDArray[np.int64]) -> ReaderScores:
    """Read the candidates at these places."""
    return ReaderScores(places, reader.relevance(pool.plan.query, passages(pool, places.tolist())))


def renews(pool: CandidatePool, reader: Reader, pairs: Sequence[tuple[int, int]]) -> Array:
    """For places of earlier and later candidates, the logit that the later one replaces the earlier one."""
    said = {
        place: Passage(pool.rows[place].speaker, pool.rows[place].text) for pair in pairs for place in pair
    }
    return reader.renews(pool.plan.query, [(said[early], said[late]) for early, late in pairs])


def is_readable(question: str) -> bool:
    """Whether the reader can read the question: it knows English only."""
    letters = [one for one in question if one.isalpha()]
    return sum(one.isascii() for one in letters) > len(letters) / 2


def passages(pool: CandidatePool, places: Sequence[int]) -> list[Passage]:
    """Some candidates as input of the reader, each with the end of the turn before it."""
    before = pool.found.said_before(places)
    return [
        Passage(pool.rows[place].speaker, pool.rows[place].text, said)
        for place, said in zip(places, before, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class SignInputs:
    """The inputs of the signs, apart from the score, so that fitting can vary the score alone."""

    named: bool
    theirs: NDArray[np.bool_]
    """Which candidates are by those whom the question names."""
    has: NDArray[np.bool_]
    """Which of the question's terms (columns) a candidate has."""
    ever: NDArray[np.bool_]
    telling: Array


def sign_inputs(pool: CandidatePool) -> SignInputs:
    """Collect the inputs of the signs from the candidates."""
    found = pool.found
    theirs = np.ones(len(pool), np.bool_) if pool.who is None else found.said_by(pool.who)
    return SignInputs(bool(pool.plan.people), theirs, found.own.counts > 0, found.terms.said, pool.idf)


def signs(found: SignInputs, score: Array, fused: Array, logits: Array | None = None) -> Array:
    """The four signs of `answerable`; five where the reader was asked. `score` is the fused score without the speaker's
    part, `fused` the whole."""
    odds = np.exp(score - score.max())
    whole = max(float(found.telling.sum()), 1e-6)
    first = found.has[np.argsort(-fused, kind="stable")[:FIRST]].any(axis=0)
    return np.array(
        [
            # how much of the score lies on those whom the question is about
            float(odds[found.theirs].sum() / odds.sum()) - 0.5 if found.named else 0.0,
            # how much of the question's words they ever said
            float(found.telling[found.ever].sum()) / whole,
            # how much of them the first hits have
            float(found.telling[first].sum()) / whole,
            math.log1p(len(found.telling)),
            # how sure the reader is that one of those that it read answers
            *(() if logits is None else (float(np.logaddexp.reduce(logits)) / SURE,)),
        ],
        np.float32,
    )


def answerable(
    pool: CandidatePool, contributions: dict[str, Array], fused: Array, read: ReaderScores | None = None
) -> float:
    """Whether the memory holds an answer at all, from 0 to 1: a logistic of signs, fitted by `training/fit_fusion.py`.

    Some words match for any question. The signs of a real answer are: what the reader says of the best candidates,
    whether the right person said them (the most common trap is what somebody else said), and whether the rarer words
    of the question occur at all.
    """
    speaker = sum((contributions[name] for name in SPEAKER_FEATURES if name in contributions), np.float32(0))
    found = sign_inputs(pool)
    said = signs(found, fused - speaker, fused, None if read is None else read.logits)
    whom = "named" if found.named else "unnamed"
    weights = fitted()["answerable"][whom if read is None else f"{whom}_read"]
    z = weights[-1] + sum(weight * float(sign) for weight, sign in zip(weights[:-1], said, strict=True))
    return 1.0 / (1.0 + math.exp(-z))
