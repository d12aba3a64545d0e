"""The pages of figures have a place for every table, and the tables are those of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everwhen_bench.everything import steps
from tests.bench.test_retrieval_page import _script

FIGURE = {"value": 0.5, "difference": -0.1, "interval_95": [-0.2, -0.05]}
PEERS: dict[str, Any] = {
    "bench": "peers",
    "of": "locomo",
    "data": "locomo.json",
    "rows": [
        {
            "peer": name,
            "turn": {"recall@5": best, "recall@10": best, "ndcg@10": best, "all@5": best},
            "session": {"recall@10": best, "ndcg@10": best, "all@5": None},
            "recall_ms": {"p50": 1.25, "p95": 2.0},
            "ingest_s": 123.4,
            "embedding_s": None,
            "disk_mb": 1.0,
            "rss_mb": 2.0,
            "installed_mb": None,
            "installed_packages": None,
            "versions": {"one": "1.0"},
            "against_everwhen": against,
        }
        for name, best, against in (("everwhen", 0.8, {}), ("other", 0.5, {"turn recall@10": FIGURE}))
    ],
    "absent": {"third": "it needs a server"},
    "made": {"commit": "abc", "machine": "two cores", "python": "3.11", "at": "2026-01-02T03:04+00:00"},
}
STUDY: dict[str, Any] = {
    "data": "locomo.json",
    "tables": [{"title": "a title", "heads": ["", "1"], "rows": [["row", "0.500 -0.100 [-0.200, -0.050]*"]]}],
}


def test_the_best_is_bold_and_what_differs_beyond_chance_has_a_star() -> None:
    page = _script("results_tables").tables({"peers_locomo": PEERS})
    quality = page["peers-locomo-quality"]
    assert "| everwhen | **0.800** | **0.800** |" in quality
    assert "| other | 0.500 | 0.500 * |" in quality
    assert "commit `abc`" in quality and "peers --data DATA/locomo_dev.json" in quality
    assert "| everwhen | 123 |  | 1.2 | 2.0 |" in page["peers-locomo-cost"]
    assert "- third: it needs a server" in page["peers-locomo-cost"]


def test_a_study_shows_what_leaves_out_nought_in_bold_and_names_the_categories() -> None:
    made = _script("results_tables").tables({"study_satf": STUDY})["study-satf"]
    assert "**0.500 -0.100 [-0.200, -0.050]**" in made and "| multi-hop |" in made


def test_a_long_table_is_folded() -> None:
    long = {**STUDY, "tables": [{"title": "long", "heads": ["", "1"], "rows": [["row", "0.5"]] * 30}]}
    made = _script("results_tables").tables({"study_satf": long})["study-satf"]
    assert "<details><summary>long</summary>\n\n|" in made and made.count("<details>") == made.count(
        "</details>"
    )


def test_there_is_a_page_with_a_place_for_every_file() -> None:
    pages = "".join(page.read_text("utf-8") for page in _script("results_tables").PAGES)
    for step in steps(Path("data")):
        name = "speed" if step.name.startswith("speed") else step.name.replace("_", "-")
        assert pages.count(f"<!-- {name} -->") == pages.count(f"<!-- /{name} -->") == 1, name


def test_a_table_that_has_no_place_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- one -->\n<!-- /one -->\n", "utf-8")
    with pytest.raises(SystemExit, match="two"):
        _script("results_tables").write_all({"one": "1\n", "two": "2\n"}, [page])
    assert page.read_text("utf-8") == "<!-- one -->\n<!-- /one -->\n"


def test_a_table_is_written_into_its_place_and_nowhere_else() -> None:
    script = _script("results_tables")
    page = "a\n<!-- one -->\nold\n<!-- /one -->\nb\n<!-- two -->\nkept\n<!-- /two -->\n"
    assert script.write(page, {"one": "new\n"}) == page.replace("old", "new")
