"""The memory map: where a bank's memories lie, level by level, with map of how they lie there, and pictures.

The map are those of TiMem's appendix D, which names them and leaves their formulas open: pure functions over a
matrix with a row for each point; distances are Euclidean. What has no value (one point, one group) is NaN. Pictures are
SVG without a library, and PNG by matplotlib where that is installed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable

Matrix = NDArray[np.float64]

VARIANCE = 0.95
"""The share of the variance that the intrinsic dimension holds."""
MOST_DIMENSIONS = 100
"""Where it stops counting, as the paper's tables do."""
NEIGHBOURS = 15
"""Neighbours in trustworthiness and continuity, where there are enough points."""

DEFINITIONS = {
    "dimension": "principal components that hold 95% of the variance, at most 100",
    "silhouette": "mean of (b - a) / max(a, b): a the mean distance to the own group, b to the nearest other one",
    "separation": "mean distance between the groups' centres over the mean distance of points to their own centre",
    "spread": "mean distance to the centre of all",
    "variation": "standard deviation of those distances over their mean",
    "radius95": "the distance from the centre inside which 95% of the points lie",
    "trustworthiness": "1 less the penalty for points that are neighbours in the picture and not in the space",
    "continuity": "1 less the penalty for points that are neighbours in the space and not in the picture",
}


def dimension(points: Matrix, share: float = VARIANCE) -> float:
    """The least d with `sum of the first d eigenvalues / sum of all >= share`, of the covariance."""
    if len(points) < 2:
        return float("nan")
    variances = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2
    if not variances.sum():
        return 0.0
    held = np.cumsum(variances) / variances.sum()
    return float(min(int(np.searchsorted(held, share - 1e-12)) + 1, MOST_DIMENSIONS))


def silhouette(points: Matrix, groups: Sequence[str]) -> float:
    """`mean over the points of (b - a) / max(a, b)`; a point that is alone in its group counts 0 (Rousseeuw)."""
    names, own = np.unique(np.asarray(groups), return_inverse=True)
    if not 2 <= len(names) < len(points):
        return float("nan")
    apart = distances(points, points)
    sizes = np.bincount(own).astype(np.float64)
    sums = np.stack([apart[:, own == group].sum(axis=1) for group in range(len(names))], axis=1)
    here = np.arange(len(points))
    inside = sums[here, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[here, own] = np.inf
    outside = means.min(axis=1)
    widest = np.maximum(inside, outside)
    score = np.where(widest > 0, (outside - inside) / np.where(widest > 0, widest, 1), 0.0)
    return float(np.where(sizes[own] > 1, score, 0.0).mean())


def separation(points: Matrix, groups: Sequence[str]) -> float:
    """`mean of |c_g - c_h| over pairs of groups / mean of |x - c_g(x)| over points`."""
    names, own = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return float("nan")
    centres = np.stack([points[own == group].mean(axis=0) for group in range(len(names))])
    inside = float(np.linalg.norm(points - centres[own], axis=1).mean())
    between = distances(centres, centres)[np.triu_indices(len(names), 1)].mean()
    return float(between / inside) if inside > 0 else float("nan")


def radii(points: Matrix) -> tuple[float, float, float]:
    """Spread, coefficient of variation and 95% radius: of `r_i = |x_i - mean x|`."""
    if len(points) < 2:
        return float("nan"), float("nan"), float("nan")
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    spread = float(away.mean())
    return spread, float(away.std() / spread) if spread > 0 else 0.0, float(np.percentile(away, 95))


def trustworthiness(points: Matrix, picture: Matrix, neighbours: int = NEIGHBOURS) -> float:
    """`1 - 2 / (n k (2n - 3k - 1)) * sum over i, and j among i's k nearest in the picture, of max(0, r_ij - k)`.

    r_ij is the rank of j by its distance from i in the space (Venna and Kaski). With fewer than `2 k + 2` points, k is
    the largest for which the formula is defined.
    """
    count = len(points)
    k = min(neighbours, (count - 1) // 2 if count % 2 else count // 2 - 1)
    if k < 1:
        return float("nan")
    ranks, near = _ranks(points), _ranks(picture)
    worse = np.where((near >= 1) & (near <= k), np.maximum(ranks - k, 0), 0).sum()
    return float(1 - 2 * worse / (count * k * (2 * count - 3 * k - 1)))


def continuity(points: Matrix, picture: Matrix, neighbours: int = NEIGHBOURS) -> float:
    """Trustworthiness the other way round: neighbours in the space that the picture tears apart."""
    return trustworthiness(picture, points, neighbours)


def distances(left: Matrix, right: Matrix) -> Matrix:
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    if left is right:
        np.fill_diagonal(squared, 0.0)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)), np.float64)


