"""Which Friday is meant, the last or the coming one: fitted and measured on phrases of our own conversations.

    python training/fit_direction.py [--write]

`directions.jsonl` has 3,169 time phrases of `written/`, `talk/` and `held_out_banks/` that may lie before or after the
moment of saying, with what a reader who saw the conversation and not the engine says is meant. Where a verb surely
looks ahead, a part of the phrases was judged, and each stands for `weight` of them. The curve decides where no verb
tells and, with reserve, where one is in the past; the verb decides the others. An eighth of the conversations is left
out at a time. What a past verb tells of stays in the past when the next May is nearer: each such phrase is there once
more, with the two changed about (`TURNED`). Of days, only where the verb stands right beside it: of another day eleven
months ago one says the year. `--write` keeps the curve of all of them in the package.
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

from everwhen_time import resolve, resolver, tense
from everwhen_time.resolver import TimeRef
from written import read_bank

HERE = Path(__file__).parent
OUT = Path(tense.__file__).with_name("direction.json")
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
    found: Features | None
    """None where the verb decides."""
    by_verb: bool
    """Whether the verb alone puts it ahead."""
    ahead: bool
    weight: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    judged = [json.loads(line) for line in (HERE / "directions.jsonl").read_text("utf-8").splitlines()]
    phrases = list(read(judged))
    asked = sum(one.found is not None for one in phrases)
    print(f"{len(phrases)} of {len(judged)} phrases are read; the curve is asked of {asked}")
    banks = sorted({one.bank for one in phrases})
    fold = {bank: place % FOLDS for place, bank in enumerate(banks)}
    placed = [one.by_verb for one in phrases]
    for out in range(FOLDS):
        weights = fit([one for one in phrases if fold[one.bank] != out])
        for place, one in enumerate(phrases):
            if fold[one.bank] == out and one.found is not None:
                placed[place] = is_ahead(one.found, weights)
    tell("held out", phrases, placed)
    tell("by the verb, back without one", phrases, [one.by_verb for one in phrases])
    tell("by the verb, ahead without one", phrases, [one.by_verb or not _has_verb(one) for one in phrases])
    if given.write:
        weights = {name: round(weight, 3) for name, weight in sorted(fit(phrases).items())}
        OUT.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


def tell(what: str, phrases: Sequence[Phrase], ahead: Sequence[bool]) -> None:
    def share(some: Iterator[tuple[bool, float]]) -> float:
        rows = list(some)
        return sum(weight for right, weight in rows if right) / max(1e-9, sum(weight for _, weight in rows))

    rows = [(said == one.ahead, one) for said, one in zip(ahead, phrases, strict=True)]
    parts = {
        "all": rows,
        "lying before": [row for row in rows if not row[1].ahead],
        "without a verb": [row for row in rows if not _has_verb(row[1])],
        "without a verb, lying before": [row for row in rows if not _has_verb(row[1]) and not row[1].ahead],
        "past verb": [row for row in rows if row[1].found and "verb past" in row[1].found],
        "talks": [row for row in rows if not row[1].bank.startswith("written")],
    }
    shares = (
        f"{name} {share((right, one.weight) for right, one in some):.3f}" for name, some in parts.items()
    )
    print(f"{what}: " + ", ".join(shares))


def is_ahead(found: Features, weights: Mapping[str, float]) -> bool:
    """As `resolver` decides."""
    open_ = "verb past" not in found or tense.is_arranged(found)
    return chance(found, weights) >= (0.5 if open_ else resolver._AGAINST_VERB)


def _has_verb(one: Phrase) -> bool:
    return one.found is None or "verb none" not in one.found


def read(judged: Sequence[dict[str, Any]]) -> Iterator[Phrase]:
    """The features of each phrase, as the engine computes them, and where the verb alone puts it."""
    for one in judged:
        at, text = _turn(one["bank"], one["session"], one["turn"])
        found, sides = _features(text, at), _sides(text, at)
        if one["at"] in sides:
            yield Phrase(
                one["bank"], found.get(one["at"]), sides[one["at"]], one["ahead"], one.get("weight", 1.0)
            )


@cache
def _sides(text: str, at: datetime) -> dict[int, bool]:
    """By where a phrase begins: whether its verb puts it ahead."""
    by_verb = resolve(text, at, "UTC", languages=("en",), question=True)
    ahead = {one.span: one.interval for one in resolve(text, at, "UTC", tense="future", languages=("en",))}
    return {one.span[0]: one.interval == ahead.get(one.span) for one in by_verb}


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
    asked = [(one.found, one.ahead, one.weight) for one in phrases if one.found is not None]
    asked += [(turned(found), False, TURNED) for found, ahead, _ in asked if not ahead and _may_turn(found)]
    counts = Counter(name for found, _, _ in asked for name in found)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    rows = np.array([[found.get(name, 0.0) for name in names] for found, _, _ in asked])
    ahead = np.array([one for _, one, _ in asked], dtype=float)
    weight = np.array([one for _, _, one in asked])
    ridge = np.array(
        [0.01 if name == "one" else RARE if name.startswith("past verb: ") else RIDGE for name in names]
    )
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


def _may_turn(found: Features) -> bool:
    """Whether a past verb tells of it; of a day, only where it does so right beside it: "we married on 3 June"."""
    beside = found.get("led by on") and found.get("past verb in the clause")
    return "verb past" in found and ("a year, of a day apart" not in found or bool(beside))


def turned(found: Features) -> Features:
    """As if it had been said when the coming one was as near as the last one was."""
    return {name: -value if name.startswith("nearer") else value for name, value in found.items()}


def chance(found: Features, weights: Mapping[str, float]) -> float:
    return float(1 / (1 + np.exp(-sum(weights.get(name, 0.0) * value for name, value in found.items()))))


if __name__ == "__main__":
    main()
