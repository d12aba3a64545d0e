"""Sentences of ten languages that were written without a look at the grammar: with a time, and without one."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen_bench.timex import days
from everwhen_time import resolve

HERE = Path(__file__).parent
NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def _lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def _cases() -> list[object]:
    """Those that stay wrong say why: most follow a convention of docs/time.md that their writer did not know."""
    return [
        pytest.param(
            case,
            id=f"{case['lang']}: {case['text']}",
            marks=pytest.mark.xfail(reason=str(case["why"]), strict=True) if "why" in case else (),
        )
        for case in _lines("other_languages.jsonl")
    ]


@pytest.mark.parametrize("case", _cases())
def test_a_sentence_gives_an_interval_that_is_accepted(case: dict[str, object]) -> None:
    at = datetime.fromisoformat(str(case["at"]).replace("Z", "+00:00"))
    found = [list(days(ref.interval)) for ref in resolve(str(case["text"]), at) if ref.interval]
    assert any(one in case["accept"] for one in found), found  # type: ignore[operator]


# A reader needs the story to tell Friday the friend of Robinson from the day, and a rabbit from its month.
MOST = {"en": 1, "de": 1, "es": 1, "fr": 1, "zh": 2}


def test_sentences_without_a_time_give_nothing() -> None:
    """2,766 sentences; what may be found in each language is counted, so that it can only become less."""
    hits: dict[str, list[str]] = {}
    for case in _lines("timeless.jsonl"):
        if resolve(str(case["text"]), NOW):
            hits.setdefault(str(case["lang"]), []).append(str(case["text"]))
    counts = Counter({language: len(texts) for language, texts in hits.items()})
    assert all(counts[language] <= MOST.get(language, 0) for language in counts), hits
