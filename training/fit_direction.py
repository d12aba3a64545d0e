"""Which Friday is meant, the last or the coming one: fitted and measured on phrases of our own conversations.

    python training/fit_direction.py [--write]

`directions.jsonl` has 3,169 time phrases of `talk/`, `written/` and `held_out_banks/` that may lie before or after the
moment of saying, with what a reader who saw the conversation and not the engine says is meant. Where the verb is a sure
sign, a part of the phrases was judged, and each stands for `weight` of them. An eighth of the conversations is left out
at a time. What a past verb tells of stays in the past when the next May is nearer: each such phrase is there once more,
with the two changed about (`TURNED`). `--write` keeps the curve of all of them in the package.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from everwhen.when import direction, resolve, resolver
from everwhen.when.reference import TimeRef
from written import read_bank

HERE = Path(__file__).parent
OUT = Path(direction.__file__).with_name("direction.json")
FOLDS, RIDGE, LEAST = 8, 1.0, 4
"""Folds; how strongly weights are held near zero; how often a feature must occur."""
RARE = 3.0
"""The same for the weight of one verb."""
TURNED = 0.6
"""How much a phrase counts whose two times are changed about."""

Features = Mapping[str, float]


@dataclass(frozen=True)
class Phrase:
    bank: str
    found: Features
    ahead: bool
    weight: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    judged = [json.loads(line) for line in (HERE / "directions.jsonl").read_text("utf-8").splitlines()]
    phrases = list(read(judged))
    print(f"{len(phrases)} of {len(judged)} phrases are read, {sum(one.ahead for one in phrases)} lie ahead")
    banks = sorted({one.bank for one in phrases})
    fold = {bank: place % FOLDS for place, bank in enumerate(banks)}
    chances = np.zeros(len(phrases))
    for out in range(FOLDS):
        rest = [one for one in phrases if fold[one.bank] != out]
        weights = fit(rest)
        for place, one in enumerate(phrases):
            if fold[one.bank] == out:
                chances[place] = chance(one.found, weights)
    tell("held out", phrases, (chances >= 0.5).tolist())
    tell("by the nearest verb, back without one", phrases, [_by_verb(one.found) for one in phrases])
    if given.write:
        weights = {name: round(weight, 3) for name, weight in sorted(fit(phrases).items())}
        OUT.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


def tell(what: str, phrases: Sequence[Phrase], ahead: Sequence[bool]) -> None:
    def share(some: Iterator[tuple[bool, float]]) -> float:
        rows = list(some)
        return sum(weight for right, weight in rows if right) / max(1e-9, sum(weight for _, weight in rows))

    rows = [(said == one.ahead, one) for said, one in zip(ahead, phrases, strict=True)]
    parts = {
        "all": share((right, one.weight) for right, one in rows),
        "lying before": share((right, one.weight) for right, one in rows if not one.ahead),
        "without a verb": share((right, one.weight) for right, one in rows if "verb none" in one.found),
        "past verb": share((right, one.weight) for right, one in rows if "verb past" in one.found),
        "past verb, the coming one nearer": share(
            (right, one.weight) for right, one in rows if _nearness(one.found, "past") > 0
        ),
        "talks": share((right, one.weight) for right, one in rows if not one.bank.startswith("written")),
    }
    print(f"{what}: " + ", ".join(f"{name} {value:.3f}" for name, value in parts.items()))


def _by_verb(found: Features) -> bool:
    return "verb none" not in found and "verb past" not in found


def read(judged: Sequence[dict[str, Any]]) -> Iterator[Phrase]:
    """The features of each phrase, as the engine computes them."""
    for one in judged:
        at, text = _turn(one["bank"], one["session"], one["turn"])
        found = _features(text, at).get(one["at"])
        if found is not None:
            yield Phrase(one["bank"], found, one["ahead"], one.get("weight", 1.0))


@cache
def _turn(bank: str, session: int, turn: int) -> tuple[datetime, str]:
    told = _bank(bank)["sessions"][session]
    return datetime.fromisoformat(str(told["at"])).replace(tzinfo=UTC), told["turns"][turn][1]


@cache
def _bank(bank: str) -> dict[str, Any]:
    found, _, _ = read_bank(HERE / f"{bank}.txt")
    return found


@cache
def _features(text: str, at: datetime) -> dict[int, Features]:
    """By where a phrase begins: what its chance would be computed from."""
    seen: dict[int, Features] = {}
    asked: list[Features] = []
    refer = resolver._refer

    def recorded(*given: Any) -> TimeRef | None:
        asked.clear()
        ref = refer(*given)
        if ref is not None and asked:
            seen[ref.span[0]] = asked[-1]
        return ref

    def unsure(found: Features) -> float:
        asked.append(found)
        return 0.5

    with patch.object(resolver, "_refer", recorded), patch.object(resolver, "chance_ahead", unsure):
        resolve(text, at, "UTC", languages=("en",))
    return seen


# The curve


def fit(phrases: Sequence[Phrase]) -> dict[str, float]:
    """A logistic curve with a ridge, by Newton's steps."""
    phrases = [*phrases, *(turned(one) for one in phrases if not one.ahead and "verb past" in one.found)]
    counts = Counter(name for one in phrases for name in one.found)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    rows = np.array([[one.found.get(name, 0.0) for name in names] for one in phrases])
    ahead = np.array([one.ahead for one in phrases], dtype=float)
    weight = np.array([one.weight for one in phrases])
    ridge = np.array([0.01 if name == "one" else RARE if " verb: " in name else RIDGE for name in names])
    out: NDArray[np.float64] = np.zeros(len(names))
    for _ in range(60):
        chances = 1 / (1 + np.exp(-(rows @ out)))
        slope = rows.T @ (weight * (chances - ahead)) + ridge * out
        bend = (rows * (weight * chances * (1 - chances))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        out -= step
        if np.abs(step).max() < 1e-6:
            break
    return dict(zip(names, out.tolist(), strict=True))


def turned(one: Phrase) -> Phrase:
    """As if it had been said when the coming one was as near as the last one was."""
    found = {name: -value if name.startswith("nearer") else value for name, value in one.found.items()}
    return Phrase(one.bank, found, one.ahead, TURNED)


def _nearness(found: Features, verb: str) -> float:
    return sum(
        value for name, value in found.items() if name.startswith("nearer") and name.endswith(f", {verb}")
    )


def chance(found: Features, weights: Mapping[str, float]) -> float:
    return float(1 / (1 + np.exp(-sum(weights.get(name, 0.0) * value for name, value in found.items()))))


if __name__ == "__main__":
    main()
