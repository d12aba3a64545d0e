"""Fit what the planner knows (`recall/planned.json`): what a memory is worth by complexity, and when the gate drops it.

    python scripts/fit_planner.py --locomo FILE [--longmemeval FILE] [--home FOLDER] [--write]

Every question of LoCoMo is asked with the planner and the gate off; the weights are fitted over what comes back, once
for each conversation with that one left out, which gives the figures, and once on everything, which gives what ships.
LongMemEval is only looked at: nothing is fitted on it. Numbers only: no text of the data is kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.bench import metrics
from everwhen.bench.locomo import ADVERSARIAL, asked_at, evidence
from everwhen.bench.longmemeval import ABSTENTION
from everwhen.bench.retrieval import EVERYTHING, Tally, fresh_bank
from everwhen.ingest.importers.locomo import conversation, samples
from everwhen.ingest.importers.longmemeval import date_time, placed, questions
from everwhen.recall import MID
from everwhen.recall.budget import fill
from everwhen.recall.complexity import Complexity
from everwhen.recall.gate import LEAST, MOST, readings
from everwhen.recall.worth import CONSIDERED, FITTED, logs, signs, worths
from everwhen.types import Recalled

sys.path.insert(0, str(Path(__file__).parent))
from fit_fusion import minimise

Array = NDArray[np.float64]

FLAT = replace(MID, name="flat", planner=False, gate="none")
KINDS: tuple[Complexity, ...] = ("simple", "hybrid", "complex")
USED: Mapping[str, tuple[str, ...]] = {
    "simple": (),
    "hybrid": ("kin", "did", "named", "self"),
    "complex": ("kin", "self"),
}
"""The signs that take part, by complexity: those that helped with each conversation left out. What a simple question
needs, the score has said: `kin` gave 0.4 points of evidence at 512 tokens there and took 0.5 of recall@10."""
READINGS = ("gap", "rank", "share", "spread")
RIDGE = 5.0
BUDGETS = (512, 1024)
FLOORS = (0.0, *(round(10 ** (step / 5), 6) for step in range(-22, -7)))
"""Chances below which a memory could be dropped."""
MEANT: Mapping[str, int] = {"simple": 6, "hybrid": 12, "complex": 18}
"""Memories that a strict gate keeps on average: TiMem's 3 to 8 for a simple question, and more for harder ones."""
REACHED = 90
"""Memories of which 1,024 tokens can hold some: what stands below them is not looked at, to save time."""
SAFETY = 2.5
"""The careful floor lies so many times below the highest one that does no harm to the questions at hand."""
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
    signs: dict[str, Array] = field(default_factory=dict)
    logs: Array = field(default_factory=lambda: np.zeros(0))
    z: Array = field(default_factory=lambda: np.zeros(0))
    """The logarithm of what each is worth, by weights that never saw this question."""

    def evidence(self) -> NDArray[np.bool_]:
        return np.array([not self.gold.isdisjoint(one.turns) for one in self.ranked[:CONSIDERED]], np.bool_)


def locomo(path: Path, home: Path | None) -> Iterator[Case]:
    for sample in samples(path):
        messages = list(conversation(sample).messages)
        said, name = {str(message.id): message.text for message in messages}, str(sample["sample_id"])
        with fresh_bank(home, f"fit-{name}", messages, Tally(), extract="rules") as memory:
            for question in sample.get("qa") or []:
                gold = evidence(question.get("evidence") or (), said)
                if gold and question["category"] != ADVERSARIAL:
                    found = memory.recall(
                        question["question"], at=asked_at(messages), max_tokens=EVERYTHING, recipe=FLAT
                    )
                    yield _case("locomo", name, str(question["category"]), found, frozenset(gold))
        print(f"{name} asked", file=sys.stderr)


def longmemeval(path: Path, home: Path | None) -> Iterator[Case]:
    for question in questions(path):
        rows = list(placed(question))
        gold = frozenset(str(message.id) for message, place in rows if place.has_answer)
        if gold and not question["question_id"].endswith(ABSTENTION):
            with fresh_bank(home, "fit-longmemeval", [message for message, _ in rows], Tally()) as memory:
                at = date_time(question["question_date"])
                found = memory.recall(question["question"], at=at, max_tokens=EVERYTHING, recipe=FLAT)
            yield _case("longmemeval", "", question["question_type"], found, gold)


def _case(data: str, fold: str, group: str, found: Any, gold: frozenset[str]) -> Case:
    ranked = [one for one in found.memories if one.kind == "turn"]
    return Case(
        data,
        fold,
        group,
        found.trace["plan"]["complexity"],
        ranked,
        gold,
        signs(ranked[:CONSIDERED]),
        logs(ranked),
    )


# Worth


