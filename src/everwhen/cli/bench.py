"""`bench`: in a checkout the commands of `benchmarks/everwhen_bench`, which are not part of the wheel."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import everwhen
from everwhen.cli.app import app
from everwhen.errors import UsageError

FOLDER = Path(everwhen.__file__).parents[2] / "benchmarks"
"""Beside `src/` in a checkout; an installed package has none."""


def _add_commands() -> None:
    if str(FOLDER) not in sys.path:
        sys.path.insert(
            0, str(FOLDER)
        )  # in front: of two checkouts, the benches belong to the package that runs
    # By name: the package must not depend on what measures it.
    app.add_typer(import_module("everwhen_bench.cli.commands").bench, name="bench")


def _add_hint() -> None:
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command("bench", hidden=True, add_help_option=False, context_settings=anything)
    def bench() -> None:
        raise UsageError("benches come with a checkout of everwhen, not with the installed package")


if (FOLDER / "everwhen_bench" / "cli").is_dir():
    _add_commands()
else:
    _add_hint()
