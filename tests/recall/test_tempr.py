"""The TEMPR recipe: the paper's example of a memory that only links lead to, in other words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, Recall
from everwhen.recall import MID, TEMPR, Recipe

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
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
    [found] = [one for one in asked(told, TEMPR) if one.text == text]
    assert set(found.why.ranks) == {"graph"}


@pytest.mark.parametrize("text", [OFFICE, LAKE, TRAILS, OBOE])
def test_without_the_graph_it_is_not_found(told: Memory, text: str) -> None:
    texts = [one.text for one in asked(told, TEMPR.without("graph"))]
    assert JOB in texts and text not in texts


def test_activation_falls_by_a_fifth_at_each_hop(told: Memory) -> None:
    found = activation(asked(told, TEMPR))
    steps = [found[text] for text in (OFFICE, TRAILS, OBOE)]
    assert steps[1] / steps[0] == pytest.approx(0.8) and steps[2] / steps[1] == pytest.approx(0.8)
    assert found[LAKE] == pytest.approx(0.8 * found[OFFICE])


def test_what_no_link_leads_to_is_not_found(told: Memory) -> None:
    assert STAMPS not in [one.text for one in asked(told, TEMPR)]


@pytest.mark.parametrize(
    "bound", [{"graph_similarity": MID.graph_similarity}, {"graph_share": 50}, {"graph_stop": 0.5}]
)
def test_each_bound_of_the_default_path_keeps_it_out(told: Memory, bound: dict[str, Any]) -> None:
    assert TRAILS not in activation(asked(told, replace(TEMPR, **bound)))


def test_the_default_recipe_has_our_bounds(told: Memory) -> None:
    assert TRAILS not in activation(asked(told, MID))


def test_the_numbers_are_the_papers() -> None:
    assert TEMPR.channels == ("semantic", "keyword", "graph", "temporal")
    assert (TEMPR.candidates, TEMPR.min_similarity, TEMPR.fusion, TEMPR.rrf_k) == (100, 0.64, "rrf", 60)
    assert (TEMPR.graph_seeds, TEMPR.graph_seed_similarity, TEMPR.graph_decay) == (5, 0.74, 0.8)
    assert (TEMPR.graph_stop, TEMPR.min_edge, TEMPR.graph_share) == (0.1, 0.1, 1)
    assert (TEMPR.temporal_similarity, TEMPR.temporal_decay) == (0.6, 0.7)
