"""Measures of how points lie in a space: those of TiMem's appendix D, which names them and leaves their formulas open.

Pure functions over a matrix with a row for each point; distances are Euclidean. What has no value (one point, one
group) is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
