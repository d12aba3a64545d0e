"""Rankings and features become one order, and what it is made of adds up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.errors import UsageError
from everwhen.models.comparison import Candidate, RerankQuery, Scores
from everwhen.recall.candidates import Request
from everwhen.recall.features import FEATURES
from everwhen.recall.fusion import CONTEXT, fitted, linear, weighted
from everwhen.recall.papers.fusion import rrf
from everwhen.recall.pipeline import recall
from everwhen.store.rows import Filter
from everwhen.types import Recall
from everwhen.types.recall import CHANNELS, FOUR_WAY, MID, STAGES, Recipe
from tests.recall.memories import ASKED, tell

rankings = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=3
)


class Loves:
    """A cross-encoder that loves one word, and cannot compare what is short."""

    name = "fake-cross"
    reads = frozenset({"text"})

    def __init__(self, word: str) -> None:
        self.word = word
        self.seen: list[str] = []

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> Scores:
        self.seen = [one.text for one in candidates]
        return {
            "cross": np.array(
                [np.nan if len(text) < 15 else 100.0 * (self.word in text) for text in self.seen], np.float32
            )
        }


def asked(memory: Memory, query: str, recipe: Recipe = MID, **request: object) -> Recall:
    return recall(
        memory._bank.store, memory._bank.plain_embedder, Request(query, at=ASKED, recipe=recipe, **request)
    )  # type: ignore[arg-type]


@given(rankings, st.integers(0, 100))
def test_rrf_is_the_sum_over_channels_best_first(found: dict[str, list[int]], k: int) -> None:
    fused = rrf(found, k)
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    for item, score in fused.items():
        assert score == pytest.approx(
            sum(1 / (k + ranking.index(item) + 1) for ranking in found.values() if item in ranking)
        )
    assert set(fused) == {item for ranking in found.values() for item in ranking}


@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=2), max_size=4
    ),
    st.sampled_from([0.0, 1.0]),
    st.integers(1, 9),
)
def test_the_fused_score_is_the_sum_of_the_contributions_and_a_gate_adds_to_each_weight(
    values: dict[str, list[float]], gate: float, count: int
) -> None:
    chance = np.random.default_rng(count)
    features = {name: chance.standard_normal(count).astype(np.float32) for name in "abx"}
    parts = weighted(features, values, {"asks": gate})
    assert set(parts) == set(values) & set(features)  # without a weight, or a feature, it takes no part
    whole = {name: values[name][0] + gate * values[name][1] for name in parts}
    expected = sum((features[name] * whole[name] for name in parts), np.zeros(count))
    np.testing.assert_allclose(linear(parts, count), expected, rtol=1e-4, atol=1e-5)


def test_there_are_weights_with_and_without_words_compared() -> None:
    plain, maxsim = fitted()["weights"]["plain"], fitted()["weights"]["maxsim"]
    assert set(plain) < set(maxsim)
    assert set(maxsim) - set(plain) == {"compared", "compared_rank"}
    assert set(maxsim) <= set(FEATURES)
    assert {len(parts) for several in (plain, maxsim) for parts in several.values()} == {2}
    assert all(
        math.isfinite(one) for several in (plain, maxsim) for parts in several.values() for one in parts
    )


def test_the_parts_of_each_memory_explain_its_score(memory: Memory) -> None:
    tell(memory)
    found = asked(memory, "What did Ana buy?", replace(MID, facts=False))
    sums = [sum(one.why.parts.values()) for one in found]
    assert found.memories[0].why.fused == pytest.approx(1.0)
    for one, whole in zip(found, sums, strict=True):
        assert math.log(one.why.fused) == pytest.approx(whole - sums[0], abs=0.01)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_where_words_cannot_be_compared_the_plain_weights_are_used(quick: Memory, memory: Memory) -> None:
    for bank, name in ((quick, "plain"), (memory, "maxsim")):
        tell(bank)
        parts = {
            part for one in asked(bank, "Where are the violin lessons of Ana?") for part in one.why.parts
        }
        assert parts - {"read", "newer"} <= set(fitted()["weights"][name])
        assert ("compared" in parts) == (name == "maxsim")


def test_without_rerank_the_plain_weights_are_used_for_any_embedder(memory: Memory) -> None:
    tell(memory)
    found = asked(memory, "Where are the violin lessons?", MID.without("rerank"))
    parts = {part for one in found for part in one.why.parts}
    assert parts - {"read", "newer"} <= set(fitted()["weights"]["plain"])
    assert "rerank" not in found.trace["stages_ms"]


def test_a_cross_encoder_takes_part_and_what_it_cannot_compare_is_neutral(quick: Memory) -> None:
    tell(quick)
    query = "kayak violin garden heavy"
    turns = Filter(kinds=frozenset({"turn"}))
    before = [one.id for one in asked(quick, query, where=turns)]
    loves = Loves("tomatoes")
    found = asked(quick, query, where=turns, reranker=loves)
    assert len(loves.seen) == found.trace["candidates"]
    assert found.memories[0].text.endswith("tomatoes this year.") and before[0] != found.memories[0].id
    cross = {one.text: one.why.parts.get("cross", 0.0) for one in found}
    assert cross["My garden has tomatoes this year."] > 0 and cross["Is it heavy?"] == 0.0


def test_rrf_orders_by_ranks_alone_and_has_no_parts(memory: Memory) -> None:
    tell(memory)
    found = asked(memory, "Where are the violin lessons?", Recipe(fusion="rrf", facts=False))
    ranks = {one.id: sum(1 / (10 + rank) for rank in one.why.ranks.values()) for one in found}
    assert [one.score for one in found] == pytest.approx([ranks[one.id] for one in found])
    assert not any(one.why.parts for one in found)
    assert 0 <= found.trace["answerable"] <= 1


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The talk and its tree; tests only read it."""
    with Memory.open(tmp_path_factory.mktemp("built"), "built") as memory:
        tell(memory)
        memory.consolidate("end")
        yield memory


