"""Fit the gate (`recall/papers/gate.json`): the chance that a memory helps, and below which chance it is dropped.

    python training/fit_gate.py --locomo FILE [--longmemeval FILE] [--home FOLDER] [--write]

Every question of LoCoMo is asked without a gate; the chances are fitted over what comes back, once for each
locomo_conversation with that one left out, which gives the figures, and once on everything, which gives what ships.
LongMemEval is only looked at: nothing is fitted on it. Numbers only: no text of the data is kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.budget import fill
from everwhen.recall.papers.gate import FITTED, LEAST, MOST, logs, readings
from everwhen.types import Recalled
from everwhen.types.recall import MID, Complexity
from everwhen.write.importers.benchmarks import (
    locomo_conversation,
    locomo_samples,
    longmemeval_questions,
    longmemeval_time,
    placed_messages,
)
from everwhen_bench import metrics
from everwhen_bench.locomo import ADVERSARIAL, asked_at, evidence
from everwhen_bench.longmemeval import ABSTENTION
from everwhen_bench.retrieval import EVERYTHING, Tally, fresh_bank
from fit_fusion import minimise

Array = NDArray[np.float64]
Fit = Mapping[str, Mapping[str, float]]

KINDS: tuple[Complexity, ...] = ("simple", "hybrid", "complex")
READINGS = ("gap", "rank", "share", "spread")
CONSIDERED = 60
"""The best memories that the chance is fitted on."""
BUDGETS = (512, 1024)
FLOORS = (0.0, *(round(10 ** (step / 5), 6) for step in range(-22, -7)))
"""Chances below which a memory could be dropped."""
MEANT: Mapping[str, int] = {"simple": 6, "hybrid": 12, "complex": 18}
"""Memories that a strict gate keeps on average: TiMem's 3 to 8 for a simple question, and more for harder ones."""
REACHED = 90
"""Memories of which 1,024 tokens can hold some: what stands below them is not looked at, to save time."""
SAFETY = 2.5
"""The careful floor lies so many times below the highest one that does no harm to the longmemeval_questions at hand."""
ALLOWED = 0.0005
"""Evidence recall that the calibrated gate may cost at either budget."""


@dataclass(slots=True)
class Case:
    """A question with what came back for it, best first, and which of that is evidence."""

    data: str
    fold: str
    group: str
    complexity: Complexity
    ranked: list[Recalled]
    gold: frozenset[str]
    logs: Array
    """The logarithm of each score over the best one's."""

    def evidence(self) -> NDArray[np.bool_]:
        return np.array([not self.gold.isdisjoint(one.turns) for one in self.ranked[:CONSIDERED]], np.bool_)


def locomo(path: Path, home: Path | None) -> Iterator[Case]:
    for sample in locomo_samples(path):
        messages = list(locomo_conversation(sample).messages)
        said, name = {str(message.id): message.text for message in messages}, str(sample["sample_id"])
        with fresh_bank(home, f"fit-{name}", messages, Tally(), extract="rules") as memory:
            for question in sample.get("qa") or []:
                gold = evidence(question.get("evidence") or (), said)
                if gold and question["category"] != ADVERSARIAL:
                    found = memory.recall(
                        question["question"], at=asked_at(messages), max_tokens=EVERYTHING, recipe=MID
                    )
                    yield _case("locomo", name, str(question["category"]), found, frozenset(gold))
        print(f"{name} asked", file=sys.stderr)


def longmemeval(path: Path, home: Path | None) -> Iterator[Case]:
    for question in longmemeval_questions(path):
        rows = list(placed_messages(question))
        gold = frozenset(str(message.id) for message, place in rows if place.has_answer)
        if gold and not question["question_id"].endswith(ABSTENTION):
            with fresh_bank(home, "fit-longmemeval", [message for message, _ in rows], Tally()) as memory:
                at = longmemeval_time(question["question_date"])
                found = memory.recall(question["question"], at=at, max_tokens=EVERYTHING, recipe=MID)
            yield _case("longmemeval", "", question["question_type"], found, gold)


def _case(data: str, fold: str, group: str, found: Any, gold: frozenset[str]) -> Case:
    ranked = [one for one in found.memories if one.kind == "turn"]
    return Case(data, fold, group, found.trace["plan"]["complexity"], ranked, gold, logs(ranked))


def calibration(cases: Sequence[Case]) -> dict[str, float]:
    """A logistic regression of being evidence on the readings of the gate."""
    x = np.concatenate([readings(case.logs)[:CONSIDERED] for case in cases])
    y = np.concatenate([case.evidence() for case in cases])
    middle, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    x = np.column_stack([(x - middle) / scale, np.ones(len(x))])

    def loss(weight: Array) -> tuple[float, Array]:
        chance = 1 / (1 + np.exp(-np.clip(x @ weight, -30, 30)))
        value = -float(np.log(np.where(y, chance, 1 - chance) + 1e-30).sum())
        own = np.append(weight[:-1], 0.0)
        return value + 0.5 * float(own @ own), x.T @ (chance - y) + own

    found = minimise(loss, np.zeros(x.shape[1]), steps=500)
    slopes = found[:-1] / scale
    return {
        **dict(zip(READINGS, slopes.tolist(), strict=True)),
        "constant": float(found[-1] - slopes @ middle),
    }


def chances(case: Case, fit: Mapping[str, float]) -> Array:
    z = readings(case.logs) @ np.array([fit[name] for name in READINGS]) + fit["constant"]
    return np.minimum.accumulate(1 / (1 + np.exp(-z)))


