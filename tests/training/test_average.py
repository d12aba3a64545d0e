"""One network out of several."""

from __future__ import annotations

import numpy as np
import pytest

from average import average


def test_every_number_is_the_weighted_mean() -> None:
    one, other = {"w": np.array([0.0, 4.0])}, {"w": np.array([4.0, 0.0])}
    assert average([one, other], [0.75, 0.25])["w"].tolist() == [1.0, 3.0]
    assert average([one, other], [3, 1])["w"].tolist() == [1.0, 3.0]


def test_what_only_the_first_has_is_kept_as_it_is() -> None:
    first = {"w": np.array([2.0]), "head": np.array([7.0])}
    assert average([first, {"w": np.array([0.0])}], [0.5, 0.5]) == {"w": [1.0], "head": [7.0]}


def test_a_network_of_another_form_is_refused() -> None:
    with pytest.raises(SystemExit, match="layers"):
        average([{"w": np.array([2.0])}, {"w": np.array([0.0]), "more": np.array([1.0])}], [0.5, 0.5])