def _ranks(points: Matrix) -> NDArray[np.int64]:
    """For each point (row) the rank of every other by distance, from 1; 0 for itself."""
    apart = distances(points, points)
    np.fill_diagonal(apart, -1.0)
    order = np.argsort(apart, axis=1, kind="stable")
    ranks = np.empty_like(order)
    ranks[np.arange(len(points))[:, None], order] = np.arange(len(points))
    return ranks


# Many dimensions to two: by principal components, or by UMAP where it is installed

Method: TypeAlias = Literal["auto", "pca", "umap"]
METHODS: tuple[Method, ...] = ("auto", "pca", "umap")

UMAP_NEIGHBOURS = 15
"""UMAP's own default."""
UMAP_LEAST = 8
"""Points below which UMAP has no graph to speak of, and principal components are used."""
SEED = 7


def chosen(method: Method) -> Literal["pca", "umap"]:
    """What will be used: UMAP if it is installed, principal components otherwise."""
    installed = find_spec("umap") is not None
    if method == "umap" and not installed:
        raise Unavailable("umap-learn is not installed: pip install 'everwhen[bench]', or use --method pca")
    return "umap" if installed and method != "pca" else "pca"


def project(points: Matrix, method: Literal["pca", "umap"]) -> Matrix:
    """Two coordinates for each point. The same points give the same picture."""
    if method == "umap" and len(points) >= UMAP_LEAST:
        import umap

        fitted = umap.UMAP(
            n_neighbors=min(UMAP_NEIGHBOURS, len(points) - 1), random_state=SEED, n_jobs=1, init="pca"
        )
        return np.asarray(fitted.fit_transform(points), np.float64)
    return pca(points)


def pca(points: Matrix) -> Matrix:
    """The first two principal components; the sign of each is such that its largest loading is positive."""
    if not len(points):
        return np.zeros((0, 2))
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    flat = centred @ axes.T
    return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))


# A map made of layers: one picture and one line of map for each level

MOST_POINTS = 2000
"""Points of a level that are drawn and measured; of more, so many chosen at random: distances are of all pairs."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The points of one level: a vector, a group and a label (a date, never the words) for each."""

    level: int
    name: str
    vectors: NDArray[np.floating[Any]]
    groups: tuple[str, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelMeasures:
    """The map of a level, as `map.DEFINITIONS` says; NaN where one has no value."""

    level: int
    name: str
    points: int
    groups: int
    dimension: float
    silhouette: float
    separation: float
    spread: float
    variation: float
    radius95: float
    trustworthiness: float
    continuity: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The whole map. The vectors of its planes are the two coordinates of each point."""

    method: Literal["pca", "umap"]
    planes: tuple[Layer, ...]
    measured: tuple[LevelMeasures, ...]


def chart(layers: Sequence[Layer], method: Method = "auto") -> Chart:
    """Draw and measure each level. Levels are projected one by one, as the paper does."""
    way = chosen(method)
    planes, rows = [], []
    for layer in layers:
        some = _sampled(layer)
        points = some.vectors.astype(np.float64)
        flat = project(points, way)
        planes.append(replace(some, vectors=flat))
        rows.append(_measured(some, points, flat, len(layer.vectors)))
    return Chart(way, tuple(planes), tuple(rows))


def _measured(layer: Layer, points: Matrix, flat: Matrix, count: int) -> LevelMeasures:
    spread, variation, radius = radii(points)
    return LevelMeasures(
        level=layer.level,
        name=layer.name,
        points=count,
        groups=len(set(layer.groups)),
        dimension=dimension(points),
        silhouette=silhouette(points, layer.groups),
        separation=separation(points, layer.groups),
        spread=spread,
        variation=variation,
        radius95=radius,
        trustworthiness=trustworthiness(points, flat),
        continuity=continuity(points, flat),
    )


def _sampled(layer: Layer) -> Layer:
    if len(layer.vectors) <= MOST_POINTS:
        return layer
    kept = np.sort(np.random.default_rng(SEED).choice(len(layer.vectors), MOST_POINTS, replace=False))
    return replace(
        layer,
        vectors=layer.vectors[kept],
        groups=tuple(layer.groups[place] for place in kept),
        labels=tuple(layer.labels[place] for place in kept) if layer.labels else (),
    )


# Pictures

PANEL, GAP, TOP, BOTTOM = 220, 16, 44, 46
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#666666")
"""Okabe and Ito's, which people who see colours differently tell apart; more groups start again with another shape."""
LABELLED = 300
"""Points of a panel up to which each shows its day where one points at it."""
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
