"""SATF: equations 2 to 4, what they never change, the gate and the adaptive width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from everwhen.recall.papers.satf import ONE_SITTING, Sigma, bandwidth, satf

# Sixteenths of a day, which floats hold exactly, so that shifting them loses nothing.
dates = st.lists(st.integers(0, 16 * 400), min_size=1, max_size=60).map(
    lambda parts: np.array(parts, dtype=np.float64) / 16
)
widths = st.one_of(st.just("adaptive"), st.floats(0.1, 100))


def order(scores: NDArray[np.float64]) -> list[int]:
    return [int(i) for i in np.argsort(-scores, kind="stable")]


def test_the_scores_are_those_of_the_equations() -> None:
    times, anchors, sigma, alpha = [0.0, 40.0, 1.0, 39.0], 3, 5.0, 2.0

    def mass(t: float) -> float:
        return sum(math.exp(-((t - times[i]) ** 2) / (2 * sigma**2)) / (i + 1) for i in range(anchors))

    peak = max(mass(t) for t in times)
    expected = [(1 + alpha * mass(t) / peak) / (i + 1) for i, t in enumerate(times)]
    found = satf(np.array(times), anchors=anchors, sigma=sigma, alpha=alpha)
    assert found.scores == pytest.approx(expected)
    assert found.affinity == pytest.approx([mass(t) / peak for t in times])


def test_a_late_hit_near_the_best_ones_passes_an_earlier_one_of_another_time() -> None:
    found = satf(np.array([10.0, 11.0, 200.0, 10.5]), sigma=15.0)
    assert order(found.scores) == [0, 1, 3, 2]


@given(dates, widths)
def test_without_boost_nothing_changes(times: NDArray[np.float64], sigma: Sigma) -> None:
    assert satf(times, sigma=sigma, alpha=0.0).scores == pytest.approx(1 / np.arange(1, len(times) + 1))


@given(st.integers(1, 60), st.floats(-1e4, 1e5), widths, st.floats(0, 50))
def test_one_time_for_all_keeps_the_order(count: int, time: float, sigma: Sigma, alpha: float) -> None:
    found = satf(np.full(count, time), sigma=sigma, alpha=alpha)
    assert order(found.scores) == list(range(count))
    assert found.confidence == pytest.approx(1.0)


@given(dates, widths, st.floats(0, 50))
def test_the_order_inside_equal_affinity_is_kept(
    times: NDArray[np.float64], sigma: Sigma, alpha: float
) -> None:
    found = satf(times, sigma=sigma, alpha=alpha)
    for time in np.unique(times):
        same = np.flatnonzero(times == time)
        assert np.all(np.diff(found.scores[same]) < 0)


@given(dates, st.integers(-100_000, 100_000), widths)
def test_only_distances_in_time_count(times: NDArray[np.float64], days: int, sigma: Sigma) -> None:
    here, there = satf(times, sigma=sigma), satf(times + days, sigma=sigma)
    assert there.scores == pytest.approx(here.scores, rel=1e-6)
    assert there.sigma == pytest.approx(here.sigma, rel=1e-6)
    assert there.confidence == pytest.approx(here.confidence, abs=1e-6)


@given(dates, widths, st.floats(0, 50))
def test_no_boost_is_above_one_plus_alpha_and_one_reaches_it(
    times: NDArray[np.float64], sigma: Sigma, alpha: float
) -> None:
    boost = satf(times, sigma=sigma, alpha=alpha).scores * np.arange(1, len(times) + 1)
    assert np.all(boost >= 1 - 1e-9)
    assert boost.max() == pytest.approx(1 + alpha)


@given(dates, widths, st.floats(0, 1))
def test_below_gamma_nothing_changes(times: NDArray[np.float64], sigma: Sigma, gamma: float) -> None:
    found = satf(times, sigma=sigma, gamma=gamma)
    assert 0 <= found.confidence <= 1
    assert found.active == (found.confidence >= gamma)
    if not found.active:
        assert order(found.scores) == list(range(len(times)))
        assert found.scores == pytest.approx(1 / np.arange(1, len(times) + 1))


def test_scattered_dates_give_no_confidence_and_a_cluster_much() -> None:
    scattered = satf(np.arange(30) * 365.0)
    clustered = satf(np.array([float(i % 3) for i in range(30)]))
    assert scattered.confidence < 0.01
    assert clustered.confidence > 0.95


def test_the_adaptive_width_tells_sittings_apart_however_often_people_talk() -> None:
    def every(days: float) -> NDArray[np.float64]:
        return np.array([days * (i % 10) + 0.001 * i for i in range(30)])

    assert bandwidth(every(7)) == pytest.approx(7 / 4, rel=0.02)
    assert bandwidth(every(1)) == pytest.approx(1 / 4, rel=0.05)
    assert bandwidth(every(365)) == 15.0


def test_one_sitting_has_a_width_of_its_own() -> None:
    assert bandwidth(np.array([3.0, 3.001, 3.002])) == ONE_SITTING
    assert satf(np.array([3.0]), sigma="adaptive").scores == pytest.approx([11.0])


def test_nothing_found_stays_nothing() -> None:
    found = satf(np.zeros(0))
    assert not len(found.scores) and not found.active
