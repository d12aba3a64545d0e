"""Fit the weights of the learned fusion (`recall/weights.json`) on the development data, and say what they are worth.

Two steps, because the first is slow and the second is what one repeats:

    python training/fit_fusion.py collect [--locomo FILE] [--longmemeval FILE] [--chats] --home FOLDER --out FILE.npz
    python training/fit_fusion.py fit FEATURES.npz … [--write]

The reader reads nothing of our own chats: what an assistant says is too long for it. `collect` asks every question of
a fresh bank and keeps the features of its candidates, and what the reader says of the first ten by the weights of the
time (after a change of features, collect and fit twice). `fit` minimises a listwise loss with an L2 penalty, once for
each fold with that fold left out (a LoCoMo conversation, a fifth of the LongMemEval questions), which gives the
figures (`training/figures/fusion.json`), and once on everything, which gives the weights that ship. Numbers only: no
text of the data is kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chats
from everwhen.models.comparison import PackagedReader
from everwhen.models.embedder import CachedEmbedder, Embedder, open_embedder
from everwhen.recall.candidates import ReaderScores, Request, gather
from everwhen.recall.features import features, gates
from everwhen.recall.fusion import (
    SPEAKER_FEATURES,
    WEIGHTS,
    SignInputs,
    linear,
    read_first,
    sign_inputs,
    signs,
    weighted,
)
from everwhen.recall.fusion import fitted as shipped
from everwhen.settings import Settings
from everwhen.store.rows import Filter
from everwhen.store.sql.store import Store
from everwhen.store.sqlite import SqliteStore
from everwhen.types import Message
from everwhen.write.importers import benchmarks
from everwhen.write.remember import MessageDefaults, placed, remember
from everwhen_bench import metrics
from everwhen_bench.locomo import ADVERSARIAL, evidence
from everwhen_bench.longmemeval import ABSTENTION

FIGURES = Path(__file__).parent / "figures/fusion.json"
KINDS = frozenset({"turn"})
RIDGE, GATE_RIDGE = 3.0, 10.0
"""Of what a feature weighs, and of what a gate adds to that."""
FOLDS = 5
WORTH = {"locomo": 1.0, "longmemeval": 6.0, "chats": 1.0}
"""What a question counts: there are fewest of LongMemEval."""
SESSION_WORTH = {"locomo": 0.0, "longmemeval": 1.0, "chats": 0.3}
"""What its sessions count beside its turns."""
READ = 10
"""Candidates that the reader reads when features are collected."""
USED = (
    "about", "answers_match", "asked", "bm25", "by_user", "compared", "compared_rank", "cosine", "hubness",
    "session", "session_affinity", "session_bm25", "time_after", "wish",
)  # fmt: skip
MAXSIM_ONLY = ("compared", "compared_rank")


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
    clues: SignInputs
    logits: NDArray[np.float32]
    """What the reader says; NaN where it did not read."""
    gates: Mapping[str, float]


# Collecting


def collect(args: argparse.Namespace) -> None:
    embedder: Embedder = open_embedder("conversation-1")
    args.home.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(embedder, args.home / "cache.db", 300_000)
    reader = PackagedReader()
    cases, names = [], []
    for fold, group, data, category, known, query, at, store, gold, sessions in _questions(args, embedder):
        gathered = gather(store, embedder.inner, Request(query, at=at, where=Filter(kinds=KINDS)), {})
        if gathered.pool is None:
            continue
        columns = features(gathered.pool)
        names = names or sorted(columns)
        ids = [row.id for row in gathered.pool.rows]
        parts = weighted(columns, shipped()["weights"]["maxsim"], gates(gathered.pool))
        first = np.argsort(-linear(parts, len(ids)), kind="stable")[: 0 if data == "chats" else READ]
        logits = np.full(len(ids), np.nan, np.float16)
        if len(first):
            logits[first] = read_first(gathered.pool, reader, first).logits
        codes = {name: code for code, name in enumerate(sorted({row.session for row in gathered.pool.rows}))}
        cases.append(
            {
                "fold": fold, "group": group, "data": data, "category": category, "answerable": known,
                "columns": np.stack([columns[name] for name in names], axis=1).astype(np.float16),
                "gold": [one in gold for one in ids],
                "missed": len(gold) - sum(one in gold for one in ids),
                "sessions": [codes[row.session] for row in gathered.pool.rows],
                "gold_sessions": [codes.get(one, -1 - place) for place, one in enumerate(sorted(sessions))],
                "clues": asdict(sign_inputs(gathered.pool)), "logits": logits, "gates": gates(gathered.pool),
            }
        )  # fmt: skip
        if len(cases) % 100 == 0:
            print(f"{len(cases)} questions", flush=True)
    np.savez_compressed(args.out, cases=np.array(cases, dtype=object), names=names)


def _questions(args: argparse.Namespace, embedder: Embedder) -> Iterator[tuple[Any, ...]]:
    if args.locomo:
        for fold, sample in enumerate(benchmarks.locomo_samples(args.locomo)):
            messages = list(benchmarks.locomo_conversation(sample).messages)
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
        for number, question in enumerate(benchmarks.longmemeval_questions(args.longmemeval)):
            if number % args.of != args.part:
                continue
            rows = list(benchmarks.placed_messages(question))
            name, known = question["question_id"], not question["question_id"].endswith(ABSTENTION)
            wanted = {str(one) for one in question.get("answer_session_ids") or ()}
            sessions = {str(message.session) for message, place in rows if place.session in wanted}
            gold = {str(message.id) for message, place in rows if place.has_answer}
            with _bank(args, embedder, f"fit-{name}", [message for message, _ in rows]) as store:
                yield (
                    number % FOLDS, name, "longmemeval", str(question["question_type"]), known,
                    str(question["question"]), benchmarks.longmemeval_time(question["question_date"]),
                    store, gold, sessions,
                )  # fmt: skip

    if args.chats:
        for fold, user in enumerate(chats.read_all()):
            session = {str(one.id): str(one.session) for one in user.messages}
            with _bank(args, embedder, f"fit-chats-{user.name}", user.messages) as store:
                for query in user.queries:
                    yield (
                        fold % FOLDS, user.name, "chats", query.kind, bool(query.evidence), query.words,
                        user.asked_at, store, set(query.evidence), {session[one] for one in query.evidence},
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
            self._path, embedder="conversation-1", dimension=lambda: embedder.dim, zone="UTC", create=True
        )
        if new:
            remember(
                self._store,
                embedder,
                Settings(),
                placed(list(messages), MessageDefaults(None, None, "UTC", None)),
            )

    def __enter__(self) -> Store:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()
        if not self._keep:
            for file in self._path.parent.glob(f"{self._path.name}*"):
                file.unlink()


# Fitting


def fit(args: argparse.Namespace) -> None:
    cases, names = load(args.features)
    names, places = [n for n in names if n in USED], [p for p, n in enumerate(names) if n in USED]
    opened = list(cases[0].gates)
    for case in cases:
        own = case.columns[:, places]
        case.columns = np.concatenate([own, *(own * case.gates[gate] for gate in opened)], axis=1)
    names = [*names, *(f"{name}{BEHIND}{gate}" for gate in opened for name in names)]
    fused: dict[str, Any] = {}
    figures: dict[str, Any] = {"fused": fused}
    fitted: dict[str, dict[str, list[float]]] = {}
    reading: dict[str, Any] = {}
    knowing: dict[str, Any] = {}
    for variant in ("maxsim", "plain"):
        used = [name for name in names if variant == "maxsim" or plain_name(name) not in MAXSIM_ONLY]
        columns = [names.index(name) for name in used]
        fused[variant] = cross_validated(cases, columns)
        values = train(cases, columns)
        fitted[variant] = {}
        for name, value in zip(used, values, strict=True):
            fitted[variant].setdefault(plain_name(name), []).append(round(float(value), 4))
        print(variant, json.dumps(fused[variant], indent=1))
        if variant == "maxsim":
            reading, figures["read"] = fit_reading(cases, columns, values, args.read)
            print("read", json.dumps([reading, figures["read"]], indent=1))
            knowing, figures["answerable"] = fit_answerable(cases, used, columns, values, args.read)
            print("answerable", json.dumps([knowing, figures["answerable"]], indent=1))
    if args.write:
        held = {
            "about": "Weights of the learned fusion, by feature (recall/features.py). "
            "Fitted by training/fit_fusion.py.",
            "data": "locomo_dev.json (5 conversations), longmemeval_pool_dev.json (134), training/chats (7 users)",
            "ridge": [RIDGE, GATE_RIDGE],
            "worth": WORTH,
            "gates": opened,
            "read": reading,
            "answerable": knowing,
            "weights": {
                variant: dict(sorted(values.items(), key=lambda item: -abs(item[1][0])))
                for variant, values in fitted.items()
            },
        }
        WEIGHTS.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
        FIGURES.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
        print(f"written to {WEIGHTS.name} and {FIGURES.name}")


def load(paths: Sequence[Path]) -> tuple[list[Case], list[str]]:
    cases: list[Case] = []
    names: list[str] = []
    for path in paths:
        held = np.load(path, allow_pickle=True)
        names = [str(name) for name in held["names"]]
        for one in held["cases"]:
            cases.append(
                Case(
                    one["group"], one["fold"], one["data"], one["category"], one["answerable"],
                    one["columns"].astype(np.float32), np.array(one["gold"], dtype=np.bool_), one["missed"],
                    np.array(one["sessions"], dtype=np.int64), frozenset(one["gold_sessions"]),
                    SignInputs(**one["clues"]), one["logits"].astype(np.float32), one["gates"],
                )
            )  # fmt: skip
    return cases, names


BEHIND = " where "
"""Before the gate in the name of a column: "bm25 where asks"."""


def plain_name(column: str) -> str:
    return column.partition(BEHIND)[0]


def train(cases: Sequence[Case], columns: Sequence[int]) -> NDArray[np.float64]:
    """The weights with the least loss."""
    usable = [case for case in cases if case.answerable and case.gold.any()]
    own = cases[0].columns.shape[1] // (1 + len(cases[0].gates))
    ridge = np.where(np.array(columns) < own, RIDGE, GATE_RIDGE)
    batch = Batch(usable, columns)

    def loss(weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = batch.loss(weight)
        return value + 0.5 * float(weight @ (ridge * weight)), slope + ridge * weight

    return minimise(loss, np.zeros(len(columns)))


class Batch:
    """Questions side by side, their candidates padded to one length, so that the loss of all is a few products.

    The loss of a question is that of its evidence, each piece by the root of how much there is; and, where the partner
    is an assistant, that of the sessions, the score of a session being the log of the sum of exp over its turns.
    """

    def __init__(self, cases: Sequence[Case], columns: Sequence[int]) -> None:
        count, most = len(cases), max(len(case.gold) for case in cases)
        self.x = np.zeros((count, most, len(columns)), np.float32)
        self.gold, self.there, self.wanted = (np.zeros((count, most), np.bool_) for _ in range(3))
        session = np.zeros((count, most), np.int64)
        for row, case in enumerate(cases):
            size = len(case.gold)
            self.x[row, :size] = case.columns[:, columns]
            self.gold[row, :size], self.there[row, :size] = case.gold, True
            known, session[row, :size] = np.unique(case.sessions, return_inverse=True)
            self.wanted[row, : len(known)] = np.isin(known, list(case.gold_sessions))
        self.session = session + most * np.arange(count)[:, None]  # an entry of all sessions of all questions
        pieces = self.gold.sum(axis=1)
        self.worth = np.array([WORTH[case.data] for case in cases]) * np.sqrt(pieces)
        beside = np.array([WORTH[case.data] * SESSION_WORTH[case.data] for case in cases])
        self.beside = np.where(self.wanted.any(axis=1), beside, 0.0)

    def loss(self, weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = np.where(self.there, self.x @ weight.astype(np.float32), -np.inf)
        odds = np.exp((score - score.max(axis=1, keepdims=True)).astype(np.float64))
        value, slope = apart(odds, self.gold)
        total = float(value @ self.worth)
        slope *= self.worth[:, None]
        whole = np.bincount(self.session.ravel(), odds.ravel(), odds.size).reshape(odds.shape)
        value, of_session = apart(whole, self.wanted)
        total += float(value @ self.beside)
        of_turn = (of_session / np.maximum(whole, 1e-30) * self.beside[:, None]).ravel()[self.session]
        slope += of_turn * odds
        return total, np.einsum("nm,nmf->f", slope.astype(np.float32), self.x, optimize=True).astype(
            np.float64
        )


def apart(
    odds: NDArray[np.float64], wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Row by row: `- mean over the wanted of log softmax(s)`, each against those that are not wanted (two that are do
    not compete), and its slope by score."""
    others = (odds * ~wanted).sum(axis=1, keepdims=True)
    count = np.maximum(wanted.sum(axis=1, keepdims=True), 1)
    share = odds / (odds + others + 1e-30)
    value = -(np.log(share + 1e-30) * wanted).sum(axis=1) / count[:, 0]
    each = (wanted / (odds + others + 1e-30)).sum(axis=1, keepdims=True) / count
    return value, np.where(wanted, -(1 - share) / count, odds * each)


