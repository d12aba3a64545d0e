"""A map as PNG, drawn by matplotlib where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from everwhen.errors import Unavailable
from everwhen.map.chart import Chart
from everwhen.map.svg import COLOURS


def write_png(chart: Chart, title: str, path: Path) -> None:
    if find_spec("matplotlib") is None:
        raise Unavailable("matplotlib is not installed: pip install 'everwhen[bench]', or write an .svg")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 * max(1, len(chart.planes)), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=10)
    groups = list(dict.fromkeys(group for plane in chart.planes for group in plane.groups))
    for place, plane in enumerate(chart.planes):
        axes = figure.add_subplot(1, len(chart.planes), place + 1)
        for number, group in enumerate(groups):
            own = [row for row, other in enumerate(plane.groups) if other == group]
            axes.scatter(
                plane.vectors[own, 0],
                plane.vectors[own, 1],
                s=6,
                alpha=0.6,
                color=COLOURS[number % len(COLOURS)],
                label=group,
            )
        axes.set_title(f"Level {plane.level}: {plane.name}", fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    if len(groups) > 1 and chart.planes:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=7)
    figure.savefig(path, dpi=150)