@pytest.mark.parametrize("stage", [*CHANNELS, *STAGES])
def test_every_stage_can_be_left_out_by_name(built: Memory, stage: str) -> None:
    whole = replace(FOUR_WAY, name="mid", satf=True, expand=1, tree=True, gate="strict")
    recipe = whole.without(stage)
    assert recipe.name == f"mid-{stage}" and replace(recipe, name="mid") != whole
    found = asked(built, "What did Ana buy in March 2025?", recipe)
    assert len(found) and stage not in found.trace["found"]
    if stage in ("satf", "expand", "facts", "rerank", "read"):
        assert stage not in found.trace["stages_ms"]
    parts = {part for one in found for part in one.why.parts}
    if stage == "context":
        assert not parts & set(CONTEXT)
    if stage == "speaker":
        assert "about" not in parts


def test_an_unknown_stage_or_one_that_is_out_already_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match=r"recipe 'mid' has no stage 'magic'; it has: semantic, .*speaker"):
        MID.without("magic")
    with pytest.raises(UsageError, match="no stage 'graph'"):
        FOUR_WAY.without("graph").without("graph")


def test_no_channel_at_all_finds_nothing_and_says_so(quick: Memory) -> None:
    tell(quick)
    found = asked(quick, "kayak", replace(MID, channels=()))
    assert not len(found) and found.trace["candidates"] == 0 and found.trace["answerable"] == 0


def test_the_order_is_the_same_every_time(memory: Memory) -> None:
    tell(memory)
    tell(memory, session="again", days=3)
    memory.flush()
    first = asked(memory, "Did Ana like the violin?")
    for _ in range(3):
        again = asked(memory, "Did Ana like the violin?")
        assert [(one.id, one.score) for one in again] == [(one.id, one.score) for one in first]
