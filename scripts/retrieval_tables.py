"""Write the weights of docs/retrieval.md from `weights.json`, and the tables of benchmarks/history/retrieval.md:
held-out figures from `training/figures`, ablations from runs.

    python scripts/retrieval_tables.py [build/bench/locomo.json] [build/bench/longmemeval.json]

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`; one whose run is not given is left as it is. A test holds
those that come from the weights and the held-out figures against their files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also where a test loads this file by its path

from results_tables import write_all

from everwhen.recall.fusion import WEIGHTS
from everwhen_bench.ablation import DEFAULT, VARIANTS

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "docs/retrieval.md", ROOT / "benchmarks/history/retrieval.md")
FIGURES = ROOT / "training/figures/fusion.json"

FEATURES = {
    "time_after": "said in the time asked for or a while after it, fading with the distance",
    "compared_rank": "10 / (10 + rank) by the learned comparison",
    "about": "said by the one whom the question is about, or the assistant by \"you\" (half for, half against)",
    "by_user": "said by the user, where the other one is an assistant",
    "asked": "asks when, and this has a time word; asks where, and this has a name in it",
    "session": "other strong candidates are in its session: the log of the sum of exp of their plain scores",
    "session_affinity": "SATF's affinity with sigma = 3 days (assistant only)",
    "session_bm25": "BM25 of the session as a whole (assistant only)",
    "answers_match": "follows a question, times the cosine of that question",
    "compared": "the learned comparison of the question's words with the turn's",
    "cosine": "cosine with the question",
    "hubness": "mean cosine with the other candidates: what resembles everything tells little (among people)",
    "bm25": "BM25 without the names",
    "wish": "no question, and the user says here what always or never holds",
}  # fmt: skip
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single-hop"}
ORDER = (DEFAULT, *(variant.name for variant in VARIANTS))
BY_GROUP = (
    "semantic off", "keyword off", "graph on", "temporal off", "rerank off", "reader off", "context off", "speaker off",
    "turns only", "rrf k=10",
)  # fmt: skip
"""Rows that are shown by kind of question too."""
KEYS = {"locomo": ("turn recall@10", "turn ndcg@10"), "longmemeval": ("session ndcg@10", "session all@5")}


def weights(held: Mapping[str, Any]) -> str:
    """The features, the heaviest first: what each weighs for a request or a remark, and for a question."""
    full, plain = held["weights"]["maxsim"], held["weights"]["plain"]

    def both(parts: Sequence[float]) -> str:
        return f"{parts[0]:+.2f} / {sum(parts):+.2f}"

    return _table(
        ("feature", "what it says of a turn", "weight: request / question", "without MaxSim"),
        (
            (f"`{name}`", FEATURES[name], both(parts), both(plain[name]) if name in plain else "")
            for name, parts in full.items()
        ),
    )


def held_out(figures: Mapping[str, Any]) -> str:
    """Cross-validated figures, with MaxSim and without."""
    full, plain = figures["fused"]["maxsim"], figures["fused"]["plain"]
    rows = []
    for group, one in full.items():
        data, _, kind = group.partition(" ")
        name = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "chats": "our users' chats"}[data]
        keys = (
            ("recall@10", "ndcg@10") if data == "locomo" else
            ("recall@10", "ndcg@10", "session ndcg@10", "session all@5")
        )  # fmt: skip
        cells = [f"{one[key]:.3f} / {plain[group][key]:.3f}" for key in keys]
        kind = CATEGORIES.get(kind, kind)
        rows.append((f"{name}, {kind}" if kind else f"**{name}**", *cells, *[""] * (4 - len(cells))))
    return _table(("", "turn recall@10", "turn NDCG@10", "session NDCG@10", "session all@5"), rows)


def ablation(run: Mapping[str, Any]) -> str:
    """Every row with its differences to the default; those whose interval leaves out 0 are bold."""
    keys = KEYS[run["bench"]]
    rows = []
    held = run["ablations"]["rows"]
    for name in sorted(held, key=lambda one: ORDER.index(one) if one in ORDER else len(ORDER)):
        row, cells = held[name], []
        for key in keys:
            figure = row["figures"][key]
            cells += [f"{figure['value']:.3f}", "" if name == "default" else _difference(figure)]
        rows.append((name, *cells))
    return _table(("", *(cell for key in keys for cell in (key, "difference [95%]"))), rows)


def shipped(run: Mapping[str, Any]) -> str:
    """The figures of the run itself, over all questions and by kind."""
    turn, session = ("recall@5", "recall@10", "recall@20", "ndcg@10"), ("ndcg@10", "all@5")
    groups = run.get("by_category") or run["by_type"]
    rows = [("**all**", run), *((CATEGORIES.get(name, name), one) for name, one in groups.items())]
    return _table(
        ("", "questions", *(f"turn {key}" for key in turn), *(f"session {key}" for key in session)),
        (
            (
                name, str(one["questions"]), *(_number(one["turn"].get(key)) for key in turn),
                *(_number(one["session"].get(key)) for key in session),
            )
            for name, one in rows
        ),
    )  # fmt: skip


def by_group(run: Mapping[str, Any]) -> str:
    """The differences to the default by kind of question, in the first figure of the set."""
    key = KEYS[run["bench"]][0]
    held = run["ablations"]["rows"]
    groups = list(held["default"]["by_group"])
    rows = [
        (name, *(_difference(held[name]["by_group"][group][key]) for group in groups))
        for name in BY_GROUP
        if name in held
    ]
    return _table((key, *(CATEGORIES.get(group, group) for group in groups)), rows)


def gate(run: Mapping[str, Any]) -> str:
    """How often SATF acts for each gamma, and the figure that comes of it."""
    key = KEYS[run["bench"]][-1 if run["bench"] == "locomo" else 0]
    held = run["ablations"]["satf"]["gate"]
    return _table(
        (f"acts / {key}", *(f"gamma {gamma}" for gamma in next(iter(held.values())))),
        (
            (name, *(f"{one['active']:.0%} / {one[key]:.3f}" for one in by.values()))
            for name, by in held.items()
        ),
    )


def rivals(run: Mapping[str, Any]) -> str:
    """SATF and its rivals by kind of question, each beside the order that it started from."""
    key = KEYS[run["bench"]][-1 if run["bench"] == "locomo" else 0]
    against = run["ablations"]["satf"]["against"]
    groups = list(next(iter(against.values()))["by_group"])
    rows = []
    for name, row in against.items():
        cells = [_shift(row["figures"][key])]
        cells += [_shift(row["by_group"][group].get(key)) for group in groups]
        rows.append((name, *cells))
    return _table((f"{key}, without → with", "all", *(CATEGORIES.get(one, one) for one in groups)), rows)


def tokens(run: Mapping[str, Any]) -> str:
    """Evidence inside each budget."""
    held = run["ablations"]["tokens"]
    return _table(
        ("tokens", *next(iter(held.values()))),
        ((name, *(f"{value:.3f}" for value in by.values())) for name, by in held.items()),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _difference(figure: Mapping[str, Any]) -> str:
    low, high = figure["interval_95"]
    text = f"{figure['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"**{text}**" if low > 0 or high < 0 else text


def _shift(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return ""
    low, high = figure["interval_95"]
    text = f"{figure['value'] - figure['difference']:.3f} → {figure['value']:.3f}"
    return f"**{text}**" if low > 0 or high < 0 else text


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(paths: Sequence[Path]) -> None:
    fitted, figures = (json.loads(path.read_text("utf-8")) for path in (WEIGHTS, FIGURES))
    tables = {"weights": weights(fitted), "held-out": held_out(figures)}
    for path in paths:
        run = json.loads(path.read_text("utf-8"))
        makers = {
            "shipped": shipped,
            "ablation": ablation,
            "by-group": by_group,
            "gate": gate,
            "rivals": rivals,
        }
        if run["bench"] == "locomo":
            makers["tokens"] = tokens
        tables |= {f"{run['bench']}-{name}": make(run) for name, make in makers.items()}
    write_all(tables, PAGES)


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
