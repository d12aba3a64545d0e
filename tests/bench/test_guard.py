"""The regression guard: what fell by more than two points fails, what rose or is new does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everwhen.cli.app import run
from everwhen_bench import guard
from everwhen_bench.everything import steps
from everwhen_bench.made import made

COMMITTED = {"recall": 0.85, "ndcg": 0.70}


def _fallen(measured: dict[str, float]) -> list[str]:
    return [one.name for one in guard.held(measured, COMMITTED) if one.fell]


def test_a_fall_of_up_to_two_points_is_noise() -> None:
    assert _fallen({"recall": 0.831, "ndcg": 0.70}) == []
    assert _fallen({"recall": 0.829, "ndcg": 0.95}) == ["recall"]


def test_a_figure_that_is_not_measured_any_more_has_fallen() -> None:
    assert _fallen({"recall": 0.9}) == ["ndcg"]


def test_a_new_figure_is_told_and_harms_nobody() -> None:
    assert _fallen({**COMMITTED, "new": 0.0}) == []


@pytest.mark.parametrize(("measured", "code"), [({"recall": 0.84}, 0), ({"recall": 0.7}, 1)])
def test_the_command_fails_where_something_fell(
    measured: dict[str, float],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = tmp_path / "figures.json"
    guard.write(figures, {"recall": 0.85})
    monkeypatch.setattr(guard, "measure", lambda *_: measured)
    assert run(["bench", "guard", "--data", str(tmp_path), "--figures", str(figures)]) == code
    assert ("fell" in capsys.readouterr().out) == bool(code)


def test_what_is_accepted_is_the_new_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = tmp_path / "figures.json"
    guard.write(figures, {"recall": 0.85})
    monkeypatch.setattr(guard, "measure", lambda *_: {"recall": 0.5})
    assert run(["bench", "guard", "--data", str(tmp_path), "--figures", str(figures), "--accept"]) == 0
    assert guard.read(figures) == {"recall": 0.5}
    assert guard.read(tmp_path / "none.json") == {}


def test_every_step_of_all_is_a_command_with_a_file_of_its_own(tmp_path: Path) -> None:
    names = [step.name for step in steps(tmp_path)]
    assert len(set(names)) == len(names)
    assert {"locomo", "longmemeval", "speed_10k", "study_satf", "timex_chat"} <= set(names)


def test_all_leaves_out_what_has_no_data_and_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for units in ("10k", "100k"):
        (out / f"speed_{units}.json").write_text("{}")
    assert run(["bench", "all", "--data", str(tmp_path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "locomo: left out" in printed and "speed_10k: already there" in printed


def test_a_run_says_where_it_was_made() -> None:
    told: dict[str, Any] = made()
    assert told["everwhen"] and "cores" in told["machine"]
    assert not any("/" in str(value) for key, value in told.items() if key != "machine")
