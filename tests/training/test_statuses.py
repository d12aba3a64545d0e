"""The status examples are well formed, balanced, and the same for the same seed."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import statuses

TRAINING = Path(__file__).parents[2] / "training"
KINDS = {"span", "yes", "no", "none"}
FIELDS = {"question", "speaker", "text", "status", "kind", "answer"}


@pytest.fixture(scope="module")
def composed() -> list[dict[str, str]]:
    return statuses.compose(3000, seed=11)


@pytest.fixture(scope="module")
def written() -> list[dict[str, str]]:
    examples: list[dict[str, str]] = json.loads((TRAINING / "statuses_written.json").read_text())
    return examples


def assert_well_formed(examples: list[dict[str, str]]) -> None:
    for example in examples:
        assert set(example) == FIELDS, example
        assert all(example[field] for field in FIELDS - {"answer"}), example
        assert example["status"] in statuses.STATUSES, example
        assert example["kind"] in KINDS, example
        assert bool(example["answer"]) == (example["kind"] == "span"), example
        assert example["answer"] in example["text"], example


def test_composed_spans_stand_verbatim_in_their_texts(composed: list[dict[str, str]]) -> None:
    assert_well_formed(composed)


def test_written_spans_stand_verbatim_in_their_texts(written: list[dict[str, str]]) -> None:
    assert len(written) >= 300
    assert_well_formed(written)


def test_no_slot_or_mark_is_left_unfilled(composed: list[dict[str, str]]) -> None:
    for example in composed:
        assert not re.search(r"[\[\]{}\x00-\x1f]", example["question"] + example["text"]), example


def test_every_status_and_kind_occurs(composed: list[dict[str, str]], written: list[dict[str, str]]) -> None:
    for examples in (composed, written):
        assert {one["status"] for one in examples} == set(statuses.STATUSES)
        assert {one["kind"] for one in examples} == KINDS


def test_shares_of_statuses_and_kinds_are_within_bounds(composed: list[dict[str, str]]) -> None:
    by_status = Counter(one["status"] for one in composed)
    assert 0.26 <= by_status["true"] / len(composed) <= 0.34
    for status in set(statuses.STATUSES) - {"true"}:
        assert 0.08 <= by_status[status] / len(composed) <= 0.15, status
    by_kind = Counter(one["kind"] for one in composed)
    assert 0.4 <= by_kind["none"] / len(composed) <= 0.65
    for kind in KINDS - {"none"}:
        assert by_kind[kind] / len(composed) >= 0.07, kind


def test_the_same_seed_gives_the_same_examples(composed: list[dict[str, str]]) -> None:
    assert statuses.compose(300, seed=11) == composed[:300]
    assert statuses.compose(300, seed=12) != composed[:300]


def test_the_command_writes_the_same_bytes_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        out = tmp_path / name / "examples.json.gz"
        out.parent.mkdir()
        monkeypatch.setattr(sys, "argv", ["statuses.py", "--count", "50", "--seed", "7", "--out", str(out)])
        statuses.main()
    first, second = (tmp_path / name / "examples.json.gz" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert len(json.loads(gzip.decompress(first.read_bytes()))) == 50


def test_conjugation_of_actions() -> None:
    assert statuses.conjugate("be allergic to {v}", "not") == "am not allergic to {v}"
    assert statuses.conjugate("quit my job at {v}", "he", "her") == "quits her job at {v}"
    assert statuses.conjugate("switch to {v}", "he") == "switches to {v}"
    assert statuses.conjugate("move to {v}", "ing") == "moving to {v}"
