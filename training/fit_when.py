"""Fit the weights of `when` on LoCoMo's dated questions, and say how well they do on conversations not fitted on.

    python training/fit_when.py --data locomo_dev.json --when locomo_when_dev.json [--home FOLDER] [--write]

Two small models, both readable in `src/everwhen/recall/calendar/when_weights.json`:

- `match`: softmax over the clues of a question. The loss is minus the logarithm of the probability of the clues in
  the cited turns whose interval is right; clues elsewhere that are right by chance take no part. A feature may only
  count in the direction that it means (`features.SIGNS`), and a ridge penalty draws the weights to zero,
  or to `PRIOR` for what matters outside of these questions and hardly occurs in them (what is denied, who did it, a
  time named).
- `sure`: logistic regression of "the answer was right" on the answers that weights fitted without the question's
  conversation give. So that it learns what was never told, each question is asked where no answer can be right: of
  `FOREIGN_TO` other conversations with the speakers' names exchanged (`foreign`: nobody spoke of it), and of its own
  with the one speaker whom it names exchanged for the other (`person`: somebody else did it). In a memory of few turns
  any of them stands out, so all is asked of small ones as well: `SMALL` sessions of a conversation each, with the
  questions that they answer (`told_small`) and as many others of the same conversation (`untold`: the same people, and
  not told here). What was never told counts `NEVER` each, which makes it a fifth of all: as if one question in five
  asked for it. LoCoMo tells next to nothing that did not happen, so the weight of `unreal` is held near a value set by
  hand (`HELD`).

Below `least` the memory says nothing: the largest bound, in hundredths, that leaves `LEAST_ACCURACY` of the dated
questions answered rightly, held out; a half at the most, so that what is likelier right than wrong is told.

Every figure printed is leave-one-conversation-out: no model was fitted on the questions of the conversation that it is
scored on. (The answers that `sure` learns from were given by `match` weights that may have seen it.) The features, the
ridge and the bound were chosen looking at all conversations, so that the figures are a little better than new data's.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen import Memory
from everwhen.models.embedder import Embedder, open_embedder
from everwhen.recall.calendar import features
from everwhen.recall.calendar.answer import (
    ScoredEvidence,
    WhenRequest,
    choose,
    evidence_features,
    evidence_for,
    weigh,
)
from everwhen.recall.calendar.features import QuestionWords
from everwhen.recall.question import Question, parse
from everwhen.types import Message
from everwhen.write.importers.benchmarks import locomo_conversation, locomo_samples
from everwhen_bench.extraction import is_right

RIDGE = 2.0
FOREIGN_TO = 2
SMALL = 3
UNTOLD = 8
"""Questions that each small memory is asked for what it was not told."""
NEVER = {"foreign": 0.06, "person": 0.13, "untold": 0.11}
HELD = {"unreal": (-6.0, 20.0)}
"""A weight and how strongly it is held there; all others are held at zero with `LOOSE`, the constant not at all."""
LOOSE = 0.5
LEAST_ACCURACY = 0.84
PRIOR = {"denied": -2.0, "same_subject": 0.5, "in_window": 4.0}
TOP = (1, 3, 5, 10, 30)
OUT = Path(__file__).parent.parent / "src/everwhen/recall/calendar/when_weights.json"
FIGURES = Path(__file__).parent / "figures/when.json"

Rows = NDArray[np.float64]


@dataclass
class Case:
    """One question with the clues that were found, and which of them are right."""

    name: str
    kind: str
    """`told`, `told_small`, or how it asks for what was never told: `foreign`, `person`, `untold`."""
    ask: WhenRequest
    question: Question
    at: datetime
    clues: list[Any]
    rows: list[dict[str, float]]
    matrix: Rows
    right: NDArray[np.bool_]
    cited: NDArray[np.bool_]
    asked: QuestionWords | None


Answered = tuple[Case, dict[str, float], bool]
"""A question, the features of the evidence for the answer it gets, and whether that is right."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--when", type=Path, required=True)
    parser.add_argument("--home", type=Path, help="keep the banks here, and use those that are there already")
    parser.add_argument("--write", action="store_true", help="write the weights, fitted on all conversations")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        every = read_cases(given.data, given.when, given.home or Path(scratch))
    embedder = open_embedder("conversation-1")
    cases = [case for case in every if case.kind == "told"]
    names = [name for name in cases[0].rows[0] if name not in features.TELLING]
    ceilings(cases)
    conversations = sorted({case.name for case in every})
    held_out = {but: fit_match([case for case in cases if case.name != but], names) for but in conversations}
    answered = [(case, *answer(case, names, held_out[case.name], embedder)) for case in every]
    # What was told again in another session is told.
    answered = [one for one in answered if one[0].kind != "untold" or not one[2]]
    right = sum(correct for case, _, correct in answered if case.kind == "told")
    print(f"accuracy, nothing refused: {right}/{len(cases)} = {right / len(cases):.3f}")
    fitted = {but: fit_sure(answered, but) for but in conversations}
    scored = [(case.kind, sure(fitted[case.name], found), correct) for case, found, correct in answered]
    figures = report(scored)
    if given.write:
        written = {
            "provenance": f"training/fit_when.py on {given.data.name} and {given.when.name}, {date.today()}: "
            f"{len(cases)} questions of {len(conversations)} conversations, with {len(answered) - len(cases)} made of "
            f"them; ridge {RIDGE}, never {NEVER}, held {HELD}",
            "match": dict(zip(names, (round(float(one), 3) for one in fit_match(cases, names)), strict=True)),
            "sure": {name: round(value, 3) for name, value in fit_sure(answered).items()},
            "least": figures["least"],
        }
        OUT.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        FIGURES.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        print(f"written to {OUT.name} and {FIGURES.name}")


