"""How sensitive is SATF to its five numbers, and does it harm any kind of question?

One recall a question and fusion; every variant re-scores the same fused order. One number is changed at a time, the
others stay the paper's: sigma 15 days, alpha 10, N 30 anchors, gamma 0. A window is sigma as a share of the time that
the memory spans. SATF acts on the order before facts are shown, as in the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from everwhen.recall.papers.satf import Sigma, satf
from everwhen.types import Recalled
from everwhen.types.recall import MID
from everwhen_bench import metrics
from everwhen_bench.cases import Case, cases, opened
from everwhen_bench.retrieval import EVERYTHING, Scored, figure
from everwhen_bench.studies import Request, Result, Table
from everwhen_bench.studies._rows import by_group, differences, table, turns

OFF = "off"
PAPER = "sigma=15 alpha=10 N=30 gamma=0.0"
FUSIONS = {
    "learned fusion": MID.without("facts"),
    "reciprocal ranks": replace(MID, name="rrf", fusion="rrf", rrf_k=10, facts=False),
}
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Numbers:
    """SATF's numbers; with a window sigma is that share of the span."""

    sigma: Sigma = 15.0
    alpha: float = 10.0
    anchors: int = 30
    gamma: float = 0.0
    window: float | None = None


def variants() -> Iterator[tuple[str, Numbers]]:
    """One number at a time."""
    yield PAPER, Numbers()
    for sigma in (1.0, 3.0, 7.0, 30.0, 60.0):
        yield f"sigma={sigma:g}", Numbers(sigma=sigma)
    yield "sigma adaptive", Numbers(sigma="adaptive")
    for window in (0.05, 0.10, 0.20, 0.30, 0.40):
        yield f"window={window:.2f} of the span", Numbers(window=window)
    for alpha in (0.5, 1.0, 2.0, 5.0, 20.0):
        yield f"alpha={alpha:g}", Numbers(alpha=alpha)
    for anchors in (5, 10, 20, 50, 100):
        yield f"N={anchors}", Numbers(anchors=anchors)
    for gamma in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        yield f"gamma={gamma:.1f}", Numbers(gamma=gamma)


VARIANTS = tuple(variants())
SHOWN = (OFF, PAPER, "sigma=3", "sigma adaptive", "window=0.05 of the span", "alpha=1", "gamma=0.5")
"""Rows that are shown by kind of question."""


def run(request: Request) -> Result:
    rows: dict[str, dict[str, list[Scored]]] = {name: {} for name in FUSIONS}
    acted: dict[str, dict[str, list[bool]]] = {name: {} for name in FUSIONS}
    asked = 0
    for case in cases(request.data, request.limit):
        span = _span(case)
        with opened(case) as memory:
            for question in case.questions:
                for fusion, recipe in FUSIONS.items():
                    found = memory.recall(
                        question.text, at=question.at, max_tokens=EVERYTHING, recipe=recipe
                    ).memories
                    rows[fusion].setdefault(OFF, []).append(question.score(turns(found)))
                    for name, numbers in VARIANTS:
                        ordered, active = rescored(found, numbers, span)
                        rows[fusion].setdefault(name, []).append(question.score(turns(ordered)))
                        acted[fusion].setdefault(name, []).append(active)
                asked += 1
                if request.progress:
                    request.progress(asked)
    figures = {fusion: differences(one, OFF) for fusion, one in rows.items() if one}
    tables: list[Table] = []
    for fusion, one in figures.items():
        tables.append(table(f"SATF over {fusion}, {asked} questions, difference to off [95%]", one, OFF))
        shown = {name: one[name] for name in SHOWN}
        tables.append(by_group(f"SATF over {fusion}, by kind of question", shown, OFF, "turn ndcg@10"))
    shares = {
        fusion: {name: figure(metrics.mean([float(one) for one in values])) for name, values in one.items()}
        for fusion, one in acted.items()
    }
    return {"tables": tables, "figures": {"questions": asked, "rows": figures, "acts": shares}}


def rescored(found: Sequence[Recalled], numbers: Numbers, span: float) -> tuple[Sequence[Recalled], bool]:
    """The fused order after SATF with these numbers, and whether its gate let it act."""
    days = np.array([one.said_at.timestamp() / DAY for one in found])
    sigma: Sigma = numbers.sigma if numbers.window is None else max(numbers.window * span, 1e-3)
    made = satf(days, anchors=numbers.anchors, sigma=sigma, alpha=numbers.alpha, gamma=numbers.gamma)
    if not made.active:
        return found, False
    return [found[place] for place in np.argsort(-made.scores, kind="stable")], True


def _span(case: Case) -> float:
    """Days from the first turn to the last."""
    times = [message.said_at for message in case.messages if message.said_at]
    return (max(times) - min(times)).total_seconds() / DAY if times else 0.0
