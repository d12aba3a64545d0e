"""Fits when a later reply replaces an earlier one in an answer without a language model.

Of each question of `benchmarks/fit/newer.json` the replies are read as `ask` reads them; every later reply is held
against the best one. It replaces it where it has what holds now and the best one has not; in the controls nothing
does. So are those of everyday conversations (`--everyday`, several times), where most later replies are of something
else. A logistic curve over `replacing_signs`; the figures are of conversations that it was not fitted on.

    training/fit_newer_reply.py --scorer FOLDER --everyday dev.json [--everyday …] --home FOLDER [--write]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from everwhen.answer.extractive.reply import TurnReply, stated_reply, told_at, weight
from everwhen.answer.extractive.turn_replies import find_replies
from everwhen.api.memory import Memory
from everwhen.models.comparison import Reader, open_reader
from everwhen.recall.question import parse
from everwhen.write.changes.newer_answers import replacing_signs
from fit_extractive import WEIGHTS, fit

CASES = Path(__file__).parents[1] / "benchmarks/fit/newer.json"
FIGURES = Path(__file__).parent / "figures/newer_reply.json"
SIGNS = ("renews", "above", "alike", "numbers", "same_speaker", "same_session", "days", "shared")
READ = ("amount", "who", "where", "why", "name", "what")
"""Kinds of question of everyday conversations that take part: their answers are words of a turn."""
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Case:
    talk: str
    group: str
    """`replaced`, `controls`, or `everyday`."""
    now: bool
    """Whether what `ask` puts first today is right."""
    first: bool
    """Whether the best reply is right."""
    later: Sequence[tuple[Mapping[str, float], bool]]
    """The signs of each later reply, and whether it is right."""

    @property
    def pairs(self) -> Iterator[tuple[Mapping[str, float], bool]]:
        """The signs of what is to replace the best reply, or not to; where both are right, either may come first."""
        for signs, right in self.later:
            replaces = right and not self.first and self.group != "controls"
            if replaces or not right or self.group != "everyday":
                yield signs, replaces


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scorer", type=Path, required=True, help="the folder of score.py")
    parser.add_argument("--everyday", type=Path, action="append", required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    reader = open_reader("reader-2")
    assert reader is not None
    sys.path.insert(0, str(options.scorer))
    cases = list(read_cases(options.home, reader))
    for path in options.everyday:
        cases += read_everyday(path, options.home, reader)
    fold = {talk: place % FOLDS for place, talk in enumerate(sorted({case.talk for case in cases}))}
    held_out: list[tuple[Case, bool]] = []
    for out in range(FOLDS):
        weights = fitted([case for case in cases if fold[case.talk] != out])
        held_out += [(case, picked(case, weights)) for case in cases if fold[case.talk] == out]
    figures: dict[str, float] = {}
    for name in ("replaced", "controls", "everyday"):
        of_it = [(case, right) for case, right in held_out if case.group == name]
        figures |= {
            name: len(of_it),
            f"{name}_right": sum(right for _, right in of_it),
            f"{name}_shipped": sum(case.now for case, _ in of_it),
            f"{name}_never": sum(case.first for case, _ in of_it),
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
                replies = find_replies(memory, reader, parse(question["q"], at, memory.zone), at=at).replies
                told = [f"t{number}" for number in question["evidence"]]
                right = [one.turn.id in told for one in replies]
                group = "controls" if question.get("control") else "replaced"
                yield case_of(talk["id"], group, question["q"], replies, right, reader)


def read_everyday(path: Path, home: Path, reader: Reader) -> Iterator[Case]:
    """Questions about everyday conversations: a reply is right by its words."""
    from score import has  # the scorer that lies beside the data

    for talk in json.loads(path.read_text("utf-8")):
        name = f"{path.parent.name}-{path.stem}-{talk['id']}"
        with Memory.open(home, bank=name, zone=talk["zone"], extract="none") as memory:
            if not memory.turns():
                for one in talk["messages"]:
                    given = {key: one[key] for key in ("role", "content", "name", "session") if one.get(key)}
                    memory.add([given], at=datetime.fromisoformat(one["at"]))
            at = datetime.fromisoformat(talk["now"])
            for check in talk["checks"]:
                if "accept" not in check or parse(check["q"]).kind not in READ:
                    continue
                replies = find_replies(memory, reader, parse(check["q"], at, memory.zone), at=at).replies
                right = [
                    any(all(has(one.words, word) for word in entry) for entry in check["accept"])
                    and not any(has(one.words, word) for word in check.get("reject", ()))
                    for one in replies
                ]
                yield case_of(name, "everyday", check["q"], replies, right, reader)


def case_of(
    talk: str, group: str, question: str, replies: Sequence[TurnReply], right: Sequence[bool], reader: Reader
) -> Case:
    if not replies:
        return Case(talk, group, False, False, ())
    is_right = dict(zip([id(one) for one in replies], right, strict=True))
    stated = {id(one): stated_reply(one) for one in replies}
    best = max(replies, key=weight)
    later = [one for one in replies if told_at(one) > told_at(best)]
    renews = reader.renews(question, [(best.passage, one.passage) for one in later]) if later else []
    signs = [
        (replacing_signs(stated[id(best)], stated[id(one)], stated.values(), float(logit)), is_right[id(one)])
        for one, logit in zip(later, renews, strict=True)
    ]
    return Case(talk, group, right[0], is_right[id(best)], signs)


def fitted(cases: Sequence[Case]) -> dict[str, float]:
    pairs = [pair for case in cases for pair in case.pairs]
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