def read_cases(data: Path, when: Path, home: Path) -> list[Case]:
    """Every dated question, and what is made of it about things that were never told, with their clues."""
    gold = json.loads(when.read_text("utf-8"))
    loaded = list(locomo_samples(data))
    cases: list[Case] = []
    for place, sample in enumerate(loaded):
        name, people = sample["sample_id"], sample["conversation"]
        others = {
            one["sample_id"]: one["conversation"]
            for one in (loaded[(place + step) % len(loaded)] for step in range(1, FOREIGN_TO + 1))
        }
        messages = list(locomo_conversation(sample).messages)
        at = max(message.said_at for message in messages if message.said_at) + timedelta(minutes=1)
        with Memory.open(home, bank=f"when-{name}") as memory:
            if not memory.stats().turns:
                memory.add_many(messages)
            memory.flush()
            for one in gold:
                asked = one["question"]
                if one["sample_id"] == name:
                    cases.append(case_of(memory, name, "told", asked, at, one))
                    if (other := of_the_other(asked, people)) is not None:
                        cases.append(case_of(memory, name, "person", other, at))
                elif one["sample_id"] in others:
                    asked = renamed(asked, others[one["sample_id"]], people)
                    cases.append(case_of(memory, name, "foreign", asked, at))
        cases += small_cases(name, messages, [one for one in gold if one["sample_id"] == name], home)
        print(f"{name}: {len(cases)} questions", flush=True)
    return cases


def small_cases(name: str, messages: list[Message], gold: list[dict[str, Any]], home: Path) -> list[Case]:
    """The same of memories of a few sessions: what they were told, and as much that they were not."""
    sessions = list(dict.fromkeys(message.session for message in messages))
    cases = []
    for first in range(0, len(sessions), SMALL):
        part = [message for message in messages if message.session in sessions[first : first + SMALL]]
        ids = {message.id for message in part}
        at = max(message.said_at for message in part if message.said_at) + timedelta(minutes=1)
        here = [one for one in gold if ids.issuperset(one["evidence"])]
        elsewhere = [one for one in gold if ids.isdisjoint(one["evidence"])]
        chosen = random.Random(f"{name} {first}").sample(elsewhere, min(UNTOLD, len(elsewhere)))
        with Memory.open(home, bank=f"when-{name}-{first}") as memory:
            if not memory.stats().turns:
                memory.add_many(part)
            memory.flush()
            cases += [case_of(memory, name, "told_small", one["question"], at, one) for one in here]
            cases += [case_of(memory, name, "untold", one["question"], at, one) for one in chosen]
    return cases


def case_of(
    memory: Memory, name: str, kind: str, question: str, at: datetime, gold: dict[str, Any] | None = None
) -> Case:
    ask = WhenRequest(question, at, memory.zone, reader=memory._bank.reader)
    read = parse(question, at, memory.zone)
    scored = evidence_for(memory._bank.store, memory._bank.plain_embedder, ask, read)
    right = [False] * len(scored.clues)
    cited = [False] * len(scored.clues)
    if gold is not None:
        start, end = (datetime.fromisoformat(gold[side]).replace(tzinfo=UTC) for side in ("start", "end"))
        right = [is_right(clue.interval, start, end) for clue in scored.clues]
        cited = [clue.turn.id in gold["evidence"] for clue in scored.clues]
    rows = [dict(row) for row in scored.rows]
    matrix = np.array(
        [[value for name, value in row.items() if name not in features.TELLING] for row in rows]
    )
    flags = (np.array(right), np.array(cited))
    return Case(name, kind, ask, read, at, list(scored.clues), rows, matrix, *flags, scored.asked)