def minimise(
    function: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    x: NDArray[np.float64],
    steps: int = 200,
) -> NDArray[np.float64]:
    """BFGS with a backtracking line search: a few dozen weights need no library."""
    value, gradient = function(x)
    inverse = np.eye(len(x)) / max(1.0, float(np.abs(gradient).max()))
    for _ in range(steps):
        direction = -inverse @ gradient
        length = 1.0
        while length > 1e-8:
            new_value, new_gradient = function(x + length * direction)
            if new_value <= value + 1e-4 * length * float(gradient @ direction):
                break
            length /= 2
        step, change = length * direction, new_gradient - gradient
        gain = value - new_value
        x, value, gradient = x + step, new_value, new_gradient
        if gain < 1e-4:
            break
        curve = float(step @ change)
        if curve > 1e-10:
            left = np.eye(len(x)) - np.outer(step, change) / curve
            inverse = left @ inverse @ left.T + np.outer(step, step) / curve
    return x


def read_of(case: Case, fused: NDArray[np.float64], first: int) -> ReaderScores:
    """What the reader says of the first by a fused score, among those that it read when features were collected."""
    order = np.argsort(-fused, kind="stable")
    places = order[~np.isnan(case.logits[order])][:first]
    return ReaderScores(places, case.logits[places])


