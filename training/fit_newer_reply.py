"""Fits when a later reply replaces an earlier one in an answer without a language model.

Of each question of `benchmarks/fit/newer.json` the replies are read as `ask` reads them; every later reply is held
against the best one. It replaces it where it has what holds now and the best one has not; in the controls nothing
does. A logistic curve over `replacing_signs`; the figures are of conversations that it was not fitted on.

    training/fit_newer_reply.py --home FOLDER [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from everwhen.agent.extractive.newer_reply import replacing_signs
from everwhen.agent.extractive.reply import TurnReply, told_at, weight
from everwhen.agent.extractive.turn_replies import find_replies
from everwhen.memory import Memory
from everwhen.models.reader import Reader, open_reader
from everwhen.question import parse
from fit_extractive import WEIGHTS, fit

CASES = Path(__file__).parents[1] / "benchmarks/fit/newer.json"
FIGURES = Path(__file__).parent / "figures/newer_reply.json"
SIGNS = ("renews", "above", "alike", "numbers", "same_speaker")


@dataclass(frozen=True, slots=True)
class Case:
    talk: str
    control: bool
    now: bool
    """Whether what `ask` puts first today is right."""
    first: bool
    """Whether the best reply is right."""
    later: Sequence[tuple[Mapping[str, float], bool]]
    """The signs of each later reply, and whether it is right."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    reader = open_reader("reader-2")
    assert reader is not None
    cases = list(read_cases(options.home, reader))
    held_out = [
        (case, picked(case, fitted([one for one in cases if one.talk != case.talk]))) for case in cases
    ]
    figures: dict[str, float] = {}
    for name, control in (("replaced", False), ("controls", True)):
        of_it = [(case, right) for case, right in held_out if case.control == control]
        figures |= {
            name: len(of_it),
            f"{name}_right": sum(right for _, right in of_it),
            f"{name}_shipped": sum(case.now for case, _ in of_it),
        }
    weights = fitted(cases)
    print(json.dumps({"replaces": weights, "held_out": figures}, indent=1))
    if options.write:
        kept = json.loads(WEIGHTS.read_text("utf-8")) | {"replaces": weights}
        WEIGHTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def read_cases(home: Path, reader: Reader) -> Iterator[Case]:
    for talk in json.loads(CASES.read_text("utf-8"))["conversations"]:
        with Memory.open(home, bank=talk["id"], zone=talk["zone"]) as memory:
            if not memory.turns():
                for number, one in enumerate(talk["messages"]):
                    given = {key: one[key] for key in ("role", "content", "name", "session") if one.get(key)}
                    memory.add([given | {"id": f"t{number}"}], at=datetime.fromisoformat(one["at"]))
                memory.flush()
            for question in talk["questions"]:
                at = datetime.fromisoformat(talk["now"])
                found = find_replies(memory, reader, parse(question["q"], at, memory.zone), at=at)
                yield case_of(talk["id"], question, found.replies, reader)


def case_of(talk: str, question: dict[str, Any], replies: Sequence[TurnReply], reader: Reader) -> Case:
    right = {f"t{number}" for number in question["evidence"]}
    control = bool(question.get("control"))
    if not replies:
        return Case(talk, control, False, False, ())
    best = max(replies, key=weight)
    later = [one for one in replies if told_at(one) > told_at(best)]
    renews = reader.renews(question["q"], [(best.passage, one.passage) for one in later]) if later else []
    signs = [
        (replacing_signs(best, one, replies, float(logit)), one.turn.id in right)
        for one, logit in zip(later, renews, strict=True)
    ]
    return Case(talk, control, replies[0].turn.id in right, best.turn.id in right, signs)


def fitted(cases: Sequence[Case]) -> dict[str, float]:
    pairs = [
        (signs, right and not case.first and not case.control)
        for case in cases
        for signs, right in case.later
    ]
    rows = np.array([[signs[name] for name in SIGNS] for signs, _ in pairs])
    spread = rows.std(axis=0) + 1e-9
    found = fit(rows / spread, np.array([float(right) for _, right in pairs]), np.ones(len(rows)))
    weights = dict(zip(SIGNS, (found[:-1] / spread).tolist(), strict=True)) | {"constant": float(found[-1])}
    return {name: round(value, 4) for name, value in weights.items()}


def picked(case: Case, weights: Mapping[str, float]) -> bool:
    """Whether the reply is right that comes first by these weights."""
    odds = [
        weights["constant"] + sum(weights[name] * signs[name] for name in SIGNS) for signs, _ in case.later
    ]
    if not odds or max(odds) <= 0:
        return case.first
    return case.later[odds.index(max(odds))][1]


if __name__ == "__main__":
    main()