def floor(cases: Sequence[Case], fit: Mapping[str, float]) -> float:
    """The highest chance to drop below at which the evidence at both budgets stays as it is without a gate, with a
    margin for longmemeval_questions that are not among these."""
    base = [np.mean([spent(case, budget)[0] for case in cases]) for budget in BUDGETS]
    best = 0.0
    for step in FLOORS:
        kept = [np.flatnonzero((chances(case, fit) >= step) | _first(case)) for case in cases]
        lost = [
            base[place]
            - np.mean([spent(case, budget, keep)[0] for case, keep in zip(cases, kept, strict=True)])
            for place, budget in enumerate(BUDGETS)
        ]
        if max(lost) > ALLOWED:
            break
        best = step
    return best / SAFETY


def strict_floor(cases: Sequence[Case], fit: Mapping[str, float], meant: int) -> float:
    """The chance to drop below at which so many memories are kept on average."""
    low, high = 0.0, 1.0
    of_each = [chances(case, fit) for case in cases]
    for _ in range(30):
        middle = (low + high) / 2
        kept = np.mean([max(LEAST, int((one >= middle).sum())) for one in of_each])
        low, high = (middle, high) if kept > meant else (low, middle)
    return high


def _first(case: Case) -> NDArray[np.bool_]:
    return np.arange(len(case.ranked)) < LEAST


def spent(case: Case, budget: int, keep: NDArray[np.int64] | None = None) -> tuple[float, int]:
    """Evidence recall inside a budget, and the tokens used: of some places of the order, all by default."""
    memories = case.ranked if keep is None else [case.ranked[place] for place in keep]
    if budget <= BUDGETS[-1]:
        memories = memories[:REACHED]
    kept, _, tokens = fill(memories, budget)
    turns = {turn for one in kept for turn in one.turns}
    return len(case.gold & turns) / len(case.gold), tokens


def fit(cases: Sequence[Case]) -> Fit:
    """What ships, by complexity."""
    out = {}
    for kind in KINDS:
        own = [case for case in cases if case.complexity == kind]
        found = calibration(own)
        out[kind] = found | {
            "careful": floor(own, found),
            "strict": strict_floor(own, found, MEANT[kind]),
        }
    return out


def held_out(cases: Sequence[Case]) -> list[tuple[Case, Fit]]:
    """Each case with what was fitted without its locomo_conversation."""
    out = []
    for fold in dict.fromkeys(case.fold for case in cases):
        fitted = fit([case for case in cases if case.fold != fold])
        out += [(case, fitted) for case in cases if case.fold == fold]
    return out


def table(pairs: Sequence[tuple[Case, Fit]]) -> dict[str, Any]:
    """Without a gate, and with each: evidence recall at each budget, tokens at 4,096; with paired intervals."""
    rows: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for case, fitted in pairs:
        for name, chosen in _variants(case, fitted[case.complexity]):
            figures = (
                *(spent(case, budget, chosen)[0] for budget in BUDGETS),
                *spent(case, 4096, chosen),
                float(len(case.ranked) if chosen is None else len(chosen)),
            )
            harder = () if case.complexity == "simple" else ("hybrid and complex",)
            for group in ("all", case.complexity, *harder, f"category {case.group}"):
                rows.setdefault(group, {}).setdefault(name, []).append(figures)
    names = (*(f"evidence@{budget}" for budget in BUDGETS), "evidence@4096", "tokens", "memories")
    out: dict[str, Any] = {}
    for group, by_name in sorted(rows.items()):
        flat = np.array(by_name["flat"])
        for name, values in by_name.items():
            now = np.array(values)
            row = {key: round(float(value), 4) for key, value in zip(names, now.mean(axis=0), strict=True)}
            for place, budget in enumerate(BUDGETS):
                difference = now[:, place] - flat[:, place]
                row[f"change@{budget}"] = [
                    round(float(one), 4)
                    for one in (difference.mean(), *metrics.paired_bootstrap(difference.tolist()))
                ]
            out.setdefault(group, {"questions": len(values)})[name] = row
    return out


def _variants(case: Case, own: Mapping[str, float]) -> Iterator[tuple[str, NDArray[np.int64] | None]]:
    yield "flat", None
    for name in ("careful", "strict"):
        likely = np.flatnonzero((chances(case, own) >= own[name]) | _first(case))
        yield name, likely[: MOST[case.complexity]] if name == "strict" else likely


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--longmemeval", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    cases = list(locomo(args.locomo, args.home))
    show("LoCoMo, each locomo_conversation left out", table(held_out(cases)))
    fitted = fit(cases)
    print(json.dumps(fitted, indent=1))
    if args.longmemeval:
        others = list(longmemeval(args.longmemeval, args.home))
        show("LongMemEval, with what was fitted on LoCoMo", table([(case, fitted) for case in others]))
    if args.write:
        held = {
            "about": "The gate's calibration by complexity (recall/papers/gate.py): a logistic regression and its "
            "floors. Fitted by training/fit_gate.py.",
            "data": "locomo_dev.json (5 conversations)",
            "by_complexity": _rounded(fitted),
        }
        FITTED.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
        print(f"written to {FITTED.name}")


def _rounded(held: Any) -> Any:
    if isinstance(held, dict):
        return {key: _rounded(value) for key, value in held.items()}
    return float(f"{held:.5g}") if isinstance(held, float) else held


def show(title: str, rows: Mapping[str, Any]) -> None:
    print(title)
    for group, by_name in rows.items():
        print(f"  {group} ({by_name['questions']})")
        for name, row in by_name.items():
            if name != "questions":
                print(f"    {name:10} {json.dumps(row)}")


if __name__ == "__main__":
    main()
