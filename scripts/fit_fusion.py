"""Fit the weights of the learned fusion (`recall/weights.json`) on the development data, and say what they are worth.

Two steps, because the first is slow and the second is what one repeats:

    python scripts/fit_fusion.py collect --locomo FILE --longmemeval FILE --home FOLDER --out FEATURES.npz
    python scripts/fit_fusion.py fit FEATURES.npz … [--write]

`collect` asks every question of a fresh bank and keeps the features of its candidates. `fit` minimises the listwise
loss `- mean over the evidence e of log softmax(w x)_e` with an L2 penalty, once for each fold with that fold left out
(a LoCoMo conversation, a fifth of the LongMemEval questions), which gives the figures, and once on everything, which
gives the weights that ship. Numbers only: no text of the data is kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.bench import metrics
from everwhen.bench.locomo import ADVERSARIAL, evidence
from everwhen.bench.longmemeval import ABSTENTION
from everwhen.ingest.importers import locomo, longmemeval
from everwhen.ingest.remember import Placement, remember
from everwhen.models.embed import Embedder, open_embedder
from everwhen.models.embed.cache import CachedEmbedder
from everwhen.recall import Request
from everwhen.recall.answerable import signs
from everwhen.recall.features import features
from everwhen.recall.fuse import WEIGHTS
from everwhen.recall.pipeline import gather
from everwhen.settings import Settings
from everwhen.store import Filter, Store
from everwhen.store.sqlite import SqliteStore
from everwhen.types import Message

KINDS = frozenset({"turn", "fact"})
RIDGE = 10.0
FOLDS = 5
LONGMEMEVAL_WEIGHT = 3.0
"""A question of LongMemEval counts as three: there are six times as many of LoCoMo."""
MAXSIM_ONLY = ("maxsim", "maxsim_telling", "maxsim_rank", "weakest_half", "best_word", "session_maxsim")


@dataclass(slots=True)
class Case:
    """A question with its candidates: what is known of each, and which are evidence."""

    group: str
    fold: int
    data: str
    category: str
    answerable: bool
    columns: NDArray[np.float32]
    gold: NDArray[np.bool_]
    missed: int
    """Evidence that is not among the candidates."""
    sessions: NDArray[np.int64]
    gold_sessions: frozenset[int]
    signs: NDArray[np.float32]


# Collecting


def collect(args: argparse.Namespace) -> None:
    embedder: Embedder = open_embedder("minilm")
    args.home.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(embedder, args.home / "cache.db", 300_000)
    cases, names, sign_names = [], [], []
    for fold, group, data, category, known, query, at, store, gold, sessions in _questions(args, embedder):
        gathered = gather(store, embedder.inner, Request(query, at=at, where=Filter(kinds=KINDS)), {})
        if gathered.pool is None:
            continue
        columns = features(gathered.pool)
        said = signs(gathered.pool)
        names, sign_names = names or sorted(columns), sign_names or sorted(said)
        ids = [row.id for row in gathered.pool.rows]
        codes = {name: code for code, name in enumerate(sorted({row.session for row in gathered.pool.rows}))}
        cases.append(
            {
                "fold": fold, "group": group, "data": data, "category": category, "answerable": known,
                "columns": np.stack([columns[name] for name in names], axis=1).astype(np.float16),
                "gold": [one in gold for one in ids],
                "missed": len(gold) - sum(one in gold for one in ids),
                "sessions": [codes[row.session] for row in gathered.pool.rows],
                "gold_sessions": [codes.get(one, -1 - place) for place, one in enumerate(sorted(sessions))],
                "signs": [said[name] for name in sign_names],
            }
        )  # fmt: skip
        if len(cases) % 100 == 0:
            print(f"{len(cases)} questions", flush=True)
    np.savez_compressed(args.out, cases=np.array(cases, dtype=object), names=names, signs=sign_names)


def _questions(args: argparse.Namespace, embedder: Embedder) -> Iterator[tuple[Any, ...]]:
    if args.locomo:
        for fold, sample in enumerate(locomo.samples(args.locomo)):
            messages = list(locomo.conversation(sample).messages)
            said = {str(one.id): str(one.session) for one in messages}
            at = max(one.said_at for one in messages if one.said_at)
            with _bank(args, embedder, f"fit-{sample['sample_id']}", messages) as store:
                for question in sample["qa"]:
                    known = question["category"] != ADVERSARIAL
                    gold = set(evidence(question.get("evidence") or (), said)) if known else set()
                    if known and not gold:
                        continue
                    yield (
                        fold, sample["sample_id"], "locomo", str(question["category"]), known,
                        str(question["question"]), at, store, gold, {said[one] for one in gold},
                    )  # fmt: skip
    if args.longmemeval:
        for number, question in enumerate(longmemeval.questions(args.longmemeval)):
            if number % args.of != args.part:
                continue
            rows = list(longmemeval.placed(question))
            name, known = question["question_id"], not question["question_id"].endswith(ABSTENTION)
            wanted = {str(one) for one in question.get("answer_session_ids") or ()}
            sessions = {str(message.session) for message, place in rows if place.session in wanted}
            gold = {str(message.id) for message, place in rows if place.has_answer}
            with _bank(args, embedder, f"fit-{name}", [message for message, _ in rows]) as store:
                yield (
                    number % FOLDS, name, "longmemeval", str(question["question_type"]), known,
                    str(question["question"]), longmemeval.date_time(question["question_date"]), store, gold, sessions,
                )  # fmt: skip


class _bank:
    """A bank with the messages in it; one that is there already is used as it is (with what was extracted)."""

    def __init__(
        self, args: argparse.Namespace, embedder: Embedder, name: str, messages: Sequence[Message]
    ) -> None:
        self._path = args.home / f"{name}.db"
        self._keep = args.keep
        new = not self._path.exists()
        self._store = SqliteStore.open(
            self._path, embedder="minilm", dimension=lambda: embedder.dim, zone="UTC", create=True
        )
        if new:
            remember(self._store, embedder, Settings(), list(messages), Placement(None, None, "UTC", None))

    def __enter__(self) -> Store:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()
        if not self._keep:
            for file in self._path.parent.glob(f"{self._path.name}*"):
                file.unlink()


# Fitting


def fit(args: argparse.Namespace) -> None:
    cases, names, _ = load(args.features)
    figures: dict[str, Any] = {}
    fitted: dict[str, dict[str, float]] = {}
    for variant in ("maxsim", "plain"):
        used = [name for name in names if variant == "maxsim" or name not in MAXSIM_ONLY]
        columns = [names.index(name) for name in used]
        figures[variant] = cross_validated(cases, columns)
        values = train(cases, columns)
        fitted[variant] = {name: round(float(value), 4) for name, value in zip(used, values, strict=True)}
        print(variant, json.dumps(figures[variant], indent=1))
    if args.write:
        held = {
            "about": "Weights of the learned fusion, by feature (recall/features.py). Fitted by scripts/fit_fusion.py.",
            "data": "locomo_dev.json (5 conversations) and longmemeval_pool_dev.json (134 questions)",
            "ridge": RIDGE,
            "longmemeval_weight": LONGMEMEVAL_WEIGHT,
            "left_out": figures,
            "weights": {
                variant: dict(sorted(values.items(), key=lambda item: -abs(item[1])))
                for variant, values in fitted.items()
            },
        }
        WEIGHTS.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
        print(f"written to {WEIGHTS.name}")


def load(paths: Sequence[Path]) -> tuple[list[Case], list[str], list[str]]:
    cases: list[Case] = []
    names: list[str] = []
    sign_names: list[str] = []
    for path in paths:
        held = np.load(path, allow_pickle=True)
        names, sign_names = list(held["names"]), list(held["signs"])
        for one in held["cases"]:
            cases.append(
                Case(
                    one["group"], one["fold"], one["data"], one["category"], one["answerable"],
                    one["columns"].astype(np.float32), np.array(one["gold"], dtype=np.bool_), one["missed"],
                    np.array(one["sessions"], dtype=np.int64), frozenset(one["gold_sessions"]),
                    np.array(one["signs"], dtype=np.float32),
                )
            )  # fmt: skip
    return cases, names, sign_names


def train(cases: Sequence[Case], columns: Sequence[int], steps: int = 25) -> NDArray[np.float64]:
    """Newton's method on the listwise loss: it is convex, and there are few weights."""
    usable = [case for case in cases if case.answerable and case.gold.any()]
    weight = np.zeros(len(columns))
    for _ in range(steps):
        gradient, hessian = RIDGE * weight, RIDGE * np.eye(len(columns))
        for case in usable:
            worth = 1.0 if case.data == "locomo" else LONGMEMEVAL_WEIGHT
            x = case.columns[:, columns].astype(np.float64)
            score = x @ weight
            chance = np.exp(score - score.max())
            chance /= chance.sum()
            mean = x.T @ chance
            gradient += worth * (mean - x[case.gold].mean(axis=0))
            hessian += worth * ((x * chance[:, None]).T @ x - np.outer(mean, mean))
        step = np.linalg.solve(hessian, gradient)
        weight -= step
        if np.abs(step).max() < 1e-5:
            break
    return weight


