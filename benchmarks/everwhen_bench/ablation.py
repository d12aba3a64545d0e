"""What each part of a recall is worth: the same questions, of the same open bank, with one part changed at a time.

Weights are not fitted again: a feature of a stage that is off is 0, and the others keep what they weigh. So a row says
what the shipped engine loses without the part, not how well an engine made without it could do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from everwhen.api.memory import Memory
from everwhen.recall.papers.satf import Sigma, satf
from everwhen.types import Recall, Recalled
from everwhen.types.recall import FOUR_WAY, MID, Recipe
from everwhen_bench import metrics
from everwhen_bench.metrics import Ranking
from everwhen_bench.retrieval import EVERYTHING, RANKS, Scored, figure, given, within
from everwhen_time import constraint

DEFAULT, FUSED = "default", "facts stage off"
RRF, RRF_FUSED = "rrf k=10", "rrf, facts stage off"
FIGURES = (("turn", "recall@10"), ("turn", "ndcg@10"), ("session", "ndcg@10"), ("session", "all@5"))
GAMMAS = tuple(step / 10 for step in range(8))
WORKERS = 2
TOKENS = (128, 256, 512, 1024, 2048, 4096)
"""Budgets of the plot of recall against tokens."""

Score = Callable[[Sequence[str]], Scored]
"""A question's evidence held against single turns in rank order."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row: a recipe, and what else is asked otherwise."""

    name: str
    recipe: Recipe
    needs_extraction: bool = False
    """It changes nothing in a bank from which nothing was extracted."""
    kinds: tuple[str, ...] | None = None
    within: bool = False
    """Only what was said in the time that the question names."""
    needs_time: bool = False
    """It changes nothing where the question names no time."""


SIGMAS: Mapping[str, Sigma] = {"satf sigma=15": 15.0, "satf adaptive": "adaptive"}
_RRF = replace(MID, name="rrf", fusion="rrf", rrf_k=10)
VARIANTS = (
    Variant("semantic off", MID.without("semantic")),
    Variant("keyword off", MID.without("keyword")),
    Variant("graph on", FOUR_WAY, needs_extraction=True),
    Variant("temporal off", MID.without("temporal"), needs_time=True),
    Variant("rerank off", MID.without("rerank")),
    Variant("reader off", MID.without("read")),
    Variant("context off", MID.without("context")),
    Variant("speaker off", MID.without("speaker")),
    Variant("latest off", MID.without("latest")),
    Variant(FUSED, MID.without("facts")),
    Variant("turns only", MID.without("facts"), needs_extraction=True, kinds=("turn",)),
    Variant("expand=1", replace(MID, name="expand=1", expand=1)),
    Variant("time filter", MID, within=True, needs_time=True),
    Variant(RRF, _RRF),
    Variant("rrf k=60", replace(_RRF, rrf_k=60)),
    Variant(RRF_FUSED, _RRF.without("facts")),
    Variant("rrf + time filter", _RRF, within=True, needs_time=True),
    Variant("semantic alone", replace(_RRF, name="semantic", channels=("semantic",))),
    Variant("keyword alone", replace(_RRF, name="keyword", channels=("keyword",))),
)
DATED = (Variant("dates embedded", MID), Variant("rrf + dates embedded", _RRF))
"""Asked of a bank of their own, in whose embedded texts the dates are written."""
RIVALS = {
    "satf sigma=15": FUSED,
    "satf adaptive": FUSED,
    "time filter": DEFAULT,
    "dates embedded": DEFAULT,
    "rrf + satf sigma=15": RRF_FUSED,
    "rrf + satf adaptive": RRF_FUSED,
    "rrf + time filter": RRF,
    "rrf + dates embedded": RRF,
}
"""SATF and its two rivals, each beside the order that it started from."""


