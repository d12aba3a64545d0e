"""Fits the weights with which an extractive answer decides whether the memory holds an answer at all.

Positives are the questions of LoCoMo that have an answer (categories 1 to 4). Negatives are of two kinds: category 5
(what somebody else did or said), and questions of the other conversations with the names changed to this one's speakers
(what nobody ever spoke of). Both kinds weigh the same, and together as much as the positives. A sign can count one way
only, so that one kind of negative does not teach that unheard words are a good thing. Cross-validated by conversation.

    scripts/fit_extractive.py --data locomo.json --home FOLDER [--signs FILE] [--write]

`--signs` keeps the signs of every question, so that fitting again takes seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from everwhen.agent.extractive.abstaining import NAMELESS, SIGNS, signs
from everwhen.agent.extractive.evidence import look
from everwhen.agent.extractive.kinds import read_kind
from everwhen.bench.answers.questions import Talk, talks
from everwhen.bench.metrics import auroc
from everwhen.memory import Memory

WEIGHTS = Path(__file__).parents[1] / "src/everwhen/agent/extractive/weights.json"
WAYS = {"unheard": -1, "swapped": -1}
"""Which way a sign may count: against an answer; all others for one."""
FOREIGN = 9
"""Questions that each other conversation lends."""
RIDGE = 1.0
STEPS, RATE = 4000, 0.05


def rows(path: Path, home: Path) -> Iterator[dict[str, Any]]:
    """The signs of every question, asked of its own conversation or of another one."""
    chance = random.Random(3)
    every = list(talks("locomo", path))
    speakers = {talk.name: sorted({str(one.name) for one in talk.messages}) for talk in every}
    for talk in every:
        at = talk.questions[0].at
        assert at is not None
        asked = [(one.id, one.group, one.text, one.answerable) for one in talk.questions]
        for other in every:
            if other.name != talk.name:
                asked += list(_foreign(other, speakers[other.name], speakers[talk.name], chance))
        with Memory.open(home, bank=talk.name, extract="rules") as memory:
            memory.add_many(talk.messages)
            memory.flush()
            for name, group, text, answerable in asked:
                found = look(memory, read_kind(text), at=at)
                yield {
                    "id": name, "group": group, "talk": talk.name, "kind": found.asked.kind,
                    "answerable": answerable, "signs": signs(found),
                }  # fmt: skip


def _foreign(
    other: Talk, theirs: Sequence[str], ours: Sequence[str], chance: random.Random
) -> list[tuple[str, str, str, bool]]:
    """Questions of another conversation, with our speakers' names."""
    own = [one for one in other.questions if one.group in ("1", "2", "4")]
    chance.shuffle(own)
    lent: list[tuple[str, str, str, bool]] = []
    for question in own:
        text, changed = question.text, 0
        for name, new in zip(theirs, chance.sample(list(ours), len(ours)), strict=False):
            text, times = re.subn(rf"\b{re.escape(name)}\b", new, text)
            changed += times
        if changed and len(lent) < FOREIGN:
            lent.append((f"{question.id} elsewhere", "foreign", text, False))
    return lent


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """A logistic with a ridge, by gradient steps that are cut where a sign would count the wrong way."""
    way = np.array([WAYS.get(name, 1) for name in names] + [0])
    given = np.hstack([x, np.ones((len(x), 1))])
    found = np.zeros(given.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-given @ found))
        slope = given.T @ (weight * (p - y)) / weight.sum() + RIDGE / len(x) * np.r_[found[:-1], 0]
        found -= RATE * slope * 10
        found = np.where((way != 0) & (found * way < 0), 0, found)
    return found


def balance(group: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Answerable ones weigh as much as all others together, and each kind of these the same."""
    weight = np.zeros(len(y))
    weight[y == 1] = 0.5 / max(1, (y == 1).sum())
    kinds = [one for one in ("5", "foreign") if (group == one).any()]
    for one in kinds:
        weight[group == one] = 0.5 / len(kinds) / (group == one).sum()
    return weight * len(y)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--signs", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.signs and options.signs.exists():
        made = json.loads(options.signs.read_text("utf-8"))
    else:
        made = list(rows(options.data, options.home))
        if options.signs:
            options.signs.write_text(json.dumps(made), "utf-8")
    kept = json.loads(WEIGHTS.read_text("utf-8")) if WEIGHTS.exists() else {}
    kept |= {"from": "scripts/fit_extractive.py, LoCoMo dev, held out by conversation"}
    # Where nobody is named, nobody can be taken for somebody else: only what nobody spoke of is to be told apart.
    kept["named"], kept["held_out"] = fitted(made, SIGNS, ("5", "foreign"))
    kept["nameless"], kept["held_out_nameless"] = fitted(made, NAMELESS, ("foreign",))
    print(json.dumps(kept, indent=1))
    if options.write:
        WEIGHTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def fitted(
    made: Sequence[dict[str, Any]], names: Sequence[str], against: Sequence[str]
) -> tuple[dict[str, float], dict[str, Any]]:
    """The weights, and what they are worth on conversations that they were not fitted on."""
    made = [row for row in made if row["answerable"] or row["group"] in against]
    x = np.array([[row["signs"][name] for name in names] for row in made])
    y = np.array([float(row["answerable"]) for row in made])
    group, talk, kind = (np.array([row[key] for row in made]) for key in ("group", "talk", "kind"))
    weight = balance(group, y)
    held_out = np.zeros(len(y))
    for one in sorted(set(talk)):
        rest = talk != one
        found = fit(x[rest], y[rest], weight[rest], names)
        held_out[~rest] = 1 / (1 + np.exp(-(x[~rest] @ found[:-1] + found[-1])))
    figures: dict[str, Any] = {"questions": len(made)}
    for one in against:
        figures[f"auroc against {one}"] = round(
            auroc(list(held_out[y == 1]), list(held_out[group == one])) or 0, 3
        )
    for least in (0.3, 0.4, 0.5, 0.6):
        figures[f"answered from {least}"] = {
            one: round(float((held_out[group == one] >= least).mean()), 3) for one in sorted(set(group))
        }
    when = held_out[(kind == "when") & (y == 1)]
    figures["when, answered from"] = {
        str(t): round(float((when >= t).mean()), 3) for t in (0.05, 0.1, 0.2, 0.3)
    }
    found = fit(x, y, weight, names)
    return dict(zip((*names, "constant"), (round(float(one), 4) for one in found), strict=True)), figures


if __name__ == "__main__":
    main()
