"""Rerankers by name: those without a model, and a cross-encoder from a folder."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from everwhen.errors import ModelError, UsageError
from everwhen.models.comparison import Candidate, RerankQuery, dated_line, open_reranker
from tests.models.rerank.tiny_onnx import WORDS, write_cross_encoder

SAID = datetime(2025, 11, 6, 23, 30, tzinfo=UTC)


def candidate(text: str) -> Candidate:
    return Candidate(text, SAID)


def test_a_memory_is_shown_with_its_date_and_context() -> None:
    plain = Candidate("We moved.", SAID, context="Ana")
    assert dated_line(plain) == "[Date: November 06, 2025 (2025-11-06)] Ana: We moved."
    assert dated_line(Candidate("We moved.", SAID)) == "[Date: November 06, 2025 (2025-11-06)] We moved."
    assert "2025-11-07" in dated_line(Candidate("We moved.", SAID, zone="Asia/Tokyo"))


@pytest.mark.parametrize(("name", "reads"), [("maxsim", {"codes"}), ("none", set())])
def test_without_a_model_nothing_is_scored_and_no_text_is_read(name: str, reads: set[str]) -> None:
    reranker = open_reranker(name)
    assert reranker.score(RerankQuery("anything"), [candidate("x")]) == {}
    assert (reranker.name, reranker.reads) == (name, reads)


def test_a_cross_encoder_in_a_folder_scores_pairs_between_zero_and_one(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path)
    reranker = open_reranker(f"fastembed:{tmp_path}", threads=1)
    texts = ["boat", "bicycle bicycle", "bicycle", "rain rain rain"] * 10
    scores = reranker.score(RerankQuery("bicycle"), [candidate(text) for text in texts])["cross_encoder"]
    # The model adds up the weights of the words in the second text: the date's and the question's are nothing.
    expected = [sum(WORDS[word] for word in text.split()) for text in texts]
    assert scores == pytest.approx([1 / (1 + np.exp(-logit)) for logit in expected], abs=1e-5)
    assert reranker.score(RerankQuery("bicycle"), [])["cross_encoder"].shape == (0,)


@pytest.mark.parametrize("question", ["boat " * 3_000, "我" * 3_000, ""])
def test_what_does_not_fit_the_window_is_cut(tmp_path: Path, question: str) -> None:
    write_cross_encoder(tmp_path)
    reranker = open_reranker(f"fastembed:{tmp_path}")
    scores = reranker.score(RerankQuery(question), [candidate("bicycle " * 5_000), candidate("rain")])[
        "cross_encoder"
    ]
    assert np.isfinite(scores).all()


def test_a_folder_without_a_model_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"needs a model.onnx and a tokenizer.json"):
        open_reranker(f"fastembed:{tmp_path}").score(RerankQuery("q"), [candidate("x")])


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setitem(sys.modules, "fastembed.rerank", None)
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(ModelError, match="pip install fastembed"):
        open_reranker("fastembed:Xenova/ms-marco-MiniLM-L-6-v2").score(RerankQuery("q"), [candidate("x")])


@pytest.mark.parametrize("name", ["", "maxsim:x", "fastembed", "fastembed:", "none:x", "http", "bert"])
def test_an_unknown_reranker_is_answered_with_the_choices(name: str) -> None:
    with pytest.raises(UsageError, match=r"maxsim, fastembed:<cross-encoder>, http:<address>#<model>, none"):
        open_reranker(name)
