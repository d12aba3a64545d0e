"""Many dimensions to two: by principal components, or by UMAP where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Unavailable

Matrix = NDArray[np.float64]
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
