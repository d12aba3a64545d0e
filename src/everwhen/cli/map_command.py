"""`show map`: the vectors of the memory tree as a picture, and measures of them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.printing import table
from everwhen.errors import UsageError

if TYPE_CHECKING:
    from everwhen.tree.map import Chart, Layer

FIGURES = {
    "dimension": "dim",
    "silhouette": "silh",
    "separation": "sep",
    "spread": "spread",
    "variation": "cv",
    "radius95": "r95",
    "trustworthiness": "trust",
    "continuity": "cont",
}
"""The measures, and how a narrow table calls them."""


@app.command("map")
def map_(
    here: GlobalOptions,
    banks: Annotated[
        list[str] | None, Argument(help="Banks to draw together, a colour each; none: the one of --bank.")
    ] = None,
    out: Annotated[Path | None, Option(help="The picture: .svg or .png (bench extra).")] = None,
    method: Annotated[str, Option(help="auto, pca or umap (bench extra).")] = "auto",
) -> None:
    """Draw the vectors of the summaries, and measure them."""
    from everwhen.tree.map import METHODS, chart

    if method not in METHODS:
        raise UsageError(f"unknown method '{method}'; use one of {', '.join(METHODS)}")
    if out is not None and out.suffix not in (".svg", ".png"):
        raise UsageError(f"{out.name} is no picture that can be written; name it .svg or .png")
    names = banks or [here.bank or "default"]
    layers = _layers(here, names)
    if not layers:
        raise UsageError("there is nothing to draw; add something, then `everwhen bank consolidate`")
    drawn = chart(layers, method)
    if out is not None:
        _write(drawn, f"{', '.join(names)} ({drawn.method.upper()})", out)
    _report(here, drawn, out, len(names) > 1)


def _layers(here: GlobalOptions, banks: list[str]) -> list[Layer]:
    """The levels of one bank, or those of several laid over each other."""
    import numpy as np

    from everwhen.tree.map import Layer

    found: dict[int, list[Layer]] = {}
    for bank in banks:
        here.bank = bank
        with here.open() as memory:
            if len(banks) == 1:
                return memory.layers()
            for layer in memory.layers(group=bank):
                found.setdefault(layer.level, []).append(layer)
    return [
        Layer(
            level,
            several[0].name,
            np.concatenate([one.vectors for one in several]),
            tuple(group for one in several for group in one.groups),
            tuple(label for one in several for label in one.labels),
        )
        for level, several in sorted(found.items())
    ]


def _write(drawn: Chart, title: str, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".png":
        from everwhen.tree.map import write_png

        write_png(drawn, title, out)
    else:
        from everwhen.tree.map import svg

        out.write_text(svg(drawn, title), encoding="utf-8")


def _report(here: GlobalOptions, drawn: Chart, out: Path | None, by_bank: bool) -> None:
    from everwhen.tree.map import DEFINITIONS

    if here.json:
        rows = [
            {
                key: None if isinstance(value, float) and math.isnan(value) else value
                for key, value in asdict(row).items()
            }
            for row in drawn.measured
        ]
        picture = str(out) if out else None
        here.print({"method": drawn.method, "levels": rows, "definitions": DEFINITIONS, "out": picture})
        return
    measures = table()
    for name in ("level", "points", "groups", *FIGURES.values()):
        measures.add_column(name, justify="left" if name == "level" else "right", no_wrap=True)
    for row in drawn.measured:
        figures = [getattr(row, name) for name in FIGURES]
        measures.add_row(
            f"{row.level} {row.name}",
            f"{row.points:,}",
            str(row.groups),
            *("–" if math.isnan(one) else f"{one:.0f}" if one > 10 else f"{one:.3f}" for one in figures),
        )
    here.console.print(measures)
    here.say(f"\nGroups are {'banks' if by_bank else 'months'}; distances are Euclidean, of unit vectors.")
    for name, meaning in DEFINITIONS.items():
        here.remark(f"  {FIGURES[name]}: {name}, {meaning}")
    if out is not None:
        here.say(f"\n{out} written")