def renamed(question: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    """The question about the people of another conversation."""
    for side in ("speaker_a", "speaker_b"):
        question = re.sub(rf"\b{re.escape(one[side])}\b", other[side], question)
    return question


def of_the_other(question: str, people: dict[str, Any]) -> str | None:
    """The question about the other of the two speakers; None where it names both, or none."""
    sides = (people["speaker_a"], people["speaker_b"])
    named = [side for side in sides if re.search(rf"\b{re.escape(side)}\b", question)]
    if len(named) != 1:
        return None
    other = sides[1] if named[0] == sides[0] else sides[0]
    return re.sub(rf"\b{re.escape(named[0])}\b", other, question)


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
    signs = np.array([features.SIGNS.get(name, 1) for name in names])
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


def answer(case: Case, names: list[str], weights: Rows, embedder: Embedder) -> tuple[dict[str, float], bool]:
    """The features of the evidence for the chosen interval, and whether that is right."""
    shares = features.probabilities(case.rows, dict(zip(names, weights, strict=True)))
    chosen = choose(weigh(ScoredEvidence(case.clues, case.rows, shares)), case.question, case.at)
    place = next(at for at, clue in enumerate(case.clues) if clue is chosen.clues[0])
    return evidence_features(chosen, case.asked, embedder), bool(case.right[place])


def fit_sure(answered: list[Answered], but: str | None = None) -> dict[str, float]:
    """Logistic regression by Newton's method; a ridge holds each weight where `HELD` says, or at zero."""
    told = [(case.kind, found, correct) for case, found, correct in answered if case.name != but]
    names = list(told[0][1])
    rows = np.array([list(found.values()) for _, found, _ in told])
    truth = np.array([float(correct) for _, _, correct in told])
    count = np.array([NEVER.get(kind, 1.0) for kind, _, _ in told])
    centre = np.array([HELD.get(name, (0.0, 0.0))[0] for name in names])
    ridge = np.diag([0.0 if name == "one" else HELD.get(name, (0.0, LOOSE))[1] for name in names])
    weights = centre
    for _ in range(50):
        chance = 1 / (1 + np.exp(-(rows @ weights).clip(-30, 30)))
        slope = rows.T @ (count * (truth - chance)) - ridge @ (weights - centre)
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


def report(scored: list[tuple[str, float, bool]]) -> dict[str, Any]:
    """Print how sure the answers are and how right, and what each bound would refuse; the figures at the chosen one."""
    told = sorted(((chance, correct) for kind, chance, correct in scored if kind == "told"), reverse=True)
    for share in (0.25, 0.5, 0.75, 1.0):
        part = told[: max(1, round(share * len(told)))]
        print(f"coverage {share:.2f}: precision {np.mean([correct for _, correct in part]):.3f}")
    for low in np.arange(0, 1, 0.2):
        part = [one for one in told if low <= one[0] < low + 0.2]
        if part:
            print(f"confidence {low:.1f}-{low + 0.2:.1f}: {len(part)} answers, "
                  f"mean {np.mean([c for c, _ in part]):.2f}, right {np.mean([r for _, r in part]):.2f}")  # fmt: skip
    bounds = {round(float(bound), 2): figures_at(bound, scored) for bound in np.arange(0.2, 0.51, 0.01)}
    for bound, figures in bounds.items():
        if round(100 * bound) % 5 == 0:
            print(f"from {bound:.2f}: {figures}")
    least = max(bound for bound, figures in bounds.items() if figures["accuracy"] >= LEAST_ACCURACY)
    chosen = {
        "least": least,
        **bounds[least],
        "calibration_error_told": calibration_error([(c, r, 1.0) for c, r in told]),
        "calibration_error": calibration_error([(c, r, NEVER.get(kind, 1.0)) for kind, c, r in scored]),
    }
    print(f"chosen: {chosen}")
    return chosen


def figures_at(bound: float, scored: list[tuple[str, float, bool]]) -> dict[str, Any]:
    """What is answered, how rightly, and what is refused of the questions about what was never told."""
    told = [correct for kind, chance, correct in scored if kind == "told" and chance >= bound]
    refused = {
        f"{name}_refused": round(
            float(np.mean([chance < bound for kind, chance, _ in scored if kind == name])), 4
        )
        for name in NEVER
    }
    small = [correct and chance >= bound for kind, chance, correct in scored if kind == "told_small"]
    return {
        "answered": len(told),
        "accuracy": round(sum(told) / sum(kind == "told" for kind, _, _ in scored), 4),
        "precision": round(float(np.mean(told)), 4),
        "accuracy_small": round(float(np.mean(small)), 4),
        **refused,
    }


def calibration_error(scored: list[tuple[float, bool, float]]) -> float:
    """The mean distance, over tenths of confidence, between how sure the answers are and how often they are right."""
    error = 0.0
    for tenth in range(10):
        part = [one for one in scored if min(int(one[0] * 10), 9) == tenth]
        error += abs(sum(count * (chance - correct) for chance, correct, count in part))
    return round(error / sum(count for _, _, count in scored), 4)


if __name__ == "__main__":
    main()
