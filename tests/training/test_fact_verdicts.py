"""Verdicts about facts (`training/fact_verdicts.json`), and the conversations of our own that they are about."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import fit_fact_chance
from everwhen.write import extract
from fit_fact_chance import checksum
from written import read_bank

TRAINING = Path(fit_fact_chance.__file__).parent
HELD = json.loads(fit_fact_chance.VERDICTS.read_text())


def test_the_file_has_checksums_and_verdicts_and_no_words() -> None:
    assert set(HELD) == {"sessions", "facts"}
    assert set(HELD["facts"].values()) == set("ystru")
    for one in (*HELD["sessions"], *HELD["facts"]):
        assert len(one) == 16 and set(one) <= set("0123456789abcdef")


def test_our_own_conversations_have_no_fault_and_every_one_is_judged() -> None:
    for path in sorted((TRAINING / "talk").glob("*.txt")):
        bank, _, faults = read_bank(path)
        assert faults == [], path
        sessions = fit_fact_chance._talk(path.stem, bank["sessions"])
        assert any(checksum("talk", path.stem, one) in HELD["sessions"] for one in sessions), path


def test_the_packaged_curve_was_fitted_on_nearly_all_of_them() -> None:
    packaged = json.loads(files(extract).joinpath("fact_chance.json").read_text(encoding="utf-8"))
    assert 0.85 * len(HELD["facts"]) < packaged["facts"] <= len(HELD["facts"])


@pytest.mark.parametrize(
    ("scores", "area"),
    [([0.1, 0.9, 0.2, 0.8], 1.0), ([0.9, 0.1, 0.8, 0.2], 0.0), ([0.5] * 4, 0.5), ([0.1, 0.1, 0.2, 0.2], 0.5)],
)
def test_the_area_counts_pairs_in_the_right_order_and_half_of_those_that_are_equal(
    scores: list[float], area: float
) -> None:
    right = np.array([False, True, False, True])
    assert fit_fact_chance.area(np.array(scores), right) == area
