"""The ablation, on a small conversation of our own, with the real engine."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.api.memory import Memory
from everwhen.cli.app import run
from everwhen.recall.papers.satf import Sigma
from everwhen.types.recall import MID
from everwhen_bench import locomo, metrics
from everwhen_bench.ablation import DATED, DEFAULT, FUSED, RIVALS, SIGMAS, VARIANTS, anchored, compared
from everwhen_bench.metrics import Ranking
from everwhen_bench.retrieval import EVERYTHING, Scored, within
from tests.bench.test_bench_locomo import SAMPLE
from tests.bench.test_bench_longmemeval import QUESTIONS

NAMES = {DEFAULT, *(one.name for one in (*VARIANTS, *DATED)), *SIGMAS, *(f"rrf + {name}" for name in SIGMAS)}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("ablation")
    (folder / "locomo.json").write_text(json.dumps([SAMPLE]))
    result = locomo.run(folder / "locomo.json", home=folder, ablate=True)
    json.dumps(result, allow_nan=False)
    ablations: dict[str, Any] = result["ablations"]
    # The default's row is that of the run itself.
    assert ablations["rows"][DEFAULT]["figures"]["turn ndcg@10"]["value"] == result["turn"]["ndcg@10"]
    return ablations


def test_every_variant_has_a_row_with_its_difference_and_interval(table: dict[str, Any]) -> None:
    assert set(table["rows"]) == NAMES
    default = table["rows"][DEFAULT]["figures"]
    for row in table["rows"].values():
        assert set(row["by_group"]) == {"1", "2", "4"}
        for key, figure in row["figures"].items():
            low, high = figure["interval_95"]
            assert low <= figure["difference"] <= high
            assert figure["difference"] == pytest.approx(figure["value"] - default[key]["value"], abs=2e-4)
    assert all(figure["difference"] == 0 for figure in default.values())


def test_satf_is_shown_beside_the_order_that_it_started_from(table: dict[str, Any]) -> None:
    against = table["satf"]["against"]
    assert {name: row["without"] for name, row in against.items()} == RIVALS
    for gammas in table["satf"]["gate"].values():
        rates = [one["active"] for one in gammas.values()]
        assert list(gammas) == ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]
        assert rates[0] == 1.0 and rates == sorted(rates, reverse=True)
    full = table["satf"]["gate"]["satf adaptive"]["0.0"]["turn ndcg@10"]
    assert full == table["rows"]["satf adaptive"]["figures"]["turn ndcg@10"]["value"]


def test_more_tokens_never_hold_less_evidence_here(table: dict[str, Any]) -> None:
    assert table["tokens"]
    for budgets in table["tokens"].values():
        assert list(budgets) == ["128", "256", "512", "1024", "2048", "4096"]
        assert list(budgets.values()) == sorted(budgets.values())


def test_longmemeval_leaves_out_what_needs_extraction_and_the_command_prints_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    data, out = tmp_path / "lme.json", tmp_path / "out.json"
    data.write_text(json.dumps(QUESTIONS))
    arguments = ["--data", str(data), "--ablate", "--out", str(out)]
    assert run(["--home", str(tmp_path), "bench", "longmemeval", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "rerank off" in printed and "SATF's gate" in printed and "evidence inside tokens" in printed
    table = json.loads(out.read_text())["ablations"]
    assert set(table["rows"]) == NAMES - {"graph on", "turns only", "dates embedded", "rrf + dates embedded"}
    assert FUSED in table["rows"]
    assert table["questions"] == 2


@pytest.mark.parametrize("when", ["", "last week "])
def test_a_budget_filled_afterwards_is_the_budget_asked_for(tmp_path: Path, when: str) -> None:
    with Memory.open(tmp_path, extract="none", cache_entries=0) as memory:
        memory.add_many(
            [
                {"role": "user", "content": f"Basil the tortoise ate {n} dandelions {when}" * n}
                for n in range(1, 12)
            ]
        )
        for budget in (0, 40, 90, 200, 4096):
            asked = memory.recall("what did Basil eat", max_tokens=budget)
            filled = within(memory.recall("what did Basil eat", max_tokens=EVERYTHING), budget)
            assert [one.id for one in filled.memories] == [one.id for one in asked.memories]
            assert filled.tokens == asked.tokens
            assert [one.id for one in filled.dropped] == [one.id for one in asked.dropped]


@pytest.mark.parametrize("sigma", [15.0, "adaptive"])
def test_satf_over_a_fused_order_is_the_recipe_with_satf(tmp_path: Path, sigma: Sigma) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    with Memory.open(tmp_path, extract="none", cache_entries=0) as memory:
        for n in range(14):
            food = "dandelions" if n % 3 else "strawberries"
            memory.add(f"Basil ate {n} {food}", session=f"s{n}", at=start + timedelta(days=n * n))
        fused = MID.without("facts")
        found = memory.recall("how many dandelions did Basil eat", recipe=fused).memories
        recipe = replace(fused, satf=True, satf_sigma=sigma)
        asked = memory.recall("how many dandelions did Basil eat", recipe=recipe).memories
    ordered, _ = anchored(found, sigma)
    assert [one.id for one in ordered] == [one.id for one in asked]
    assert [one.id for one in ordered] != [one.id for one in found]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_a_paired_interval_holds_between_the_smallest_and_the_largest_difference(values: list[float]) -> None:
    low, high = metrics.paired_bootstrap(values, samples=50)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_equal_rankings_do_not_differ() -> None:
    rows = [Scored("a", Ranking(["x", "y"], {"y"}), None, {}), Scored("b", None, None, {})]
    figures = compared(rows, rows)
    assert figures["figures"]["turn recall@10"] == {
        "value": 1.0,
        "difference": 0.0,
        "interval_95": [0.0, 0.0],
    }
    assert figures["by_group"]["b"] == {}