@dataclass(slots=True)
class Ablation:
    """Asks, and keeps what each variant brought."""

    extracted: bool
    scored: dict[str, list[Scored]] = field(default_factory=dict)
    confidence: dict[str, list[float]] = field(default_factory=dict)
    """What SATF's gate compares with gamma, by row and question."""
    tokens: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    with_time: int = 0
    """Questions that name a time."""

    def ask(
        self,
        memory: Memory,
        question: str,
        at: datetime | None,
        said: Mapping[str, str],
        score: Score,
        default: Recall,
    ) -> None:
        """One question, once for each variant; `default` is what the default recipe brought, uncut."""
        asked = constraint(question, at, memory.zone) if at else None
        window = asked.interval if asked else None
        self.with_time += window is not None
        chosen = [one for one in VARIANTS if self.extracted or not one.needs_extraction]
        idle = [one for one in chosen if one.needs_time and window is None]

        def found_by(variant: Variant) -> Recall:
            return memory.recall(
                question, at=at, max_tokens=EVERYTHING, recipe=variant.recipe, kinds=variant.kinds,
                between=window if variant.within else None,
            )  # fmt: skip

        active = [one for one in chosen if one not in idle]
        with ThreadPoolExecutor(WORKERS) as workers:
            recalls = list(workers.map(found_by, active))
        brought = {DEFAULT: default} | {one.name: found for one, found in zip(active, recalls, strict=True)}
        brought |= {one.name: brought[RRF if one.recipe.fusion == "rrf" else DEFAULT] for one in idle}
        for name in (DEFAULT, *(one.name for one in chosen)):
            self._keep(name, brought[name].memories, score)
        for name in (DEFAULT, RRF):
            self._spend(name, brought[name], said, score)
        for start, prefix in ((FUSED, ""), (RRF_FUSED, "rrf + ")):
            self._anchor(prefix, brought[start].memories, score)

    def ask_dated(self, memory: Memory, question: str, at: datetime | None, score: Score) -> None:
        """The same of the bank with dates in the embedded texts; in the same order of questions."""
        for variant in DATED:
            found = memory.recall(question, at=at, max_tokens=EVERYTHING, recipe=variant.recipe)
            self._keep(variant.name, found.memories, score)

    def table(self) -> dict[str, Any]:
        """The rows with their differences to the default, and what SATF does."""
        base = self.scored.get(DEFAULT, [])
        if not base:
            return {}
        return {
            "questions": len(base),
            "extracted": self.extracted,
            "rows": {name: compared(rows, base) for name, rows in self.scored.items()},
            "satf": {
                "questions_with_a_time": self.with_time,
                "gate": self._gates(),
                "against": {
                    name: compared(self.scored[name], self.scored[other]) | {"without": other}
                    for name, other in RIVALS.items()
                    if name in self.scored
                },
            },
            "tokens": {
                name: {budget: figure(metrics.mean(values)) for budget, values in by_budget.items()}
                for name, by_budget in self.tokens.items()
            },
        }

    def _keep(self, name: str, memories: Sequence[Recalled], score: Score) -> None:
        turns = metrics.unique(turn for one in memories for turn in one.turns)
        self.scored.setdefault(name, []).append(score([str(turn) for turn in turns[:RANKS]]))

    def _spend(self, name: str, found: Recall, said: Mapping[str, str], score: Score) -> None:
        """How much of the evidence is given inside each budget: what `recall` would fill into it."""
        by_budget = self.tokens.setdefault(name, {str(budget): [] for budget in TOKENS})
        for budget in TOKENS:
            answer = within(found, budget)
            ranking = score(given(answer, answer.as_context(cut=0, dates=False), said)).turn
            if ranking:
                by_budget[str(budget)].append(
                    metrics.recall_at(ranking.ranked, ranking.gold, max(1, len(ranking.ranked)))
                )

    def _anchor(self, prefix: str, fused: Sequence[Recalled], score: Score) -> None:
        for name, sigma in SIGMAS.items():
            ordered, confidence = anchored(fused, sigma)
            self._keep(prefix + name, ordered, score)
            self.confidence.setdefault(prefix + name, []).append(confidence)

    def _gates(self) -> dict[str, Any]:
        """For each gamma how often SATF acts, and what comes of it: where it does not, the order stays as it was."""
        out: dict[str, Any] = {}
        for name, confidence in self.confidence.items():
            acted, base = self.scored[name], self.scored[RIVALS[name]]
            for gamma in GAMMAS:
                rows = [
                    on if sure >= gamma else off
                    for sure, on, off in zip(confidence, acted, base, strict=True)
                ]
                active = sum(sure >= gamma for sure in confidence) / len(confidence)
                out.setdefault(name, {})[f"{gamma:.1f}"] = {"active": figure(active)} | {
                    key: row["value"] for key, row in compared(rows, base)["figures"].items()
                }
        return out


def anchored(fused: Sequence[Recalled], sigma: Sigma) -> tuple[list[Recalled], float]:
    """SATF over a fused order, as the recipe with `satf=True` applies it, and what its gate would look at."""
    found = satf(np.array([one.said_at.timestamp() / 86_400 for one in fused]), sigma=sigma)
    order = np.argsort(-found.scores, kind="stable")
    return [fused[place] for place in order], found.confidence


def compared(rows: Sequence[Scored], base: Sequence[Scored]) -> dict[str, Any]:
    """The figures of a row and their paired differences to another, over all questions and by group."""
    groups = sorted({one.group for one in base})
    return {
        "figures": _figures(rows, base),
        "by_group": {
            group: _figures(
                [one for one in rows if one.group == group], [one for one in base if one.group == group]
            )
            for group in groups
        },
    }


def _figures(rows: Sequence[Scored], base: Sequence[Scored]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for level, key in FIGURES:
        values = metrics.scores(_rankings(rows, level), key)
        differences = [
            a - b for a, b in zip(values, metrics.scores(_rankings(base, level), key), strict=True)
        ]
        if values:
            out[f"{level} {key}"] = {
                "value": figure(metrics.mean(values)),
                "difference": figure(metrics.mean(differences)),
                "interval_95": [figure(side) for side in metrics.paired_bootstrap(differences)],
            }
    return out


def _rankings(rows: Sequence[Scored], level: str) -> list[Ranking]:
    return [ranking for one in rows if (ranking := one.turn if level == "turn" else one.session)]
