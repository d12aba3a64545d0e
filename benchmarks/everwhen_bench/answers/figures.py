"""The figures of an answer bench: means with bootstrap intervals, differences to everwhen, spread over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import pstdev
from typing import Any

from everwhen.recall.question import parse
from everwhen_bench import metrics
from everwhen_bench.answers.questions import AnswerQuestion
from everwhen_bench.answers.scores import rouge_l, says_not_known, token_f1
from everwhen_bench.retrieval import figure

BESIDE = "everwhen"
"""The system to which the others' differences are told."""
FIGURES = ("f1", "rouge_l", "right")


@dataclass(frozen=True, slots=True)
class Line:
    """One answer and what it is worth; where nothing is known, only saying so is worth anything."""

    question: str
    group: str
    kind: str
    """What the question asks for, as `everwhen.recall.question` reads it."""
    system: str
    run: int
    answer: str
    f1: float
    rouge_l: float
    right: bool | None
    abstained: bool

    @classmethod
    def scored(cls, question: AnswerQuestion, system: str, run: int, answer: str, right: bool | None) -> Line:
        abstained = says_not_known(answer)
        if question.answerable:
            f1, rouge = token_f1(answer, question.gold), rouge_l(answer, question.gold)
        else:
            f1 = rouge = float(abstained)
        kind = parse(question.text).kind
        return cls(question.id, question.group, kind, system, run, answer, f1, rouge, right, abstained)


def figures(lines: Sequence[Line], judge: str, spent: Mapping[str, Any]) -> dict[str, Any]:
    """A row for each system, what each phase cost, and the lines behind it."""
    names = list(dict.fromkeys(line.system for line in lines))
    base = [line for line in lines if line.system == BESIDE]
    return {
        "systems": {name: _row([line for line in lines if line.system == name], base) for name in names},
        "spent": dict(spent),
        "runs": [asdict(line) for line in lines],
    }


def _row(lines: Sequence[Line], base: Sequence[Line]) -> dict[str, Any]:
    row: dict[str, Any] = {"abstained": figure(metrics.mean([float(line.abstained) for line in lines]))}
    for key in FIGURES:
        if any(getattr(line, key) is None for line in lines):
            row[key] = None
            continue
        values = _by_question(lines, key)
        row[key] = {
            "value": figure(metrics.mean(list(values.values()))),
            "interval_95": [figure(side) for side in metrics.bootstrap(list(values.values()))],
            "spread": figure(_spread(lines, key)),
            "by_group": _by("group", lines, key),
            "by_kind": _by("kind", lines, key),
        }
        other = _by_question(base, key) if base else {}
        shared = [values[one] - other[one] for one in values if one in other]
        if shared and lines[0].system != BESIDE:
            row[key]["difference"] = figure(metrics.mean(shared))
            row[key]["difference_95"] = [figure(side) for side in metrics.paired_bootstrap(shared)]
    return row


def _by(what: str, lines: Sequence[Line], key: str) -> dict[str, float | None]:
    """The mean of each group or kind."""
    names = sorted({str(getattr(line, what)) for line in lines})
    parts = {name: [line for line in lines if getattr(line, what) == name] for name in names}
    return {
        name: figure(metrics.mean(list(_by_question(part, key).values()))) for name, part in parts.items()
    }


def _by_question(lines: Sequence[Line], key: str) -> dict[str, float]:
    """The mean over runs, so that a question counts once however often it was asked."""
    values: dict[str, list[float]] = {}
    for line in lines:
        values.setdefault(line.question, []).append(float(getattr(line, key)))
    return {question: metrics.mean(several) for question, several in values.items()}


def _spread(lines: Sequence[Line], key: str) -> float:
    """The standard deviation of the runs' means; 0 of one run."""
    runs = sorted({line.run for line in lines})
    return pstdev(
        [metrics.mean([float(getattr(one, key)) for one in lines if one.run == run]) for run in runs]
    )
