"""The tables of a study for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everwhen.cli.app import Here

COLUMNS = ("evidence@512", "change@512", "evidence@1024", "change@1024", "sources", "memories", "tokens")


def draw_study(here: Here, result: Mapping[str, Any]) -> None:
    """Each table under its name; differences with their interval."""
    planner = result["planner"]
    here.console.print(f"{result['questions']} questions; the planner's macro F1 {planner['macro_f1']}")
    for name, study in result.items():
        if not isinstance(study, dict) or "rows" not in study or name == "planner":
            continue
        draw(here, name, study["rows"])
        for group in ("by_complexity", "by_category"):
            for label, rows in study.get(group, {}).items():
                draw(here, f"{name}, {group[3:]} {label}", rows)


def draw(here: Here, title: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.table import Table

    columns = [name for name in COLUMNS if any(name in row for row in rows.values())]
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("", *columns):
        table.add_column(name, justify="left" if not name else "right")
    for name, row in rows.items():
        table.add_row(name, *(cell(row, column) for column in columns))
    here.console.print()
    here.console.print(table)


def cell(row: Mapping[str, Any], column: str) -> str:
    """A figure as a table shows it: tokens whole, a difference with its interval."""
    value = row.get(column)
    if value is None:
        return ""
    if column in ("tokens", "memories"):
        return f"{value:,.0f}" if column == "tokens" else f"{value:.1f}"
    if column.startswith("change"):
        low, high = row[f"interval@{column.split('@')[1]}"]
        return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"{value:.3f}"