def worth(cases: Sequence[Case], names: Sequence[str]) -> dict[str, float]:
    """Weights of the signs, and what the score's own weight changes by: a listwise loss with an L2 penalty.

    Each piece of evidence should stand above all that is none: `-log(e^z_g / (e^z_g + sum over the others of e^z))`,
    divided by the root of how many there are, so that a list of ten does not count ten times.
    """
    if not names:
        return {}
    rows = [(_columns(case, names), case.logs[:CONSIDERED], case.evidence()) for case in cases]
    rows = [row for row in rows if row[2].any()]
    scale = np.concatenate([columns for columns, _, _ in rows]).std(axis=0) + 1e-9
    rows = [(np.column_stack([columns / scale, own]), own, gold) for columns, own, gold in rows]

    def loss(weight: Array) -> tuple[float, Array]:
        value, slope = 0.5 * RIDGE * float(weight @ weight), RIDGE * weight
        for columns, own, gold in rows:
            z = own + columns @ weight
            odds = np.exp(z - z.max())
            others, pull = odds[~gold].sum(), odds[~gold] @ columns[~gold]
            count = 1.0 / np.sqrt(gold.sum())
            for place in np.flatnonzero(gold):
                whole = others + odds[place]
                value += count * float(np.log(whole) - np.log(odds[place]))
                slope = slope + count * ((pull + odds[place] * columns[place]) / whole - columns[place])
        return value, slope

    found = minimise(loss, np.zeros(len(names) + 1))
    return {
        "score": float(found[-1]),
        **dict(zip(names, (float(one) for one in found[:-1] / scale), strict=True)),
    }


def _columns(case: Case, names: Sequence[str]) -> Array:
    return np.column_stack([case.signs[name] for name in names])


def weighed(case: Case, weights: Mapping[str, float]) -> Array:
    return worths(case.logs, case.signs, weights)


# Gate


def calibration(cases: Sequence[Case]) -> dict[str, float]:
    """A logistic regression of being evidence on the readings of the gate."""
    rows, known = [], []
    for case in cases:
        order = np.argsort(-case.z[:CONSIDERED], kind="stable")
        rows.append(readings(np.sort(case.z)[::-1])[: len(order)])
        known.append(case.evidence()[order])
    x, y = np.concatenate(rows), np.concatenate(known)
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
    gaps = np.sort(case.z)[::-1]
    z = readings(gaps) @ np.array([fit[name] for name in READINGS]) + fit["constant"]
    return np.minimum.accumulate(1 / (1 + np.exp(-z)))


def floor(cases: Sequence[Case], fit: Mapping[str, float]) -> float:
    """The highest chance to drop below at which the evidence at both budgets stays as it is without a gate, with a
    margin for questions that are not among these."""
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
    return np.arange(len(case.z)) < LEAST


def spent(
    case: Case, budget: int, keep: NDArray[np.int64] | None = None, z: Array | None = None
) -> tuple[float, int]:
    """Evidence recall inside a budget, and the tokens used: of some places of the order, all by default."""
    z = case.z if z is None else z
    order = np.argsort(-z, kind="stable")
    chosen = order if keep is None else order[keep]
    if budget <= BUDGETS[-1]:
        chosen = chosen[:REACHED]
    memories = [replace(case.ranked[place], score=float(np.exp(z[place]))) for place in chosen]
    kept, _, tokens = fill(memories, budget)
    turns = {turn for one in kept for turn in one.turns}
    return len(case.gold & turns) / len(case.gold), tokens


# All of it


def fit(cases: Sequence[Case], used: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """What ships, by complexity; `z` of the cases is left as these weights make it."""
    out: dict[str, dict[str, Any]] = {"worth": {}, "gate": {}}
    for kind in KINDS:
        own = [case for case in cases if case.complexity == kind]
        out["worth"][kind] = worth(own, used[kind])
        for case in own:
            case.z = weighed(case, out["worth"][kind])
        out["gate"][kind] = calibration(own)
        out["gate"][kind] |= {
            "careful": floor(own, out["gate"][kind]),
            "strict": strict_floor(own, out["gate"][kind], MEANT[kind]),
        }
    return out


def held_out(cases: Sequence[Case]) -> list[tuple[Case, dict[str, Any]]]:
    """Each case with what was fitted without its conversation."""
    out = []
    for fold in dict.fromkeys(case.fold for case in cases):
        fitted = fit([case for case in cases if case.fold != fold], USED)
        out += [(case, fitted) for case in cases if case.fold == fold]
    return out


def table(pairs: Sequence[tuple[Case, dict[str, Any]]]) -> dict[str, Any]:
    """Flat, planned, planned and gated: evidence recall at each budget, tokens at 4,096; with paired intervals."""
    rows: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for case, fitted in pairs:
        case.z = weighed(case, fitted["worth"][case.complexity])
        own = fitted["gate"][case.complexity]
        for name, chosen in _variants(case, own):
            z = case.logs if name == "flat" else case.z
            values = [
                *(spent(case, budget, chosen, z)[0] for budget in BUDGETS),
                spent(case, 4096, chosen, z),
            ]
            figures = (*values[:-1], *values[-1], float(len(case.z) if chosen is None else len(chosen)))
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
    yield "planned", None
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
    show("LoCoMo, each conversation left out", table(held_out(cases)))
    fitted = fit(cases, USED)
    print(json.dumps(fitted, indent=1))
    if args.longmemeval:
        others = list(longmemeval(args.longmemeval, args.home))
        show("LongMemEval, with what was fitted on LoCoMo", table([(case, fitted) for case in others]))
    if args.write:
        held = {
            "about": "What a memory is worth by complexity (recall/worth.py), and the gate's calibration "
            "(recall/gate.py). Fitted by scripts/fit_planner.py.",
            "data": "locomo_dev.json (5 conversations)",
            "ridge": RIDGE,
            **_rounded(fitted),
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
