"""The map as a whole: layers drawn and measured, pictures written."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from everwhen.errors import Unavailable
from everwhen.tree.map import Layer, chart, chosen, pca, svg, write_png


def layer(level: int = 1, count: int = 30, groups: int = 3) -> Layer:
    rng = np.random.default_rng(level)
    names = tuple(f"group <{place % groups}>" for place in range(count))
    middles = 4 * rng.normal(size=(groups, 16))
    points = middles[np.arange(count) % groups] + rng.normal(size=(count, 16))
    return Layer(level, "session", points.astype(np.float32), names, tuple(str(one) for one in range(count)))


def test_every_level_is_drawn_and_measured() -> None:
    drawn = chart([layer(1), layer(2, 12)], "pca")
    assert drawn.method == "pca"
    assert [(row.level, row.points, row.groups) for row in drawn.measured] == [(1, 30, 3), (2, 12, 3)]
    assert [plane.vectors.shape for plane in drawn.planes] == [(30, 2), (12, 2)]
    assert all(row.silhouette > 0 and row.separation > 1 for row in drawn.measured)


def test_a_level_of_one_point_has_a_picture_and_no_measures() -> None:
    drawn = chart([layer(5, 1, 1)], "pca")
    assert math.isnan(drawn.measured[0].silhouette) and math.isnan(drawn.measured[0].spread)
    assert "1 points" in svg(drawn, "alone")


def test_a_large_level_is_sampled_the_same_way_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everwhen.tree.map.MOST_POINTS", 200)
    large = layer(1, 250)
    first, second = chart([large], "pca"), chart([large], "pca")
    assert first.measured[0].points == 250
    assert len(first.planes[0].vectors) == 200
    assert (first.planes[0].vectors == second.planes[0].vectors).all()


def test_principal_components_find_the_longest_axis() -> None:
    points = np.zeros((20, 5))
    points[:, 3] = np.arange(20.0)
    flat = pca(points)
    assert np.allclose(np.diff(flat[:, 0]), 1.0) and np.allclose(flat[:, 1], 0.0)


def test_the_svg_is_one_document_with_a_mark_for_each_point_and_escaped_names() -> None:
    drawn = chart([layer(1), layer(2, 12)], "pca")
    text = svg(drawn, "a & b")
    root = ElementTree.fromstring(text)
    marks = [one for one in root.iter() if one.tag.endswith("circle")]
    assert len(marks) == 30 + 12 + 3  # and the legend
    assert "a &amp; b" in text and "group &lt;0&gt;" in text
    assert all(0 <= float(one.attrib["cx"]) <= 2000 for one in marks)


def test_more_groups_than_colours_change_their_shape() -> None:
    drawn = chart([layer(1, 40, 20)], "pca")
    text = svg(drawn, "many")
    assert "and 8 more" in text
    assert "<rect x=" in text


def test_what_is_not_installed_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = chart([layer()], "pca")
    monkeypatch.setattr("everwhen.tree.map.find_spec", lambda _: None)
    with pytest.raises(Unavailable, match="bench"):
        chart([layer()], "umap")
    with pytest.raises(Unavailable, match=r"\.svg"):
        write_png(drawn, "x", tmp_path / "x.png")
    assert chosen("auto") == "pca"
