"""Write the tables of docs/results.md, docs/performance.md and benchmarks/history/ from the files of `make bench` and
`make peers`.

    python scripts/results_tables.py [build/bench]

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`, with a line that says where it comes from; one whose file
is not there is left as it is. Tables that are not about today's default are in benchmarks/history/studies.md.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everwhen_bench.everything import steps

ROOT = Path(__file__).parent.parent
HISTORY = ROOT / "benchmarks" / "history"
PAGES = (ROOT / "docs" / "results.md", ROOT / "docs" / "performance.md", HISTORY / "studies.md")
RUNS = ROOT / "build" / "bench"
DATA = Path("DATA")
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single-hop"}
FOLDED = 20
"""Rows from which a table is folded away: who wants it opens it."""
PICTURES = {"study_writing": "\n![Seconds of ingest by turns](img/ingest-growth.svg)\n"}
"""Drawn by `make figures` from the same file."""
Run = Mapping[str, Any]


def origin(name: str, run: Run) -> str:
    """Command, commit, machine and split, in one line."""
    made = run.get("made") or {}
    commands = {step.name: " ".join(step.arguments) for step in steps(DATA)}
    commands |= {
        "peers_locomo": "peers --data DATA/locomo_dev.json",
        "peers_longmemeval": "peers --data DATA/longmemeval_pool_dev.json.xz --cached",
    }
    if name.startswith("speed_"):
        commands[name] = "speed --units N"
    command = commands.get(name, name)
    if not run.get("ablations"):  # it was run without them
        command = command.removesuffix(" --ablate")
    parts = [f"`everwhen bench {command}`"]
    if run.get("data"):
        parts.append(f"`{run['data']}`")
    if made:
        parts += [f"commit `{made['commit']}`", made["machine"], f"Python {made['python']}", made["at"][:10]]
    return " · ".join(parts) + "\n\n"


def peers_quality(run: Run) -> str:
    """Every peer's figures; the best of each column is bold, a star marks a difference to everwhen beyond chance."""
    columns = [("turn", key) for key in ("recall@5", "recall@10", "ndcg@10", "all@5")]
    columns += [("session", key) for key in ("recall@10", "ndcg@10", "all@5")]
    best = {
        column: max((row[column[0]].get(column[1]) or 0 for row in run["rows"]), default=0)
        for column in columns
    }
    rows = []
    for row in run["rows"]:
        cells = []
        for level, key in columns:
            value = row[level].get(key)
            text = "" if value is None else f"{value:.3f}"
            text = f"**{text}**" if value == best[level, key] else text
            cells.append(text + _star(row["against_everwhen"].get(f"{level} {key}")))
        rows.append((row["peer"], *cells))
    return table(("", *(f"{level} {key}" for level, key in columns)), rows)


def peers_cost(run: Run) -> str:
    """Time, disk, memory and installation of each."""
    heads = (
        "", "ingest s", "of it embedding", "recall p50 ms", "p95 ms", "disk MB", "memory MB", "installed MB",
        "packages", "version",
    )  # fmt: skip
    rows = [
        (
            row["peer"],
            *(_tenths(row[key]) for key in ("ingest_s", "embedding_s")),
            *(_tenths(row["recall_ms"][key]) for key in ("p50", "p95")),
            *(_tenths(row[key]) for key in ("disk_mb", "rss_mb", "installed_mb")),
            "" if row["installed_packages"] is None else f"{row['installed_packages']:.0f}",
            ", ".join(row["versions"].values()),
        )
        for row in run["rows"]
    ]
    missing = "".join(f"- {name}: {reason}\n" for name, reason in run["absent"].items())
    return table(heads, rows) + ("\nNot asked:\n\n" + missing if missing else "")


def retrieval(run: Run) -> str:
    """The figures of a set with their intervals, over all and by kind of question."""
    heads = ("", "questions", "turn recall@10", "turn ndcg@10", "session ndcg@10", "session all@5")
    ends = run["interval_95"]
    rows = [
        (
            "**all**",
            str(run["questions"]),
            _with(run["turn"]["recall@10"], ends["turn"]["recall@10"]),
            _with(run["turn"]["ndcg@10"], ends["turn"]["ndcg@10"]),
            _with(run["session"]["ndcg@10"], ends["session"]["ndcg@10"]),
            f"{run['session']['all@5']:.3f}",
        )
    ]
    for name, one in (run.get("by_category") or run["by_type"]).items():
        turn, session = one["turn"], one["session"]
        cells = (turn.get("recall@10"), turn.get("ndcg@10"), session.get("ndcg@10"), session.get("all@5"))
        rows.append((CATEGORIES.get(name, name), str(one["questions"]), *map(_number, cells)))
    more = [
        f"Evidence inside 512 / 1,024 / 4,096 tokens: {' / '.join(map(_number, run['tokens'].values()))}."
    ]
    if run["abstention"]["auroc"] is not None:
        told = run["abstention"]
        more.append(f"AUROC of `answerable`: {told['auroc']:.3f} ({told['n']} unanswerable questions).")
    if run.get("when"):
        when = run["when"]
        more.append(
            f"When questions: accuracy {when['accuracy']:.3f}, precision {when['precision']:.3f} of {when['n']}."
        )
    return table(heads, rows) + "\n" + " ".join(more) + "\n"


