"""Fit the weights of `when` on LoCoMo's dated questions, and say how well they do on conversations not fitted on.

    python scripts/fit_when.py --data locomo_dev.json --when locomo_when_dev.json [--home FOLDER] [--write]

Two small models, both readable in `src/everwhen/recall/when_weights.json`:

- `match`: softmax over the clues of a question. The loss is minus the logarithm of the probability of the clues in
  the cited turns whose interval is right; clues elsewhere that are right by chance take no part. A feature may only
  count in the direction that it means (`matching.SIGNS`), and a ridge penalty draws the weights to zero, or to `PRIOR`
  for what matters outside of these questions and hardly occurs in them (what is denied, who did it).
- `sure`: logistic regression of "the answer was right" on the answers that weights fitted without the question's
  conversation give. So that it learns to doubt, every question is also asked of another conversation, with the
  speakers' names exchanged, where no answer can be right; these count `FOREIGN` each.

Every figure printed is leave-one-conversation-out: no model was fitted on the questions of the conversation that it is
scored on. (The answers that `sure` learns from were given by `match` weights that may have seen it.) The features, the
ridge and `LEAST` were chosen looking at all conversations, so that the figures are a little better than new data's.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen import Memory
from everwhen.bench.extraction import is_right
from everwhen.ingest.importers.locomo import conversation, samples
from everwhen.recall import matching
from everwhen.recall.asking import Question, read_question
from everwhen.recall.dating import Ask, Scored, choose, clues_for, evidence_features, weigh

RIDGE = 1.0
FOREIGN = 0.25
LEAST = 0.3
"""Below this confidence `when` says nothing."""
PRIOR = {"denied": -2.0, "same_subject": 0.5}
TOP = (1, 3, 5, 10, 30)
OUT = Path(__file__).parent.parent / "src/everwhen/recall/when_weights.json"

Rows = NDArray[np.float64]


@dataclass
class Case:
    """One question with the clues that were found, and which of them are right."""

    name: str
    question: Question
    at: datetime
    clues: list[Any]
    rows: list[dict[str, float]]
    matrix: Rows
    right: NDArray[np.bool_]
    cited: NDArray[np.bool_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--when", type=Path, required=True)
    parser.add_argument("--home", type=Path, help="keep the banks here, and use those that are there already")
    parser.add_argument("--write", action="store_true", help="write the weights, fitted on all conversations")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        cases, foreign = read_cases(given.data, given.when, given.home or Path(scratch))
    names = list(cases[0].rows[0])
    conversations = sorted({case.name for case in cases})
    ceilings(cases)
    answered: list[tuple[Case, dict[str, float], bool]] = []
    refused: list[tuple[Case, dict[str, float]]] = []
    right = 0
    for held in conversations:
        weights = fit_match([case for case in cases if case.name != held], names)
        for case in (one for one in cases if one.name == held):
            found, correct = answer(case, names, weights)
            answered.append((case, found, correct))
            right += correct
        refused += [(case, answer(case, names, weights)[0]) for case in foreign if case.name == held]
    print(
        f"accuracy, leave one conversation out, nothing refused: {right}/{len(cases)} = {right / len(cases):.3f}"
    )
    scored = [
        (sure(fit_sure(answered, refused, but=case.name), found), correct)
        for case, found, correct in answered
    ]
    doubts = [sure(fit_sure(answered, refused, but=case.name), found) for case, found in refused]
    figures = report(scored, doubts)
    if given.write:
        weights = fit_match(cases, names)
        written = {
            "provenance": f"scripts/fit_when.py on {given.data.name} and {given.when.name}, {date.today()}: "
            f"{len(cases)} questions of {len(conversations)} conversations; ridge {RIDGE}, foreign {FOREIGN}",
            "leave_one_conversation_out": figures,
            "match": {name: round(float(value), 3) for name, value in zip(names, weights, strict=True)},
            "sure": {name: round(value, 3) for name, value in fit_sure(answered, refused).items()},
            "least": LEAST,
        }
        OUT.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        print(f"written to {OUT.name}")


def read_cases(data: Path, when: Path, home: Path) -> tuple[list[Case], list[Case]]:
    """Every dated question with its clues, and every one asked of the next conversation instead."""
    gold = {(one["sample_id"], one["qa_index"]): one for one in json.loads(when.read_text("utf-8"))}
    loaded = list(samples(data))
    cases, foreign = [], []
    for place, sample in enumerate(loaded):
        other = loaded[(place + 1) % len(loaded)]
        messages = list(conversation(sample).messages)
        at = max(message.said_at for message in messages if message.said_at) + timedelta(minutes=1)
        with Memory.open(home, bank=f"when-{sample['sample_id']}") as memory:
            if not memory.stats().turns:
                memory.add_many(messages)
            memory.flush()
            for (name, _), one in gold.items():
                if name == sample["sample_id"]:
                    cases.append(case_of(memory, name, one["question"], at, one))
                elif name == other["sample_id"]:
                    asked = renamed(one["question"], other["conversation"], sample["conversation"])
                    foreign.append(case_of(memory, sample["sample_id"], asked, at, None))
        print(f"{sample['sample_id']}: {len(cases)} questions", flush=True)
    return cases, foreign


def case_of(memory: Memory, name: str, question: str, at: datetime, gold: dict[str, Any] | None) -> Case:
    ask, read = Ask(question, at, memory.zone), read_question(question, at, memory.zone)
    scored = clues_for(memory._store, memory._asking, ask, read)
    right = [False] * len(scored.clues)
    cited = [False] * len(scored.clues)
    if gold is not None:
        start, end = (datetime.fromisoformat(gold[side]).replace(tzinfo=UTC) for side in ("start", "end"))
        right = [is_right(clue.interval, start, end) for clue in scored.clues]
        cited = [clue.turn.id in gold["evidence"] for clue in scored.clues]
    rows = [dict(row) for row in scored.rows]
    matrix = np.array([list(row.values()) for row in rows])
    return Case(name, read, at, list(scored.clues), rows, matrix, np.array(right), np.array(cited))


def renamed(question: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    """The question about the people of another conversation."""
    for side in ("speaker_a", "speaker_b"):
        question = re.sub(rf"\b{re.escape(one[side])}\b", other[side], question)
    return question


def fit_match(cases: list[Case], names: list[str], steps: int = 300, rate: float = 0.05) -> Rows:
    """Adam on the penalised loss, all questions at once; a weight that points the wrong way is set to zero."""
    kept = []
    for case in cases:
        positive = case.right & case.cited if (case.right & case.cited).any() else case.right
        if positive.any():
            part = positive | ~case.right
            kept.append((case.matrix[part], positive[part]))
    rows = np.vstack([matrix for matrix, _ in kept])
    positive = np.concatenate([flags for _, flags in kept])
    starts = np.cumsum([0, *(len(matrix) for matrix, _ in kept[:-1])])
    of = np.repeat(np.arange(len(kept)), [len(matrix) for matrix, _ in kept])
    spread = rows.std(axis=0) + 1e-6
    rows = rows / spread
    signs = np.array([matching.SIGNS.get(name, 1) for name in names])
    prior = np.array([PRIOR.get(name, 0.0) for name in names]) * spread
    weights, mean, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, steps + 1):
        score = rows @ weights
        grown = np.exp(score - np.maximum.reduceat(score, starts)[of])
        everyone = grown / np.add.reduceat(grown, starts)[of]
        wanted = grown * positive / np.add.reduceat(grown * positive, starts)[of]
        slope = RIDGE * (weights - prior) - (wanted - everyone) @ rows
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights = weights - rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = np.where(signs * weights < 0, 0.0, weights)
    return np.asarray(weights / spread)


def answer(case: Case, names: list[str], weights: Rows) -> tuple[dict[str, float], bool]:
    """What the chosen interval looks like, and whether it is right."""
    shares = matching.probabilities(case.rows, dict(zip(names, weights, strict=True)))
    chosen = choose(weigh(Scored(case.clues, case.rows, shares)), case.question, case.at)
    return evidence_features(chosen), bool(case.right[case.clues.index(chosen.clues[0])])


def fit_sure(
    answered: list[tuple[Case, dict[str, float], bool]],
    refused: list[tuple[Case, dict[str, float]]],
    but: str | None = None,
) -> dict[str, float]:
    """Logistic regression by Newton's method, with a small ridge on all but the constant."""
    told = [(found, float(correct), 1.0) for case, found, correct in answered if case.name != but]
    told += [(found, 0.0, FOREIGN) for case, found in refused if case.name != but]
    names = list(told[0][0])
    rows = np.array([list(found.values()) for found, _, _ in told])
    truth, count = (np.array([one[side] for one in told]) for side in (1, 2))
    ridge = np.diag([0.0 if name == "one" else 0.5 for name in names])
    weights = np.zeros(len(names))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (count * (truth - chance)) - ridge @ weights
        bend = (rows * (count * chance * (1 - chance))[:, None]).T @ rows + ridge + 1e-9 * np.eye(len(names))
        weights = weights + np.linalg.solve(bend, slope)
    return dict(zip(names, map(float, weights), strict=True))