def cross_validated(cases: Sequence[Case], columns: Sequence[int]) -> dict[str, Any]:
    """Each fold ranked by weights that never saw it: the figures of both data sets."""
    rows: dict[tuple[str, str], list[float]] = {}
    for fold in range(FOLDS):
        weight = train([case for case in cases if case.fold != fold], columns)
        for case in cases:
            if case.fold == fold and case.answerable:
                for key, value in scored(case, case.columns[:, columns] @ weight).items():
                    rows.setdefault((case.data, key), []).append(value)
                    rows.setdefault((f"{case.data} {case.category}", key), []).append(value)
    return nested({key: round(float(np.mean(values)), 4) for key, values in rows.items()})


def scored(case: Case, scores: NDArray[np.float64]) -> dict[str, float]:
    order = np.argsort(-scores, kind="stable")
    ranked = [int(place) for place in order[:50]]
    gold = {int(place) for place in np.flatnonzero(case.gold)} | {
        -1 - number for number in range(case.missed)
    }
    out = {}
    if gold:
        out = {
            "recall@10": metrics.recall_at(ranked, gold, 10),
            "recall@20": metrics.recall_at(ranked, gold, 20),
            "ndcg@10": metrics.ndcg_at(ranked, gold, 10),
        }
    if case.gold_sessions and case.data == "longmemeval":
        sessions = metrics.unique(int(case.sessions[place]) for place in ranked)
        out["session ndcg@10"] = metrics.ndcg_at(sessions, case.gold_sessions, 10)
        out["session all@5"] = metrics.all_at(sessions, case.gold_sessions, 5)
    return out


def nested(flat: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for (group, key), value in sorted(flat.items()):
        out.setdefault(group, {})[key] = value
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("collect")
    one.add_argument("--locomo", type=Path)
    one.add_argument("--longmemeval", type=Path)
    one.add_argument("--home", type=Path, required=True)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--keep", action="store_true", help="leave the banks there for the next time")
    one.add_argument(
        "--part", type=int, default=0, help="take every n-th question of LongMemEval only: which"
    )
    one.add_argument("--of", type=int, default=1, help="… and n")
    one.set_defaults(run=collect)
    two = steps.add_parser("fit")
    two.add_argument("features", type=Path, nargs="+")
    two.add_argument("--write", action="store_true")
    two.set_defaults(run=fit)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
