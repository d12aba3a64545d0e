"""Studies: what a part of the engine is worth, or how a number of it was chosen; `everwhen bench study NAME`.

Above: the command line and benchmarks/history/studies.md. Below: one module a study, found by its name. The first line
of a module's docstring says what it asks, and it has `run(request) -> Result`. Those that need an LLM set
`NEEDS_LLM = True`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from everwhen.errors import NotFound

FOLDER = Path(__file__).parent


class Table(TypedDict):
    """One table of a study, ready to print: cells are words or numbers, the first column names the row."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Result(TypedDict, total=False):
    """What a study brings: its tables, and under `figures` all numbers behind them."""

    study: str
    data: str
    tables: Sequence[Table]
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a study is given: the data set, how much of it, and who hears how far it is."""

    data: Path
    limit: int | None = None
    progress: Callable[[int], None] | None = None


def names() -> dict[str, str]:
    """Every study with what it asks; nothing is imported for that."""
    found = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        found[path.stem] = said.splitlines()[0] if said else ""
    return found


def run(name: str, request: Request) -> Result:
    """Run one study by name."""
    if name not in names():
        raise NotFound(f"there is no study {name!r}; there are: {', '.join(names())}")
    module = import_module(f"everwhen_bench.studies.{name}")
    result: Result = module.run(request)
    return {"study": name, "data": request.data.name, **result}
