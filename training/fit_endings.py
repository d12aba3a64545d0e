"""How sure the end of a fact is: fitted and measured on pairs of our own.

    python training/fit_endings.py [--write]

Reads `training/endings.jsonl`: a fact, a later turn, and whether that ends it; half of those that do not are hard. Each
fifth is judged with a curve that was fitted on the others. `--write` keeps the curve of all of them in the package.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import PackagedReader
from everwhen.types import Turn
from everwhen.types.facts import relations
from everwhen.write.changes import ended_facts
from everwhen.write.extract.clauses import timed
from everwhen.write.extract.grammar import parse_uncached

PAIRS = Path(__file__).with_name("endings.jsonl")
OUT = Path(ended_facts.__file__).with_name("fact_endings.json")
FOLDS, RIDGE = 5, 1.0
LEAST = 0.7
"""The chance from which a fact is ended: an end that is not one is worse than one that is missed."""
SAID = datetime(2025, 6, 16, 12, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kinds = {one.name: one for one in relations() if one.ends}
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    pairs = [one for one in pairs if one["relation"] in kinds]
    ends = np.array([one["ends"] for one in pairs])
    read = [_read(PackagedReader(), one, kinds) for one in pairs]
    seen = np.array([one is not None for one in read])
    signs = np.array([one for one in read if one is not None])
    fold = np.random.default_rng(0).integers(0, FOLDS, len(signs))
    chance = np.zeros(len(pairs))
    judged = np.zeros(len(signs))
    for one in range(FOLDS):
        weights = fit(signs[fold != one], ends[seen][fold != one])
        judged[fold == one] = _chance(signs[fold == one], weights)
    chance[seen] = judged
    built = np.array([one is not None and one[-1] > 0 for one in read])  # only these are ever decided
    chance[~built] = 0.0
    print(f"{ends.sum()} of {len(ends)} end a fact; of these {(built & ends).sum()} are built like an end")
    for least in (0.5, 0.6, LEAST, 0.8):
        found = chance >= least
        hit = (found & ends).sum()
        print(f"from {least}: precision {hit / max(found.sum(), 1):.2f}, recall {hit / ends.sum():.2f}")
    if given.write:
        weights = fit(signs, ends[seen])
        held = {
            "weights": [round(float(one), 3) for one in weights[:-1]], "bias": round(float(weights[-1]), 3),
            "least": LEAST,
        }  # fmt: skip
        OUT.write_text(json.dumps(held) + "\n", encoding="utf-8")


def _read(reader: PackagedReader, one: dict[str, Any], kinds: dict[str, Any]) -> tuple[float, ...] | None:
    own, relation = one["who"] == "I", kinds[one["relation"]]
    (parse,) = parse_uncached([one["turn"]])
    turn = Turn("turn", "session", 0, "user", "Kim", one["turn"], SAID, "UTC", SAID)
    shapes = ended_facts.shapes(parse, timed(parse, turn))
    known = ended_facts.KnownFact("Kim" if own else one["who"], relation, one["value"], one["fact"])
    verbs = [one.place for one in shapes if relation.name in ended_facts.relations_ended([one])]
    told = ended_facts.ending(shapes, known, own=own)
    place = told[0].place if told else next(iter(verbs), None)
    if place is None:
        return None
    return ended_facts.read(reader, [(known, own, one["turn"], place, shapes)])[0]


def _chance(signs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-(np.c_[signs, np.ones(len(signs))] @ weights))))


def fit(signs: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A logistic curve by Newton's method, with a ridge; the last weight is the constant."""
    x, y = np.c_[signs, np.ones(len(signs))], right.astype(float)
    weights, ridge = np.zeros(x.shape[1]), np.diag([RIDGE] * signs.shape[1] + [0.0])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (chance - y) + ridge @ weights
        weights -= np.linalg.solve((x.T * (chance * (1 - chance))) @ x + ridge, slope)
    return weights


if __name__ == "__main__":
    main()
