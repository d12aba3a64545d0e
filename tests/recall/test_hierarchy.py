"""From the best leaves up: the levels that a question needs, inside their budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.recall.papers.hierarchy import level_budgets
from everwhen.types import Recalled
from everwhen.types.recall import MID, Complexity, Gating
from everwhen_time import Interval
from tests.recall.memories import ASKED, START, TALK, tell

TREE = replace(MID, name="tree", tree=True)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("home"), extract="none", count_access=False) as held:
        for place in range(12):
            tell(held, TALK, session=f"s{place}", days=9.0 * place)
        held.consolidate("end")
        yield held


def levels(memories: tuple[Recalled, ...]) -> Counter[int]:
    return Counter(one.level for one in memories)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("simple", {1: 20, 2: 4, 5: 1}),
        ("hybrid", {1: 20, 2: 4, 3: 2, 5: 1}),
        ("complex", {1: 20, 2: 8, 3: 4, 4: 2, 5: 1}),
    ],
)
def test_the_budgets_of_five_levels_are_timems(kind: Complexity, wanted: dict[int, int]) -> None:
    assert level_budgets(MID, kind, 5) == wanted


def test_a_lower_tree_keeps_its_top() -> None:
    assert level_budgets(MID, "complex", 3) == {1: 20, 2: 8, 3: 1}
    assert level_budgets(MID, "simple", 2) == {1: 20, 2: 4}


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("Where is the kayak?", {0: 20, 2: 4, 5: 1}),
        ("Which lessons has Ana tried?", {0: 20, 2: 4, 3: 2, 5: 1}),
        ("Would Ana enjoy a concert?", {0: 20, 2: 8, 3: 4, 4: 2, 5: 1}),
    ],
)
def test_each_kind_of_question_gets_its_levels(memory: Memory, query: str, most: dict[int, int]) -> None:
    found = memory.recall(query, at=ASKED, recipe=TREE, max_tokens=50_000)
    kept = levels(found.memories)
    assert set(kept) == set(most)
    assert all(kept[level] <= most[level] for level in kept)
    assert kept[2] == most[2]


def test_ancestors_stand_above_a_leaf_that_was_found_and_what_is_left_out_is_told(memory: Memory) -> None:
    found = memory.recall("Where is the kayak?", at=ASKED, recipe=TREE, max_tokens=50_000)
    leaves = {turn for one in found if one.kind == "turn" for turn in one.turns}
    paths = memory._bank.store.tree.paths(sorted(leaves))
    above = {node.id for nodes in paths.values() for node in nodes}
    assert {one.id for one in found if one.kind == "node"} <= above
    reasons = {one.reason for one in found.dropped}
    assert f"not among the {MID.tree_leaves} best leaves" in reasons
    assert "its level is full" in reasons


def test_the_tree_is_off_by_default_and_can_be_left_out_by_name(memory: Memory) -> None:
    query = "Where is the kayak?"
    assert set(levels(memory.recall(query, at=ASKED).memories)) == {0}
    without = memory.recall(query, at=ASKED, recipe=TREE.without("tree"))
    assert [one.id for one in without] == [one.id for one in memory.recall(query, at=ASKED)]


def test_other_kinds_asked_for_bring_no_nodes(memory: Memory) -> None:
    found = memory.recall("Where is the kayak?", at=ASKED, recipe=TREE, kinds=["turn"])
    assert set(levels(found.memories)) == {0}


def test_a_node_that_reaches_out_of_a_hard_window_does_not_come_along(memory: Memory) -> None:
    window = Interval(START - timedelta(hours=1), START + timedelta(days=10), "day")
    found = memory.recall("Where is the kayak?", at=ASKED, recipe=TREE, between=window, max_tokens=50_000)
    nodes = [one for one in found if one.kind == "node"]
    assert nodes
    assert all(one.occurred is not None and window.covers(one.occurred) for one in nodes)


def test_order_by_level_then_by_how_close_the_end_is_to_the_moment_of_asking(memory: Memory) -> None:
    found = memory.recall("Would Ana enjoy it?", at=ASKED, recipe=TREE, order="level", max_tokens=50_000)
    assert [max(one.level, 1) for one in found] == sorted(max(one.level, 1) for one in found)
    turns = [one.said_at for one in found if one.kind == "turn"]
    assert turns == sorted(turns, reverse=True)
    sessions = [one.occurred.end for one in found if one.level == 2 and one.occurred]
    assert sessions == sorted(sessions, reverse=True)


@pytest.mark.parametrize("satf", [False, True])
@pytest.mark.parametrize("gate", ["none", "careful", "strict"])
def test_turns_beside_a_leaf_come_along_beside_nodes_and_under_every_other_stage(
    memory: Memory, satf: bool, gate: Gating
) -> None:
    recipe = replace(TREE, candidates=3, expand=1, satf=satf, gate=gate)
    found = memory.recall("Where is the kayak?", at=ASKED, recipe=recipe, max_tokens=50_000)
    assert any(one.kind == "node" for one in found)
    here = [one.id for one in found]
    assert len(here) == len(set(here)) and not set(here) & {one.id for one in found.dropped}
    brought = [one for one in found if one.why.beside]
    assert brought or gate != "none"
    assert all(one.kind == "turn" for one in brought)
    assert gate != "none" or {one.why.beside for one in brought} <= set(here)


def test_the_context_is_as_long_as_it_says(memory: Memory) -> None:
    from everwhen.models.embedder import count_tokens

    found = memory.recall("Would Ana enjoy a concert?", at=ASKED, recipe=TREE, max_tokens=1500)
    assert any(one.kind == "node" for one in found)
    assert count_tokens(found.as_context(cut=0)) == found.tokens <= 1500


def test_leaves_by_lambda_are_the_nearest_in_meaning(memory: Memory) -> None:
    found = memory.recall("violin lessons in Lisbon", at=ASKED, recipe=replace(MID, fusion="lambda"))
    assert "violin" in found.memories[0].text


def test_a_bank_without_a_tree_recalls_its_leaves(tmp_path: Path) -> None:
    with Memory.open(tmp_path, extract="none") as fresh:
        tell(fresh)
        found = fresh.recall("Where is the kayak?", at=ASKED, recipe=TREE)
        assert set(levels(found.memories)) == {0}
