"""Whole sentences: every time in them is found, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen.when import resolve
from everwhen_bench.timex import days
from tests.when.sentences import not_said, said

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(("text", "wanted"), said(), ids=[text for text, _ in said()])
def test_a_sentence_gives_its_intervals(text: str, wanted: list[list[str | None]]) -> None:
    assert [list(days(ref.interval)) for ref in resolve(text, NOW) if ref.interval] == wanted


@pytest.mark.parametrize("text", not_said())
def test_a_sentence_without_a_time_gives_no_interval(text: str) -> None:
    assert [(ref.text, ref.rule) for ref in resolve(text, NOW) if ref.interval] == []


def test_there_are_enough_sentences_to_mean_something() -> None:
    assert len(said()) + len(not_said()) >= 150
    assert len(not_said()) >= 50
