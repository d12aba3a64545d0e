"""Both databases side by side: small banks are built, asked and compared in one run."""

from __future__ import annotations

import pytest

from everwhen.store.postgres.banks import PostgresBanks
from everwhen_bench import many_banks, speed, store_speed

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = speed._pool_sentences()[:16]
    monkeypatch.setattr(speed, "RECALLS", 3)
    monkeypatch.setattr(speed, "WARM", 1)
    monkeypatch.setattr(speed, "ADDS", 6)
    monkeypatch.setattr(speed, "_pool_sentences", lambda: sentences)
    monkeypatch.setattr(store_speed, "FORGETS", 4)


def test_one_bank_in_both_databases_is_measured_and_dropped(postgres_url: str) -> None:
    result = store_speed.run(postgres_url, 60)
    assert result["alike"] > 0.9 and result["nearest"] > 0.95
    for name in ("sqlite", "postgresql"):
        assert result[name]["recall_ms"]["p50"] > result[name]["recall_low_ms"]["p50"] > 0
        assert result[name]["forget_ms"]["p50"] > 0 and result[name]["bytes_per_unit"] > 1000
    assert result["postgresql"]["recall_cpu_ms"]["server"] >= 0
    assert PostgresBanks(postgres_url).names() == []


def test_many_banks_are_copies_that_can_be_asked(postgres_url: str) -> None:
    result = many_banks.run(postgres_url, 20, 13)
    for name in ("sqlite", "postgresql"):
        assert result[name]["first_recall_ms"]["p50"] > 0
        assert result[name]["rss_mb"]["10"] > 0
    assert PostgresBanks(postgres_url).names() == []