def timex(run: Run) -> str:
    """Our resolver beside the other libraries."""
    told = run["summary"]
    rows = [
        (name, f"{one['accuracy']:.1%}", f"{one['passed']} of {one['cases']}", f"{one['p50_ms']:.2f}")
        for name, one in {"everwhen": told, **told.get("peers", {})}.items()
    ]
    return table(("library", "accuracy", "cases", "p50 ms"), rows)


def speed(runs: Sequence[Run]) -> str:
    """One column for each size of bank."""
    ordered = sorted(runs, key=lambda run: run["units"])
    lines: dict[str, Callable[[Run], str]] = {
        "durable `add` of one exchange, p50 ms": lambda run: f"{run['add_ms_p50']:.1f}",
        "ingest, turns a second": lambda run: f"{run['ingest_per_s']:.0f}",
        "share of the embedder's own throughput": lambda run: f"{run['ingest_share_of_embedder']:.2f}",
        "`recall`, p50 / p95 / p99 ms": lambda run: _three(run["recall_ms"]),
        "`recall` without the reader, p50 / p95 / p99 ms": lambda run: _three(run["recall_unread_ms"]),
        "low budget, no rerank, p50 / p95 / p99 ms": lambda run: _three(run["recall_low_ms"]),
        "a question's embedding, p50 ms": lambda run: f"{run['question_ms']:.1f}",
        "in multiples of it: `recall` / without the reader / low budget / `add`": lambda run: " / ".join(
            f"{run['multiples'][name]:.1f}" for name in ("recall", "without the reader", "low", "add")
        ),
        "opening, first recall included, s": lambda run: f"{run['open_s']:.1f}",
        "resident memory at its peak, MB": lambda run: f"{run['rss_mb']:.0f}",
        "on disk, MB": lambda run: f"{run['disk_mb']:.0f}",
        "bytes a unit": lambda run: f"{run['bytes_per_unit']:.0f}",
    }
    heads = ("", *(f"{run['units']:,} units" for run in ordered))
    return table(heads, [(name, *(tell(run) for run in ordered)) for name, tell in lines.items()])


def study(run: Run) -> str:
    """The tables of a study, each under its title."""
    parts = []
    for one in run["tables"]:
        rows = [[_cell(value) for value in row] for row in one["rows"]]
        drawn = table([CATEGORIES.get(head, head) for head in one["heads"]], rows)
        if len(rows) > FOLDED:
            parts.append(f"<details><summary>{one['title']}</summary>\n\n{drawn}\n</details>\n")
        else:
            parts.append(f"*{one['title']}*\n\n{drawn}")
    return "\n".join(parts)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(runs: Mapping[str, Run]) -> dict[str, str]:
    """Every table for which there is a file, by the name of its place."""
    out: dict[str, str] = {}
    for name, run in runs.items():
        if name.startswith("peers_"):
            of = name.replace("_", "-")
            out[f"{of}-quality"] = origin(name, run) + peers_quality(run)
            out[f"{of}-cost"] = peers_cost(run)
        elif name.startswith("study_"):
            out[name.replace("_", "-")] = origin(name, run) + study(run) + PICTURES.get(name, "")
        elif name.startswith("timex_"):
            out[name.replace("_", "-")] = origin(name, run) + timex(run)
        elif name in ("locomo", "longmemeval"):
            out[name] = origin(name, run) + retrieval(run)
    timed = {name: run for name, run in runs.items() if name.startswith("speed_")}
    if timed:
        last = max(timed, key=lambda name: timed[name]["units"])
        out["speed"] = origin(last, timed[last]) + speed(list(timed.values()))
    return out


def write(page: str, made: Mapping[str, str]) -> str:
    """The page with those tables that have a place in it."""
    for name, text in made.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda match, text=text: f"{match[1]}{text}{match[2]}",  # type: ignore[misc]
            page,
            flags=re.DOTALL,
        )
    return page


def write_all(made: Mapping[str, str], pages: Sequence[Path] = PAGES) -> None:
    """Each table into the page that has a place for it; one that has none is an error."""
    texts = {path: path.read_text("utf-8") for path in pages}
    homeless = [name for name in made if not any(f"<!-- {name} -->" in text for text in texts.values())]
    if homeless:
        raise SystemExit(f"no page has a place for {', '.join(homeless)}")
    for path, text in texts.items():
        path.write_text(write(text, made), "utf-8")


def _star(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return ""
    low, high = figure["interval_95"]
    return " *" if low > 0 or high < 0 else ""


def _with(value: float, ends: Sequence[float]) -> str:
    return f"**{value:.3f}** [{ends[0]:.3f}, {ends[1]:.3f}]"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _tenths(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _three(times: Mapping[str, float]) -> str:
    return " / ".join(f"{times[key]:.1f}" for key in ("p50", "p95", "p99"))


def _cell(value: Any) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)
    return f"**{text[:-1]}**" if text.endswith("]*") else text


def main(folder: Path) -> None:
    runs = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    write_all(tables(runs))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
