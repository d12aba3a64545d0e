"""The map against cases worked out by hand, and against scikit-learn where it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.tree import map as measures


def test_points_on_a_line_have_one_dimension_and_a_square_has_two() -> None:
    line = np.outer(np.arange(5.0), np.ones(4))
    square = np.array([[0, 0, 5.0], [0, 1, 5.0], [1, 0, 5.0], [1, 1, 5.0]])
    assert measures.dimension(line) == 1
    assert measures.dimension(square) == 2
    assert measures.dimension(np.zeros((3, 4))) == 0
    assert math.isnan(measures.dimension(np.zeros((1, 4))))


def test_the_dimension_counts_the_components_that_hold_the_share() -> None:
    # variances 9, 4 and 1 along the axes: 13/14 is 93%
    points = np.array([[3, 0, 0], [-3, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 1], [0, 0, -1.0]])
    assert measures.dimension(points, 0.92) == 2
    assert measures.dimension(points, 0.95) == 3


def test_it_stops_counting_at_a_hundred() -> None:
    assert measures.dimension(np.eye(150)) == 100


def test_two_pairs_far_apart_have_the_silhouette_worked_out_by_hand() -> None:
    # a = 1 for each; b = (10 + 11) / 2 or (9 + 10) / 2: (10.5 - 1) / 10.5 and (9.5 - 1) / 9.5, two points each
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    wanted = (2 * (9.5 / 10.5) + 2 * (8.5 / 9.5)) / 4
    assert measures.silhouette(points, ["a", "a", "b", "b"]) == pytest.approx(wanted)


def test_a_point_alone_in_its_group_counts_nothing() -> None:
    points = np.array([[0.0], [1.0], [10.0]])
    wanted = ((10 - 1) / 10 + (9 - 1) / 9 + 0) / 3
    assert measures.silhouette(points, ["a", "a", "b"]) == pytest.approx(wanted)


def test_one_group_or_as_many_as_points_have_no_silhouette() -> None:
    points = np.array([[0.0], [1.0], [2.0]])
    assert math.isnan(measures.silhouette(points, ["a", "a", "a"]))
    assert math.isnan(measures.silhouette(points, ["a", "b", "c"]))


def test_separation_is_between_over_within() -> None:
    # centres at 0.5 and 10.5, each point 0.5 from its own
    assert measures.separation(np.array([[0.0], [1.0], [10.0], [11.0]]), list("aabb")) == pytest.approx(20.0)
    assert math.isnan(measures.separation(np.array([[0.0], [1.0]]), ["a", "a"]))


def test_radii_are_of_the_distances_to_the_centre() -> None:
    spread, variation, radius = measures.radii(np.array([[-3.0, 0], [3, 0], [0, 1], [0, -1]]))
    assert spread == pytest.approx(2.0)
    assert variation == pytest.approx(0.5)
    assert radius == pytest.approx(3.0)


def test_a_picture_that_keeps_the_neighbours_is_trusted_and_one_that_swaps_them_less() -> None:
    line = np.arange(6.0)[:, None]
    assert measures.trustworthiness(line, line * 3, 2) == 1.0
    assert measures.continuity(line, line * 3, 2) == 1.0
    # n = 5, k = 1, the last point moved beside the first: it is the nearest of 0 and 1, and 0 is its own, each of rank
    # 4 in the space, so that the penalty is 3 + 3 + 3: 1 - 2 * 9 / (5 * 1 * (10 - 3 - 1))
    moved = np.array([[0.0], [1.0], [2.0], [3.0], [0.4]])
    assert measures.trustworthiness(np.arange(5.0)[:, None], moved, 1) == pytest.approx(0.4)


def test_too_few_points_have_no_trustworthiness() -> None:
    assert math.isnan(measures.trustworthiness(np.zeros((2, 3)), np.zeros((2, 2))))
    assert not math.isnan(measures.trustworthiness(np.eye(4), np.eye(4)[:, :2]))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(12, 40), st.integers(1, 5))
def test_scikit_learn_agrees(seed: int, count: int, neighbours: int) -> None:
    manifold, metrics = pytest.importorskip("sklearn.manifold"), pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    points, picture = rng.normal(size=(count, 6)), rng.normal(size=(count, 2))
    groups = [str(one) for one in rng.integers(0, 3, count)]
    ours = measures.trustworthiness(points, picture, neighbours)
    assert ours == pytest.approx(manifold.trustworthiness(points, picture, n_neighbors=neighbours))
    if len(set(groups)) > 1:
        assert measures.silhouette(points, groups) == pytest.approx(metrics.silhouette_score(points, groups))
