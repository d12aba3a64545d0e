"""The notebook in `examples/` runs, cell by cell, and its results are what its text says."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "examples" / "notebook.ipynb"


def results(notebook: Path) -> list[Any]:
    """What each code cell shows: the value of its last line, where that is an expression."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        parsed = ast.parse("".join(cell["source"]))
        last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
        exec(compile(parsed, str(notebook), "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), str(notebook), "eval"), names))
    return shown


def test_every_cell_runs_and_shows_what_the_text_promises(capsys: Any) -> None:
    turns, found, text, _printed, day, facts, answer, _closed = results(NOTEBOOK)
    assert turns > 100
    assert len(found) == 5 and "<svg" in found._repr_html_() and text == found[0].text
    assert "1 June 2025 Sunday" in capsys.readouterr().out
    assert (day.end - day.start).days == 1 and f"{day.start:%Y-%m}" == "2025-05"
    assert facts == ("Lisbon", "Porto") and "transit" in answer
