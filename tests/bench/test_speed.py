"""`bench speed`, in small: the bank that it measures gives every channel something to do."""

from __future__ import annotations

from typing import Any

import pytest

from everwhen_bench import speed
from tests import networks

UNITS = 80
KEYS = (
    "units add_ms_p50 ingest_per_s recall_ms recall_low_ms question_ms multiples stages_ms open_s rss_mb disk_mb "
    "bytes_per_unit"
)


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    with networks.running_each_time(), pytest.MonkeyPatch.context() as patch:
        for name, number in {"RECALLS": 5, "WARM": 1, "INGEST": 8, "ADDS": 3, "POOL": 24}.items():
            patch.setattr(speed, name, number)
        return speed.run(UNITS)


def test_the_output_has_every_key_of_the_contract(result: dict[str, Any]) -> None:
    assert set(KEYS.split()) <= set(result)
    assert result["units"] == UNITS


def test_every_channel_finds_something(result: dict[str, Any]) -> None:
    assert set(result["found"]) == {"semantic", "keyword", "temporal"}
    assert all(count > 0 for count in result["found"].values())


def test_stages_are_told_for_both_recipes_with_their_share(result: dict[str, Any]) -> None:
    default, low = result["stages"]["mid"], result["stages"]["low"]
    assert {"rerank", "read"} <= set(default) and not {"rerank", "read"} & set(low)
    for stages in (default, low):
        assert {"embed", "candidates", "fuse", "other"} <= set(stages)
        for times in stages.values():
            assert times["p50"] <= times["p95"] <= times["p99"]
            assert 0 <= times["share"] <= 1
        shares = [times["share"] for times in stages.values()]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1, abs=0.2)
