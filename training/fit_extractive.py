"""Fits how sure an answer without a language model is, and from when on it is given at all.

Every question is answered, whatever the signs say, and it is noted whether that was right: of everyday conversations,
whether the answer has the words that it should; of LoCoMo, whether it was read in a turn that the data set names as
evidence (what LoCoMo's category 5 asks of the wrong person, and questions lent from other conversations with this one's
names, have no right answer). A logistic curve over the signs is fitted on both, each weighing the same; every figure is
of conversations that the curve was not fitted on.

    training/fit_extractive.py --everyday dev.json --locomo locomo.json --home FOLDER [--signs FILE] [--write]

`--signs` keeps the signs of every question, so that fitting again takes seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.answer.extractive.answerer import WEIGHED, read_reply
from everwhen.answer.extractive.turn_replies import find_replies
from everwhen.api.memory import Memory
from everwhen.models.comparison import open_reader
from everwhen.recall.question import parse
from everwhen.types.recall import MID
from everwhen_bench.answers.questions import Talk, talks

FIGURES = Path(__file__).parent / "figures/extractive.json"
WEIGHTS = Path(__file__).parents[1] / "src/everwhen/answer/extractive/weights.json"
BY_THE_CALENDAR = ("when", "between", "first", "since", "count")
"""Kinds of question whose answer is computed, not read."""
FOREIGN = 4
"""Questions that each other conversation lends."""
RIDGE = 1.0
LEAST = 0.37
"""Where wrong answers and refusals of what was told cost about the same; the figures show others."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--everyday", type=Path, required=True)
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--signs", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.signs and options.signs.exists():
        made = json.loads(options.signs.read_text("utf-8"))
    else:
        made = [*everyday(options.everyday, options.home), *locomo(options.locomo, options.home)]
        if options.signs:
            options.signs.write_text(json.dumps(made), "utf-8")
    weights, figures = fitted(made)
    kept = {"weights": weights, "least": LEAST, "from": "training/fit_extractive.py"}
    print(json.dumps(kept | {"held_out": figures}, indent=1))
    if options.write:
        rest = json.loads(WEIGHTS.read_text("utf-8"))  # `fit_newer_reply.py` writes its part
        WEIGHTS.write_text(json.dumps(rest | kept, indent=1) + "\n", "utf-8")
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def everyday(path: Path, home: Path) -> Iterator[dict[str, Any]]:
    """The questions of everyday conversations that are read, with their signs and whether the answer is right."""
    sys.path.insert(0, str(path.parent))
    from score import has, words  # the scorer that lies beside the data

    for talk in json.loads(path.read_text("utf-8")):
        with Memory.open(home, bank=talk["id"], zone=talk["zone"]) as memory:
            if not memory.turns():
                for one in talk["messages"]:
                    given = {key: one[key] for key in ("role", "content", "name") if one.get(key)}
                    memory.add([given], session=one["session"], at=datetime.fromisoformat(one["at"]))
                memory.flush()
            for one in talk["checks"]:
                if one["type"] not in ("ask", "yesno", "unknown"):
                    continue
                text, row = _answered(memory, one["q"], datetime.fromisoformat(talk["now"]))
                if row is None:
                    continue
                right = False
                if one["type"] == "yesno":
                    right = words(text).split()[:1] == [one["answer"]]
                elif one["type"] == "ask":
                    right = any(all(has(text, word) for word in entry) for entry in one["accept"])
                    right = right and not any(has(text, word) for word in one.get("reject", []))
                yield row | {"set": "everyday", "talk": talk["id"], "group": one["type"], "right": right}


def locomo(path: Path, home: Path) -> Iterator[dict[str, Any]]:
    """The same of LoCoMo: right is what was read in a turn of the evidence."""
    chance = random.Random(3)
    every = list(talks("locomo", path))
    told = {one["sample_id"]: _evidence(one) for one in json.loads(path.read_text("utf-8"))}
    speakers = {talk.name: sorted({str(one.name) for one in talk.messages}) for talk in every}
    for talk in every:
        evidence = next((texts for name, texts in told.items() if name in talk.name), {})
        at = talk.questions[0].at
        assert at is not None
        asked = [(one.group, one.text) for one in talk.questions]
        for other in every:
            if other.name != talk.name:
                asked += [
                    ("foreign", one)
                    for one in _foreign(other, speakers[other.name], speakers[talk.name], chance)
                ]
        with Memory.open(home, bank=talk.name, extract="none") as memory:
            if not memory.turns():
                memory.add_many(talk.messages)
                memory.flush()
            for group, text in asked:
                _, row = _answered(memory, text, at)
                if row is not None:
                    right = group not in ("5", "foreign") and _is_one_of(row["turn"], evidence.get(text, ()))
                    yield row | {"set": "locomo", "talk": talk.name, "group": group, "right": right}


