"""A map as SVG: a panel for each level, a colour for each group. No library, no font, nothing to fetch.

And as PNG, drawn by matplotlib where it is installed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable
from everwhen.tree.map.chart import Chart, Layer, LevelMeasures

PANEL, GAP, TOP, BOTTOM = 220, 16, 44, 46
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#666666")
"""Okabe and Ito's, which people who see colours differently tell apart; more groups start again with another shape."""
LABELLED = 300
"""Points of a panel up to which each tells its day where one points at it."""
MOST_NAMED = 12
"""Groups that the legend names."""


def svg(chart: Chart, title: str) -> str:
    groups = list(dict.fromkeys(group for plane in chart.planes for group in plane.groups))
    width = max(1, len(chart.planes)) * (PANEL + GAP) + GAP
    height = TOP + PANEL + BOTTOM + (20 if len(groups) > 1 else 0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{GAP}" y="18" font-size="14" font-weight="600">{escape(title)}</text>',
    ]
    for place, (plane, row) in enumerate(zip(chart.planes, chart.measured, strict=True)):
        lines += _panel(plane, row, GAP + place * (PANEL + GAP), groups)
    if len(groups) > 1:
        lines += _legend(groups, height - 12)
    return "\n".join([*lines, "</svg>", ""])


def _panel(plane: Layer, row: LevelMeasures, left: int, groups: Sequence[str]) -> list[str]:
    out = [
        f'<g transform="translate({left} {TOP})">',
        f'<text y="-8">Level {plane.level}: {escape(plane.name)}</text>',
        f'<rect width="{PANEL}" height="{PANEL}" fill="#fafafa" stroke="#ddd"/>',
    ]
    size = 2.0 if len(plane.vectors) > 300 else 3.0
    labels = plane.labels or ("",) * len(plane.vectors)
    for (x, y), group, label in zip(_scaled(plane.vectors), plane.groups, labels, strict=True):
        number = groups.index(group)
        named = f"<title>{escape(label)}</title>" if label and len(plane.vectors) <= LABELLED else ""
        out.append(_mark(x, y, size, number, named))
    figures = f"{row.points:,} points, silhouette {_figure(row.silhouette)}, spread {_figure(row.spread)}"
    return [*out, f'<text y="{PANEL + 18}" font-size="11" fill="#666">{figures}</text>', "</g>"]


def _mark(x: float, y: float, size: float, number: int, named: str) -> str:
    colour = COLOURS[number % len(COLOURS)]
    look = f'fill="{colour}" fill-opacity="0.6"'
    if number // len(COLOURS) % 2:
        corner = f'x="{x - size:.1f}" y="{y - size:.1f}"'
        return f'<rect {corner} width="{2 * size}" height="{2 * size}" {look}>{named}</rect>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {look}>{named}</circle>'


def _legend(groups: Sequence[str], y: int) -> list[str]:
    out, x = [], float(GAP)
    for number, group in enumerate(groups[:MOST_NAMED]):
        out.append(_mark(x + 4, y - 4, 4, number, ""))
        out.append(f'<text x="{x + 12:.0f}" y="{y}" font-size="11">{escape(group)}</text>')
        x += 26 + 6.2 * len(group)
    if len(groups) > MOST_NAMED:
        more = f"and {len(groups) - MOST_NAMED} more"
        out.append(f'<text x="{x:.0f}" y="{y}" font-size="11" fill="#666">{more}</text>')
    return out


def _scaled(points: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Into the panel with a margin, one scale for both axes; y grows downwards there."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    inner = PANEL - 20.0
    scale = inner / max(float((high - low).max()), 1e-9)
    centred = (points - (low + high) / 2) * scale * np.array([1.0, -1.0])
    return np.asarray(centred + PANEL / 2, np.float64)


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


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
            x, y, colour = plane.vectors[own, 0], plane.vectors[own, 1], COLOURS[number % len(COLOURS)]
            axes.scatter(x, y, s=6, alpha=0.6, color=colour, label=group)
        axes.set_title(f"Level {plane.level}: {plane.name}", fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    if len(groups) > 1 and chart.planes:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=7)
    figure.savefig(path, dpi=150)
