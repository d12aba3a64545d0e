"""How sure a fact is that the reader finds: fitted and measured on conversations that it has not learned from.

    python training/fit_reader_statements.py [--write]

Reads `training/held_out_banks`. Prints precision and recall of (relation, value), and of those how often subject and
status are right; each conversation is judged with a curve that was fitted on the others. `--write` keeps the curve of
all of them in the package. What is very likely wrong is left out; the rest is judged by `fit_fact_chance.py`'s curve.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import PackagedReader, Passage
from everwhen.types.facts import relations
from everwhen.write.extract import stated_facts
from facts import value_place
from written import place_in, read_bank

FOLDER = Path(__file__).with_name("held_out_banks")
OUT = Path(stated_facts.__file__).with_name("reader_statements.json")


RELATIONS = [one.name for one in relations()]
LEAST = 0.2
"""The chance from which something is looked at: of those between it and 0.25 one in four is a fact."""
SHY = 0.5
"""How much a relation's own constant counts beside the other weights: few of its values are known."""

Judged = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], int]
"""Signs of all that was found and its relation, whether each is right, whether its subject and status are; how many
were told."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, help="of another reader")
    given = parser.parse_args()
    reader = PackagedReader(folder=given.folder) if given.folder else PackagedReader()
    banks = []
    for path in sorted(FOLDER.glob("*.txt")):
        banks.append(judged(reader, path))
        print(path.stem, f"{len(banks[-1][0])} found, {banks[-1][3]} told", flush=True)
    report(banks, given.write)


def judged(reader: PackagedReader, path: Path) -> Judged:
    bank, _, _ = read_bank(path)
    said = [
        (
            number,
            place,
            Passage(speaker, text, ": ".join(session["turns"][place - 1])[-160:] if place else ""),
        )
        for number, session in enumerate(bank["sessions"])
        for place, (speaker, text) in enumerate(session["turns"])
    ]
    found: list[tuple[float, ...]] = []
    right: list[bool] = []
    whole: list[tuple[bool, bool]] = []
    for (number, place, passage), several in zip(
        said, stated_facts.proposals(reader, [one for _, _, one in said]), strict=True
    ):
        facts = [one for one in (*bank["facts"], *bank["told too"]) if one["place"] == [number, place]]
        for one in several:
            same = [
                fact for fact in facts
                if fact["relation"] == one.relation.name
                and overlaps(one.place, value_place(fact, passage.speaker, passage.text), passage.speaker)
            ]  # fmt: skip
            subject = passage.text[slice(*one.reading.span)]
            (status,) = stated_facts.statuses(reader, [(passage, one.relation, subject, one.reading.status)])
            found.append((*one.signs, *(SHY * (name == one.relation.name) for name in RELATIONS)))
            right.append(bool(same))
            whole.append(
                (
                    any(is_subject(subject, fact.get("subject", subject)) for fact in same),
                    any(fact.get("status") in (None, status) for fact in same),
                )
            )
    told = {(fact["relation"], fact["value"], *fact["place"]) for fact in (*bank["facts"], *bank["told too"])}
    return (
        np.array(found),
        np.array(right, bool),
        np.array(whole, bool).reshape(-1, 2),
        len(told),
    )


def overlaps(place: tuple[int, int], value: tuple[int, int], speaker: str) -> bool:
    shift = len(speaker) + 2
    return place[0] + shift < value[1] and value[0] < place[1] + shift


def is_subject(found: str, noted: str) -> bool:
    """The same words, or both the speaker."""
    mine = {"", "i", "my", "me", "we", "our", "us", "i'm", "im", "mine"}
    a, b = found.lower().strip(" ,."), noted.lower()
    return (a in mine and b in mine) or bool(a and b and (place_in(a, b) or place_in(b, a)))


def fit(signs: NDArray[np.float64], right: NDArray[np.bool_], ridge: float = 1.0) -> NDArray[np.float64]:
    """A logistic curve by Newton's method; the last weight is the constant."""
    x = np.column_stack([signs, np.ones(len(signs))])
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (right - p) - ridge * np.append(w[:-1], 0)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        w = w + np.linalg.solve(hessian, gradient)
    return w


def report(banks: list[Judged], write: bool) -> None:
    chances = []
    for held in range(len(banks)):
        others = [bank for number, bank in enumerate(banks) if number != held]
        w = fit(np.concatenate([b[0] for b in others]), np.concatenate([b[1] for b in others]))
        chances.append(1 / (1 + np.exp(-(banks[held][0] @ w[:-1] + w[-1]))))
    sure, right = np.concatenate(chances), np.concatenate([b[1] for b in banks])
    whole, told = np.concatenate([b[2] for b in banks]), sum(b[3] for b in banks)
    for least in np.arange(0.2, 0.9, 0.05):
        kept = sure >= least
        precision, recall = right[kept].mean(), right[kept].sum() / told
        score = 2 * precision * recall / (precision + recall)
        subject, status = whole[kept & right].mean(0)
        print(
            f"least {least:.2f}: precision {precision:.3f} recall {recall:.3f} F1 {score:.3f}; of those right subject "
            f"{subject:.3f} status {status:.3f}; {kept.sum()} kept of {len(kept)}"
        )
    bins = np.clip((sure * 10).astype(int), 0, 9)
    error = sum(
        abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
        for b in range(10)
        if (bins == b).any()
    )
    print(f"expected calibration error {error:.3f}")
    if write:
        *weights, bias = fit(np.concatenate([b[0] for b in banks]), right).tolist()
        signs, each = weights[: -len(RELATIONS)], weights[-len(RELATIONS) :]
        fitted = {
            "weights": [round(one, 4) for one in signs],
            "bias": round(bias, 4),
            "least": LEAST,
            "relations": {
                name: round(SHY * one, 4)
                for name, one in zip(RELATIONS, each, strict=True)
                if abs(one) > 1e-6
            },
            "from": "training/fit_reader_statements.py",
        }
        OUT.write_text(json.dumps(fitted, indent=1) + "\n")


if __name__ == "__main__":
    main()
