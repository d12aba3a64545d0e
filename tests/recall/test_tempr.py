"""The TEMPR recipe: the paper's example of a memory that only links lead to, in other words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, Recall
from everwhen.types.recall import MID, TEMPR, Recipe, tokens_of

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
LINKED = replace(TEMPR, min_similarity=0.64, graph_seed_similarity=0.74, kinds=MID.kinds)
"""With floors that fit the packaged embedder: only the job passes them, and all else has to be linked with it. The
paper's own are floors for another one, which every turn of a small memory passes."""
QUESTION = "What does Priya do for a living?"
JOB = "Priya works at Nokia, on the radio team, and has been there since 2023."
OFFICE = "The Nokia headquarters in Espoo has an excellent canteen."
LAKE = "Espoo gets its drinking water from a lake."
TRAILS = "Good forest trails start right behind the station."
OBOE = "I play the oboe."
STAMPS = "Pavel collects stamps."
TOLD = (
    (0, "Cleo", JOB),
    (40, "Dan", OFFICE),  # one hop from the job: Nokia
    (41, "Femi", LAKE),  # two: Nokia, Espoo
    (40, "Eva", TRAILS),  # two: Nokia, the same morning
    (90, "Eva", OBOE),  # three: Nokia, the same morning, Eva
    (150, "Gus", STAMPS),  # linked with nothing
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Each memory by another speaker, and in a session of its own, so that no other link leads to it."""
    folder: Path = tmp_path_factory.mktemp("tempr")
    with Memory.open(folder, "tempr", wait_seconds=300) as memory:
        for number, (day, name, text) in enumerate(TOLD):
            memory.add(
                {"role": "user", "name": name, "content": text, "timestamp": START + timedelta(days=day)},
                session=f"session {number}",
            )
        memory.flush()
        yield memory


def asked(memory: Memory, recipe: Recipe) -> Recall:
    return memory.recall(QUESTION, recipe=recipe)


def activation(found: Recall) -> dict[str, float]:
    return {one.text: one.why.scores["graph"] for one in found if "graph" in one.why.scores}


@pytest.mark.parametrize("text", [OFFICE, LAKE, TRAILS, OBOE])
def test_links_alone_lead_to_what_has_nothing_in_common_with_the_question(told: Memory, text: str) -> None:
    [found] = [one for one in asked(told, LINKED) if one.text == text]
    assert set(found.why.ranks) == {"graph"}


@pytest.mark.parametrize("text", [OFFICE, LAKE, TRAILS, OBOE])
def test_without_the_graph_it_is_not_found(told: Memory, text: str) -> None:
    texts = [one.text for one in asked(told, LINKED.without("graph"))]
    assert JOB in texts and text not in texts


def test_activation_falls_by_a_fifth_at_each_hop(told: Memory) -> None:
    found = activation(asked(told, LINKED))
    steps = [found[text] for text in (OFFICE, TRAILS, OBOE)]
    assert steps[1] / steps[0] == pytest.approx(0.8) and steps[2] / steps[1] == pytest.approx(0.8)
    assert found[LAKE] == pytest.approx(0.8 * found[OFFICE])


def test_what_no_link_leads_to_is_not_found(told: Memory) -> None:
    assert STAMPS not in [one.text for one in asked(told, LINKED)]


@pytest.mark.parametrize(
    "bound", [{"graph_similarity": MID.graph_similarity}, {"graph_share": 50}, {"graph_stop": 0.5}]
)
def test_each_bound_of_the_default_path_keeps_it_out(told: Memory, bound: dict[str, Any]) -> None:
    assert TRAILS not in activation(asked(told, replace(LINKED, **bound)))


def test_the_default_recipe_has_our_bounds(told: Memory) -> None:
    assert TRAILS not in activation(asked(told, MID))


def test_the_numbers_are_the_papers() -> None:
    assert TEMPR.channels == ("semantic", "keyword", "graph", "temporal")
    assert (TEMPR.candidates, TEMPR.min_similarity, TEMPR.fusion, TEMPR.rrf_k) == (100, 0.3, "rrf", 60)
    assert (TEMPR.graph_seeds, TEMPR.graph_seed_similarity, TEMPR.graph_decay) == (5, 0.5, 0.8)
    assert (TEMPR.graph_stop, TEMPR.min_edge, TEMPR.graph_share) == (0.1, 0.1, 1)
    assert (TEMPR.temporal_similarity, TEMPR.temporal_decay) == (0.4, 0.7)


SPRING = (
    ("2025-02-10", "I bought a new bike."),
    ("2025-03-12", "I painted the kitchen green."),
    ("2025-04-05", "My sister visited me in Porto."),
    ("2025-04-20", "I ran the Lisbon half marathon."),
    ("2025-05-15", "I started a pottery course."),
    ("2025-07-01", "I went to the sea for a week."),
    ("2025-08-03", "The cat was sick, so we saw the vet."),
)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("year"), "year", wait_seconds=300) as memory:
        for day, text in SPRING:
            memory.add({"role": "user", "name": "Alice", "content": text}, at=day, session=day)
        memory.flush()
        yield memory


def test_a_question_of_nothing_but_a_time_finds_what_was_said_in_it(year: Memory) -> None:
    found = year.recall("What happened between March and May?", at="2025-11-01", recipe=TEMPR)
    turns = {one.text: one.why.ranks for one in found if one.kind == "turn"}
    assert {text for day, text in SPRING if "2025-03" <= day < "2025-06"} <= turns.keys()
    assert {text for text, ranks in turns.items() if "temporal" in ranks} == {SPRING[2][1], SPRING[4][1]}
    assert "temporal" in found[0].why.ranks


def test_what_lies_in_the_time_is_ranked_by_its_distance_from_the_middle(year: Memory) -> None:
    found = year.recall("What was Alice up to between March and May?", at="2025-11-01", recipe=TEMPR)
    ranks = {one.text: one.why for one in found if one.kind == "turn" and "temporal" in one.why.ranks}
    march, middle, edge = (ranks[SPRING[place][1]] for place in (1, 3, 4))
    assert middle.scores["temporal"] > edge.scores["temporal"] > march.scores["temporal"] >= 0.1
    radius, off = 46.0, 4.0  # 1 March to 1 June, and from its middle to 20 April
    assert middle.scores["temporal"] == pytest.approx(1 - off / radius, abs=0.02)


def test_narratives_are_recalled_beside_turns(year: Memory) -> None:
    kinds = {one.kind for one in year.recall("the pottery course", recipe=TEMPR)}
    assert {"turn", "narrative"} <= kinds
    assert "narrative" not in {one.kind for one in year.recall("the pottery course")}
    assert {one.kind for one in year.recall("the pottery course", recipe=TEMPR, kinds=["turn"])} == {"turn"}


@pytest.mark.parametrize("most", [60, 100, 200])
def test_the_budget_is_filled_in_the_order_of_rank_up_to_what_does_not_fit(year: Memory, most: int) -> None:
    whole = year.recall("the pottery course", recipe=TEMPR.without("dates"))
    some = year.recall("the pottery course", recipe=TEMPR.without("dates"), max_tokens=most)
    assert [one.id for one in some] == [one.id for one in whole][: len(some)]
    assert 0 < len(some) < len(whole) and some.tokens <= most
    assert tokens_of(whole[: len(some) + 1]) > most