def sure(weights: dict[str, float], found: dict[str, float]) -> float:
    return float(1 / (1 + np.exp(-sum(weights[name] * value for name, value in found.items()))))


def ceilings(cases: list[Case]) -> None:
    """Where the loss is: is a right interval among the clues of the best k turns, and of the cited turns."""
    for k in TOP:
        near = [np.array([clue.rank <= k for clue in case.clues]) for case in cases]
        turn = sum(bool((part & case.cited).any()) for case, part in zip(cases, near, strict=True))
        any_ = sum(bool((part & case.right).any()) for case, part in zip(cases, near, strict=True))
        both = sum(
            bool((part & case.right & case.cited).any()) for case, part in zip(cases, near, strict=True)
        )
        print(f"best {k:2} turns: cited turn {turn}, right interval {any_}, both {both} of {len(cases)}")
    print(f"all clues: right {sum(bool(case.right.any()) for case in cases)}, "
          f"right and cited {sum(bool((case.right & case.cited).any()) for case in cases)}")  # fmt: skip


def report(scored: list[tuple[float, bool]], doubts: list[float]) -> dict[str, Any]:
    ordered = sorted(scored, reverse=True)
    for share in (0.25, 0.5, 0.75, 1.0):
        part = ordered[: max(1, round(share * len(ordered)))]
        print(f"coverage {share:.2f}: precision {np.mean([correct for _, correct in part]):.3f}")
    for low in np.arange(0, 1, 0.2):
        part = [one for one in scored if low <= one[0] < low + 0.2]
        if part:
            print(f"confidence {low:.1f}-{low + 0.2:.1f}: {len(part)} answers, "
                  f"mean {np.mean([c for c, _ in part]):.2f}, right {np.mean([r for _, r in part]):.2f}")  # fmt: skip
    for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5):
        told = [correct for chance, correct in scored if chance >= least]
        refused = np.mean([doubt < least for doubt in doubts])
        print(f"from {least:.2f}: answered {len(told)}, accuracy {sum(told) / len(scored):.3f}, "
              f"precision {np.mean(told):.3f}, foreign questions refused {refused:.3f}")  # fmt: skip
    told = [correct for chance, correct in scored if chance >= LEAST]
    return {
        "questions": len(scored),
        "answered": len(told),
        "accuracy": round(sum(told) / len(scored), 4),
        "precision": round(float(np.mean(told)), 4),
        "foreign_refused": round(float(np.mean([one < LEAST for one in doubts])), 4),
    }


if __name__ == "__main__":
    main()
