"""A reranker of the caller's own, as `Memory.open` takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everwhen import Memory
from everwhen.errors import ModelError, UsageError
from everwhen.models.comparison import Candidate, RerankQuery, Scores, custom_reranker
from everwhen.types import Recall
from everwhen.types.recall import MID, TEMPR, Recipe

SAID = ("The kayak is red.", "It rained all day.", "A kayak for two.")


def likes_rain(question: str, texts: Sequence[str]) -> list[float]:
    assert all(text.startswith("[Date: ") for text in texts)
    return [float("rained" in text) for text in texts]


class LikesRain:
    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return likes_rain(question, texts)


class Whole:
    name = "whole"
    reads = frozenset({"text"})

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        return {"rain": np.array(["rained" in one.text for one in candidates], np.float32)}


def asked(home: Path, reranker: Any, recipe: Recipe | None = None, **settings: Any) -> Recall:
    opened = {"embedder": "fake", "cache_entries": 0, "extract": "none", **settings}
    with Memory.open(home, "own", reranker=reranker, **opened) as memory:
        memory.add([{"role": "user", "content": text, "id": text} for text in SAID])
        return memory.recall("kayak", recipe=recipe)


@pytest.mark.parametrize(
    "reranker", [likes_rain, LikesRain(), Whole(), lambda q, texts: np.array(likes_rain(q, texts))]
)
def test_a_function_or_an_object_with_one_method_reranks(home: Path, reranker: Any) -> None:
    assert asked(home, None).memories[0].text != "It rained all day."
    assert asked(home, reranker, rerank_weight=50.0).memories[0].text == "It rained all day."


def test_its_weight_is_a_setting_and_a_number_of_the_recipe(home: Path) -> None:
    def part(recipe: Recipe | None = None, **settings: Any) -> float:
        found = asked(home, likes_rain, recipe, **settings)
        return next(one.why.parts["cross_encoder"] for one in found if one.text == "It rained all day.")

    assert part(rerank_weight=4.0) == pytest.approx(4 * part(), abs=0.01)
    assert part(replace(MID, rerank_weight=2.0)) == pytest.approx(2 * part(), abs=0.01)


def test_after_rrf_it_decides_the_order_as_in_tempr(home: Path) -> None:
    recipe = replace(TEMPR, min_similarity=-1.0)
    found = asked(home, likes_rain, recipe)
    assert found.memories[0].text == "It rained all day." and found.memories[0].score == 1.0
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert asked(home, likes_rain, recipe.without("rerank")).memories[0].text != "It rained all day."


def test_what_it_cannot_compare_comes_last_after_rrf(home: Path) -> None:
    def unsure(question: str, texts: Sequence[str]) -> list[float]:
        return [float("nan") if "red" in text else -5.0 for text in texts]

    assert asked(home, unsure, replace(TEMPR, min_similarity=-1.0)).memories[-1].text == "The kayak is red."


@pytest.mark.parametrize("given", [42, object(), ["maxsim"], LikesRain])
def test_what_is_no_reranker_is_refused_with_what_would_be_one(home: Path, given: Any) -> None:
    with pytest.raises(UsageError, match=r"\(question, texts\) -> scores"):
        Memory.open(home, "own", reranker=given)


@pytest.mark.parametrize(
    ("scores", "advice"),
    [
        ([1.0], "gave 1 scores for 2 texts"),
        ("high", "one number for each text"),
        (None, "gave 1 scores|number"),
    ],
)
def test_wrong_scores_are_told_with_what_is_expected(scores: Any, advice: str) -> None:
    from datetime import UTC, datetime

    several = [Candidate("a", datetime(2025, 1, 1, tzinfo=UTC))] * 2
    with pytest.raises(ModelError, match=advice):
        custom_reranker(lambda question, texts: scores).score(RerankQuery("q"), several)
    assert custom_reranker(likes_rain).score(RerankQuery("q"), [])["cross_encoder"].shape == (0,)
