"""The pages about retrieval say what the weights and training/figures/fusion.json say."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from everwhen.recall.fusion import WEIGHTS

ROOT = Path(__file__).parents[2]


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_weights_and_held_out_figures_are_those_of_the_files() -> None:
    tables = _script("retrieval_tables")
    fitted = json.loads(WEIGHTS.read_text("utf-8"))
    figures = json.loads(tables.FIGURES.read_text("utf-8"))
    page, studies = (path.read_text("utf-8") for path in tables.PAGES)
    again = "run python scripts/retrieval_tables.py"
    assert tables.weights(fitted) in page, again
    assert tables.held_out(figures) in studies, again
    assert set(tables.FEATURES) == set(fitted["weights"]["maxsim"])


def test_a_plot_shows_every_point_and_calls_nobody() -> None:
    lines = {"a": [(128.0, 0.5), (4096.0, 0.9)], "b & c": [(128.0, 0.4), (4096.0, 0.8)]}
    svg = _script("figures").plot("title", lines, "tokens", (0.0, 1.0), lambda value: f"{value:.2f}")
    assert svg.count("<circle") == 4
    assert "b &amp; c" in svg and "4,096" in svg
    assert svg.replace("http://www.w3.org/2000/svg", "").count("http") == 0