def _answered(memory: Memory, question: str, at: datetime) -> tuple[str, dict[str, Any] | None]:
    asked = parse(question)
    if asked.kind in BY_THE_CALENDAR:
        return "", None
    found = find_replies(memory, open_reader("reader-2"), asked, at=at, recipe=MID.without("read"))
    if not found.replies:
        return "", None
    text = read_reply(found, found.replies[0], 1.0).text
    return text, {"signs": found.signs(), "kind": asked.kind, "turn": found.replies[0].turn.text}


def _evidence(conversation: dict[str, Any]) -> dict[str, set[str]]:
    """By question, the texts of the turns that bear its answer."""
    said = {
        turn["dia_id"]: turn["text"]
        for name, turns in conversation["conversation"].items()
        if isinstance(turns, list)
        for turn in turns
    }
    return {
        one["question"]: {said[id_] for id_ in one["evidence"] if id_ in said} for one in conversation["qa"]
    }


def _is_one_of(turn: str, evidence: Collection[str]) -> bool:
    """Whether a turn is one of some texts: in a bank it also has what a picture shows, and other blanks."""
    said = " ".join(turn.split())
    return any(said.startswith(" ".join(one.split())) for one in evidence if one.strip())


def _foreign(other: Talk, theirs: Sequence[str], ours: Sequence[str], chance: random.Random) -> list[str]:
    """Questions of another conversation, with our speakers' names."""
    own = [one for one in other.questions if one.group in ("1", "2", "4")]
    chance.shuffle(own)
    lent: list[str] = []
    for question in own:
        text, changed = question.text, 0
        for name, new in zip(theirs, chance.sample(list(ours), len(ours)), strict=False):
            text, times = re.subn(rf"\b{re.escape(name)}\b", new, text)
            changed += times
        if changed and len(lent) < FOREIGN:
            lent.append(text)
    return lent


def fit(x: NDArray[Any], y: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    """A logistic curve with a ridge, by Newton's method; the last number is the constant."""
    x = np.column_stack([x, np.ones(len(x))])
    found = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ found))
        slope = x.T @ (weight * (y - p)) - RIDGE * np.append(found[:-1], 0)
        bend = (x * (weight * p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(x.shape[1])
        found = found + np.linalg.solve(bend, slope)
    return found


def fitted(made: Sequence[dict[str, Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """The weights, and what they are worth on conversations that they were not fitted on."""
    x = np.array([[row["signs"][name] for name in WEIGHED] for row in made])
    y = np.array([float(row["right"]) for row in made])
    sets, talk, group = (np.array([row[key] for row in made]) for key in ("set", "talk", "group"))
    weight = np.zeros(len(y))
    for one in set(sets):
        weight[sets == one] = len(y) / len(set(sets)) / (sets == one).sum()
    sure = np.zeros(len(y))
    for one in sorted(set(talk)):
        found = fit(x[talk != one], y[talk != one], weight[talk != one])
        sure[talk == one] = 1 / (1 + np.exp(-(x[talk == one] @ found[:-1] + found[-1])))
    figures: dict[str, Any] = {}
    for one in sorted(set(sets)):
        mine = sets == one
        figures[one] = {
            "questions": int(mine.sum()),
            "right where answered": {
                str(least): round(float(y[mine & (sure >= least)].mean()), 3)
                for least in (0.3, 0.35, 0.4, 0.5)
            },
            "answered": {
                name: {
                    str(t): round(float((sure[mine & (group == name)] >= t).mean()), 3)
                    for t in (0.3, 0.35, 0.4, 0.5)
                }
                for name in sorted(set(group[mine]))
            },
            "expected calibration error": round(calibration_error(sure[mine], y[mine]), 3),
            "by tenths of confidence": by_tenths(sure[mine], y[mine]),
        }
    found = fit(x, y, weight)
    return dict(zip((*WEIGHED, "constant"), (round(float(one), 4) for one in found), strict=True)), figures


def by_tenths(sure: NDArray[Any], right: NDArray[Any]) -> list[list[float]]:
    """The mean confidence, how often it came true, and of how many questions; for each tenth that has some."""
    tenth = np.clip((sure * 10).astype(int), 0, 9)
    return [
        [round(float(sure[own].mean()), 3), round(float(right[own].mean()), 3), int(own.sum())]
        for own in (tenth == one for one in range(10))
        if own.any()
    ]


def calibration_error(sure: NDArray[Any], right: NDArray[Any]) -> float:
    """How far, on average, a chance is from how often it comes true, in tenths."""
    tenth = np.clip((sure * 10).astype(int), 0, 9)
    return float(
        sum(
            abs(sure[tenth == one].mean() - right[tenth == one].mean()) * (tenth == one).mean()
            for one in range(10)
            if (tenth == one).any()
        )
    )


if __name__ == "__main__":
    main()
