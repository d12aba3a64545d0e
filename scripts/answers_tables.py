"""Write the tables of benchmarks/history/answers.md from `everwhen bench locomo|longmemeval --systems … --out FILE`.

    python scripts/answers_tables.py FILE…

A file's data set and model say which table it is; one whose file is not given is left as it is.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from results_tables import table, write_all

PAGE = Path(__file__).parents[1] / "benchmarks" / "history" / "answers.md"
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single-hop", "5": "unanswerable"}
Run = Mapping[str, Any]


def systems(run: Run) -> str:
    """Every system: what its answers are worth, and how that differs from everwhen's, question by question."""
    rows = [
        [
            name,
            _with(row["right"]),
            _difference(row["right"]),
            _with(row["f1"]),
            _difference(row["f1"]),
            f"{row['rouge_l']['value']:.3f}",
            f"{row['abstained']:.2f}",
        ]
        for name, row in run["systems"].items()
    ]
    heads = ["", "judged right", "to everwhen", "token F1", "to everwhen", "ROUGE-L", "says not known"]
    return table(heads, rows)


def groups(run: Run, key: str, head: str) -> str:
    """One figure by the data set's own kinds of question."""
    asked = Counter(line["group"] for line in run["runs"] if line["system"] == next(iter(run["systems"])))
    names = sorted(asked)
    heads = [head, *(f"{CATEGORIES.get(name, name)} ({asked[name]})" for name in names)]
    rows = [
        [name, *(f"{row[key]['by_group'][group]:.3f}" for group in names)]
        for name, row in run["systems"].items()
    ]
    return table(heads, rows)


def kinds(run: Run) -> str:
    """One system by what the questions ask for."""
    asked = Counter(line["kind"] for line in run["runs"])
    refused = Counter(line["kind"] for line in run["runs"] if line["abstained"])
    ((_, row),) = run["systems"].items()
    rows = [
        [
            kind,
            str(asked[kind]),
            *(f"{row[key]['by_kind'][kind]:.3f}" for key in ("right", "f1")),
            str(refused[kind]),
        ]
        for kind in sorted(asked, key=lambda kind: -asked[kind])
    ]
    whole = [f"{row[key]['value']:.3f}" for key in ("right", "f1")]
    rows.append(["all", str(sum(asked.values())), *whole, str(sum(refused.values()))])
    return table(["asked for", "questions", "holds the right answer", "token F1", "refused"], rows)


def origin(run: Run) -> str:
    """Data, model where one answered, judge, commit, machine and day, in one line."""
    made = run["made"]
    parts = [f"`{run['data']}`", f"{run['questions']} questions"]
    if list(run["systems"]) != ["extractive"]:
        parts += [f"model {run['model']}", f"{run['context_tokens']} tokens of memories"]
    parts += [f"judge {run['judge']}", f"commit `{made['commit']}`", made["machine"], made["at"][:10]]
    return " · ".join(parts) + "\n\n"


def tables(run: Run) -> dict[str, str]:
    """The tables of a file by the names of their places."""
    if list(run["systems"]) == ["extractive"]:
        return {f"extractive-{run['bench'].split()[0]}": origin(run) + kinds(run)}
    spent = "; ".join(
        f"{phase}: " + ", ".join(f"{key} {value}" for key, value in one.items() if value is not None)
        for phase, one in run["spent"].items()
    )
    name = f"model-{run['bench'].split()[0]}"
    by_group = groups(run, "f1", "token F1") + "\n" + groups(run, "right", "judged right")
    return {name: origin(run) + systems(run) + f"\nSpent, by phase: {spent}.\n\n" + by_group}


def _with(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return ""
    low, high = figure["interval_95"]
    return f"**{figure['value']:.3f}** [{low:.3f}, {high:.3f}]"


def _difference(figure: Mapping[str, Any] | None) -> str:
    if figure is None or "difference" not in figure:
        return ""
    low, high = figure["difference_95"]
    said = f"{figure['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"**{said}**" if low > 0 or high < 0 else said


def main(files: list[str]) -> None:
    for file in files:
        write_all(tables(json.loads(Path(file).read_text("utf-8"))), [PAGE])


if __name__ == "__main__":
    main(sys.argv[1:])
