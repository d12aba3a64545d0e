"""TiMem's gate (recall-time forgetting, eq. 10): drops memories that will hardly help to answer, and says why.

Source: the third of the five documents (docs/five-documents.md). Recipe: `gate`, as in `TIMEM`. What it is worth:
docs/tree.md, measured by `benchmarks/everwhen_bench/studies/tree.py`. The rule estimates the probability that a
memory is part of the answer from its score among the others; the threshold depends on the complexity of the question.
Repetitions (the same words again, or a node whose turns are all there) are dropped first. With an LLM, the model
decides instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.candidates import Gathered, Request
from everwhen.types import Dropped, Recalled
from everwhen.types.recall import Complexity, Gating

FITTED = Path(__file__).with_name("gate.json")
LEAST = 3
"""Memories that always stay (TiMem keeps 3 to 8 for a simple question)."""
SAME = 0.97
"""The cosine from which two memories say the same."""
NEWS = 0.2
"""The share of the question's telling words from which a memory stays that is the first to have them."""
MOST_RATED = 100
"""Memories whose chance is worked out one by one: below, it is next to nothing."""

MOST: Mapping[str, int] = {"simple": 8, "hybrid": 20, "complex": 30}
"""What a strict gate keeps at most: 8 are TiMem's, and a harder question needs more."""


@dataclass(frozen=True, slots=True)
class GateInputs:
    """What the gate needs of memories besides their scores, by id: vectors, and which of the question's words they
    contain."""

    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    words: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    telling: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """How telling each of the question's words is; 0 for a name."""


def gated(
    ranked: Sequence[Recalled], gathered: Gathered, request: Request
) -> tuple[list[Recalled], list[Dropped], str]:
    """By the model where one is given, else by the rule; and why the model did not decide."""
    complexity, note = gathered.plan.question.complexity, ""
    if request.llm is not None:
        from everwhen.recall.papers.llm_judge import gate_by_llm

        judged = gate_by_llm(request.llm, request.query, ranked, complexity)
        if not isinstance(judged, str):
            return *judged, ""
        note = judged
    inputs = GateInputs()
    if gathered.pool is not None:
        ids, found = [row.id for row in gathered.pool.rows], gathered.pool.found
        inputs = GateInputs(
            {} if found.vectors is None else dict(zip(ids, found.vectors, strict=True)),
            dict(zip(ids, found.own.counts > 0, strict=True)),
            gathered.pool.idf,
        )
    return *gate(ranked, complexity, request.recipe.gate, inputs), note


def gate(
    ranked: Sequence[Recalled], complexity: Complexity, how: Gating, known: GateInputs | None = None
) -> tuple[list[Recalled], list[Dropped]]:
    """Those that help, in their order, and the others with the reason.

    A memory is dropped when it repeats a better one, or when its chance of helping is less than the floor for the
    question's complexity and it brings none of the question's words for the first time. `careful` has the highest
    floors that cost no evidence at 512 and 1,024 tokens, `strict` those that leave about as many as TiMem keeps.
    """
    if how == "none" or not ranked:
        return list(ranked), []
    known = known or GateInputs()
    floor = fitted()[complexity][how]
    most = MOST[complexity] if how == "strict" else len(ranked)
    chances = chance(logs(ranked), complexity)
    kept: list[Recalled] = []
    dropped: list[Dropped] = []
    covered = np.zeros(len(known.telling), np.bool_)
    turns: set[str] = set()
    for place, one in enumerate(ranked):
        reason = _repeats(one, kept, turns, known)
        if reason is None and place >= LEAST and chances[place] < floor and not _news(one, covered, known):
            reason = f"hardly helps: a chance of {chances[place]:.2g}"
        if reason is None and len(kept) >= most:
            reason = f"{most} better ones are here"
        if reason is not None and len(kept) + len(ranked) - place > LEAST:
            dropped.append(Dropped(one.id, reason, one.score))
            continue
        kept.append(one)
        covered |= known.words.get(one.id, False)
        if one.kind == "turn":
            turns.update(one.turns)
    return kept, dropped


def chance(gaps: NDArray[np.float64], complexity: Complexity) -> NDArray[np.float64]:
    """How likely each memory is part of the answer: a logistic of where its score stands.

    `z_i` is the log of its score over the best one's, in descending order. The signs are `z_i`, `log(1 + rank)`, the
    log of its share of the whole, `log softmax(z)_i`, and how evenly all is spread, the entropy of that softmax.
    """
    fit = fitted()[complexity]
    weights = np.array([fit[name] for name in ("gap", "rank", "share", "spread")])
    found = 1.0 / (1.0 + np.exp(-(readings(gaps) @ weights + fit["constant"])))
    return np.minimum.accumulate(found)  # what stands lower has never a better chance


def logs(ranked: Sequence[Recalled]) -> NDArray[np.float64]:
    """The logarithm of each score, shifted so that the best is 0."""
    scores = np.log(np.maximum([one.score for one in ranked], 1e-12))
    return np.asarray(scores - scores.max(), np.float64)


def readings(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inputs of the probability: a row for each memory, best first."""
    counted = gaps[:MOST_RATED]
    odds = np.exp(counted - counted.max())
    whole = odds.sum()
    softmax = odds / whole
    spread = float(-(softmax * np.log(softmax + 1e-12)).sum())
    shares = gaps - counted.max() - np.log(whole)
    return np.column_stack(
        [
            gaps,
            np.log1p(np.arange(len(gaps))),
            np.maximum(shares, np.log(1e-9)),
            np.full(len(gaps), spread),
        ]
    )


@cache
def fitted() -> Mapping[str, Mapping[str, float]]:
    """The calibration by complexity, read once."""
    read: Mapping[str, Mapping[str, float]] = json.loads(FITTED.read_text("utf-8"))["by_complexity"]
    return read


def _repeats(one: Recalled, kept: Sequence[Recalled], turns: set[str], known: GateInputs) -> str | None:
    # A fact says since when it holds, which its turn does not; a node says nothing that its turns do not.
    if one.kind == "node" and one.turns and turns.issuperset(one.turns):
        return "the turns that it was made of are here"
    own = known.vectors.get(one.id)
    if own is None:
        return None
    for other in kept:
        theirs = known.vectors.get(other.id)
        if theirs is not None and other.kind == one.kind and float(own @ theirs) >= SAME:
            return f"says the same as {other.id}"
    return None


def _news(one: Recalled, covered: NDArray[np.bool_], known: GateInputs) -> bool:
    has = known.words.get(one.id)
    whole = float(known.telling.sum())
    if has is None or whole <= 0:
        return False
    return float(known.telling[has & ~covered].sum()) / whole >= NEWS