def fit_reading(
    cases: Sequence[Case], columns: Sequence[int], weight: NDArray[np.float64], first: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a logit weighs beside a fused score: the loss over those that were read; figures with each fold left out."""

    def best(chosen: Sequence[Case], weight: NDArray[np.float64]) -> float:
        parts = []
        for case in chosen:
            fused = case.columns[:, columns] @ weight
            read = read_of(case, fused, first)
            gold = case.gold[read.places]
            if case.answerable and gold.any():
                parts.append((fused[read.places], read.logits.astype(np.float64), gold))

        def loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, slope = 0.0, 0.0
            for fused, logits, gold in parts:
                score = fused + x[0] * logits
                chance = np.exp(score - score.max())
                chance /= chance.sum()
                value -= float(np.log(chance[gold] + 1e-30).mean())
                slope += float((chance - gold / gold.sum()) @ logits)
            return value, np.array([slope])

        return float(minimise(loss, np.zeros(1))[0])

    rows: dict[tuple[str, str], list[float]] = {}
    kinds = {"people": "locomo", "assistant": "longmemeval"}
    for fold in range(FOLDS):
        inside = [case for case in cases if case.fold != fold]
        own = train(inside, columns)
        worth = {
            data: max(0.0, best([case for case in inside if case.data == data], own))
            for data in kinds.values()
        }
        for case in cases:
            if case.fold == fold and case.answerable and case.data in worth:
                fused = case.columns[:, columns] @ own
                score = fused
                if worth[case.data]:
                    score = fused + read_of(case, fused, first).added(fused, worth[case.data])
                for key, value in scored(case, score).items():
                    rows.setdefault((case.data, key), []).append(value)
                    rows.setdefault((f"{case.data} {case.category}", key), []).append(value)
    figures = nested({key: round(float(np.mean(values)), 4) for key, values in rows.items()})
    weighs = {
        kind: round(max(0.0, best([case for case in cases if case.data == data], weight)), 4)
        for kind, data in kinds.items()
    }
    return {"first": first, **weighs}, figures


def fit_answerable(
    cases: Sequence[Case],
    names: Sequence[str],
    columns: Sequence[int],
    weight: NDArray[np.float64],
    first: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A logistic regression over the signs; AUROC with each fold left out (of the fusion's weights too)."""
    silent = [place for place, name in enumerate(names) if plain_name(name) in SPEAKER_FEATURES]
    told = [case for case in cases if case.data != "chats"]

    def seen(weight: NDArray[np.float64], chosen: Sequence[Case], first: int) -> NDArray[np.float64]:
        rows = []
        for case in chosen:
            parts = case.columns[:, columns] * weight
            fused = parts.sum(axis=1).astype(np.float32)
            logits = read_of(case, fused, first).logits if first else None
            rows.append(
                signs(case.clues, fused - parts[:, silent].sum(axis=1).astype(np.float32), fused, logits)
            )
        return np.array(rows, dtype=np.float64)

    out: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for name, count in (("", 0), ("_read", first)):
        held_out: dict[str, list[tuple[bool, float]]] = {}
        for whom, named in (("named", True), ("unnamed", False)):
            some = [case for case in told if case.clues.named == named]
            for fold in range(FOLDS):
                own = train([c for c in cases if c.fold != fold], columns)
                inside, outside = [c for c in some if c.fold != fold], [c for c in some if c.fold == fold]
                model = logistic(seen(own, inside, count), inside)
                for case, row in zip(outside, seen(own, outside, count), strict=True):
                    sure = float(row @ model[:-1] + model[-1])
                    held_out.setdefault(case.data, []).append((case.answerable, sure))
            out[whom + name] = [round(float(one), 4) for one in logistic(seen(weight, some, count), some)]
        figures[f"auroc{name}"] = {
            data: round(metrics.auroc([s for yes, s in rows if yes], [s for yes, s in rows if not yes]), 4)
            for data, rows in held_out.items()
        }
    return out, figures


def logistic(rows: NDArray[np.float64], cases: Sequence[Case]) -> NDArray[np.float64]:
    """Weights and constant; each data set, and in it each side, counts the same."""
    known = np.array([case.answerable for case in cases])
    data = np.array([case.data for case in cases])
    worth = np.zeros(len(cases))
    for name in set(data.tolist()):
        for side in (True, False):
            group = (data == name) & (known == side)
            worth[group] = 100 / max(1, group.sum())
    x = np.column_stack([rows, np.ones(len(rows))])

    def loss(weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        chance = 1 / (1 + np.exp(-np.clip(x @ weight, -30, 30)))
        value = -float(worth @ np.log(np.where(known, chance, 1 - chance) + 1e-30))
        return value + 0.5 * float(weight[:-1] @ weight[:-1]), x.T @ (worth * (chance - known)) + np.append(
            weight[:-1], 0.0
        )

    return minimise(loss, np.zeros(x.shape[1]))


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
    if case.gold_sessions and case.data != "locomo":
        sessions = metrics.unique(int(case.sessions[place]) for place in ranked)
        out["session ndcg@5"] = metrics.ndcg_at(sessions, case.gold_sessions, 5)
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
    one.add_argument("--chats", action="store_true", help="our own users' chats with an assistant")
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
    two.add_argument("--read", type=int, default=Settings().read, help="candidates that the reader reads")
    two.add_argument("--write", action="store_true")
    two.set_defaults(run=fit)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
