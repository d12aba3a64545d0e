"""Fuzzing, the same cases each time. `scripts/fuzz.py` runs the targets for as long as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzz import banks, parsing, serving  # noqa: F401  the lists of targets
from tests.fuzz.target import TARGETS, Target
from tests.fuzz.world import World

QUICK, LEAST = 5, 20
"""`make test` runs a fifth of a target's cases, and no fewer than so many; `make test-long` runs all."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_EMBEDDER", "fake")
        patch.setenv("EVERWHEN_READER", "none")
        patch.setenv("EVERWHEN_CACHE_ENTRIES", "0")
        made = World(tmp_path_factory.mktemp("fuzz"))
        yield made
        made.other_is_whole()
        made.close()


@pytest.mark.parametrize(
    "long", [pytest.param(False, id="quick"), pytest.param(True, id="long", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda one: one.name)
def test_whatever_comes_in_holds(target: Target, long: bool, world: World) -> None:
    @settings(
        max_examples=target.cases if long else max(target.cases // QUICK, LEAST),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.deferred(lambda: target.values(world)))
    def holds(value: Any) -> None:
        note(f"{value!r:.2000}")
        target.check(world, value)

    holds()
