"""What `bench` prints beyond single figures: the rows of an ablation, and where the time of a recall goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from everwhen.cli.app import GlobalOptions
from everwhen_bench.guard import Held
from everwhen_bench.studies import Result

GROUPED = "turn ndcg@10"
"""The figure that is shown by kind of question; the others are in the file."""


def draw_ablations(here: GlobalOptions, ablations: dict[str, Any]) -> None:
    """Every variant beside the default, then SATF and its rivals, then what fits into how many tokens."""
    if not ablations:
        return
    rows, satf = ablations["rows"], ablations["satf"]
    keys = list(rows["default"]["figures"])
    table = _table("difference to the default [95%]", *keys)
    for name, row in rows.items():
        table.add_row(name, *(_beside(row["figures"][key], name != "default") for key in keys))
    here.console.print("", table)
    table = _table("SATF's gate: acts, then " + GROUPED, *next(iter(satf["gate"].values())))
    for name, gammas in satf["gate"].items():
        table.add_row(name, *(f"{one['active']:.0%} {_number(one.get(GROUPED))}" for one in gammas.values()))
    here.console.print("", table)
    groups = list(rows["default"]["by_group"])
    table = _table(GROUPED + ", without > with", *groups)
    for name, row in satf["against"].items():
        table.add_row(name, *(_before_and_after(row["by_group"][group].get(GROUPED)) for group in groups))
    here.console.print("", table)
    table = _table("evidence inside tokens", *ablations["tokens"]["default"])
    for name, budgets in ablations["tokens"].items():
        table.add_row(name, *map(_number, budgets.values()))
    here.console.print("", table)


def draw_stages(here: GlobalOptions, recipes: dict[str, Any]) -> None:
    """Where the time of a recall goes, for each recipe that was timed."""
    for recipe, stages in recipes.items():
        table = _table(f"ms ({recipe})", "p50", "p95", "p99", "share")
        for stage, times in stages.items():
            table.add_row(
                stage, *(f"{times[key]:.2f}" for key in ("p50", "p95", "p99")), f"{times['share']:.0%}"
            )
        here.console.print("", table)


def draw_languages(
    here: GlobalOptions, languages: dict[str, Any], failures: Sequence[dict[str, Any]]
) -> None:
    """What each library passed by language, unaided and told the language, then every case that failed."""
    if not languages:
        return
    names = list(languages["all"])
    heads = [head for name in names for head in (name, "of", "accuracy", "told the language", "p50 ms")]
    table = _table("language", *heads)
    for language, row in languages.items():
        cells = []
        for name in names:
            one = row[name]
            cells += [str(one["passed"]), str(one["cases"]), _number(one["accuracy"]), str(one["told"])]
            cells.append(f"{one['p50_ms']:.2f}")
        table.add_row(language, *cells)
    here.console.print("", table)
    table = _table("failed", "language", "source", "text", "said on", "accepted", "found")
    for case in failures:
        source, sides = case["source"] or "", (_intervals(case[key]) for key in ("accept", "found"))
        text = " ".join(case["text"].split())
        table.add_row(str(case["index"]), case["lang"] or "", source, escape(text[:60]), case["ref"], *sides)
    here.console.print("", table)


def _intervals(pairs: Sequence[Sequence[str | None]]) -> str:
    return ", ".join("/".join(side or ".." for side in pair) for pair in pairs) or "nothing"


def draw_peers(here: GlobalOptions, result: dict[str, Any]) -> None:
    """Quality first, then what it costs; at the end who could not be asked, and why."""
    here.console.print(f"{result['of']}, {result['questions']} questions, vectors {result['vectors']}")
    heads = [f"turn {key}" for key in result["rows"][0]["turn"]] if result["rows"] else []
    table = _table("peer", *heads, *(f"session {key}" for key in ("recall@10", "ndcg@10", "all@5")))
    costs = _table(
        "peer", "ingest s", "of it embedding", "p50 ms", "p95 ms", "disk MB", "memory MB", "MB", "packages"
    )
    for row in result["rows"]:
        sessions = (row["session"].get(key) for key in ("recall@10", "ndcg@10", "all@5"))
        table.add_row(row["peer"], *map(_number, row["turn"].values()), *map(_number, sessions))
        costs.add_row(
            row["peer"],
            *(_tenths(row[key]) for key in ("ingest_s", "embedding_s")),
            *(_tenths(row["recall_ms"][key]) for key in ("p50", "p95")),
            *(_tenths(row[key]) for key in ("disk_mb", "rss_mb", "installed_mb")),
            "-" if row["installed_packages"] is None else f"{row['installed_packages']:.0f}",
        )
    here.console.print("", table, "", costs)
    for name, reason in result["absent"].items():
        here.console.print(f"{name}: not asked, {reason}")


def draw_guard(here: GlobalOptions, rows: Sequence[Held]) -> None:
    """Every figure beside the committed one."""
    table = _table("figure", "now", "committed", "difference", "")
    for row in rows:
        difference = None if row.committed is None else row.value - row.committed
        table.add_row(
            row.name,
            _number(row.value),
            _number(row.committed),
            "-" if difference is None else f"{difference:+.3f}",
            "fell" if row.fell else "",
        )
    here.console.print(table)


def draw_study(here: GlobalOptions, result: Result) -> None:
    """The tables of a study, as it made them."""
    for one in result["tables"]:
        table = _table(*one["heads"])
        for row in one["rows"]:
            table.add_row(*(_cell(value) for value in row))
        here.console.print("", one["title"], table)


def _cell(value: Any) -> str:
    return _number(value) if value is None or isinstance(value, float) else str(value)


def _table(*heads: str) -> Table:
    return Table(*heads, box=None, pad_edge=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _tenths(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _beside(figure: dict[str, Any], differs: bool) -> str:
    if not differs:
        return _number(figure["value"])
    low, high = figure["interval_95"]
    return f"{figure['value']:.3f} {figure['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"


def _before_and_after(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return "-"
    return f"{figure['value'] - figure['difference']:.3f} > {figure['value']:.3f}"
