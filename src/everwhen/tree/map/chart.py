"""A map made of layers: one picture and one line of measures for each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from everwhen.tree.map import measures
from everwhen.tree.map.project import Method, chosen, project

Matrix = NDArray[np.float64]

MOST_POINTS = 2000
"""Points of a level that are drawn and measured; of more, so many chosen at random: distances are of all pairs."""
SEED = 7


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
    """The measures of a level, as `measures.DEFINITIONS` says; NaN where one has no value."""

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
    spread, variation, radius = measures.radii(points)
    return LevelMeasures(
        level=layer.level,
        name=layer.name,
        points=count,
        groups=len(set(layer.groups)),
        dimension=measures.dimension(points),
        silhouette=measures.silhouette(points, layer.groups),
        separation=measures.separation(points, layer.groups),
        spread=spread,
        variation=variation,
        radius95=radius,
        trustworthiness=measures.trustworthiness(points, flat),
        continuity=measures.continuity(points, flat),
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
