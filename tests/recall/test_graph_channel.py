"""The graph channel: activation as TEMPR has it, bounded, inside the filters, leading back to turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from everwhen import Memory
from everwhen.recall.papers.graph import graph
from everwhen.recall.temporal_channel import AHEAD, Edges, spread
from everwhen.store.rows import Filter, Scored, Search, SearchQuery
from everwhen.types import NETWORKS
from everwhen.types.recall import MID
from everwhen_time import Interval
from tests.conformance.finding import by_meaning

START = datetime(2024, 5, 1, tzinfo=UTC)
Plain = dict[int, list[tuple[int, float]]]

units = st.integers(0, 9)
graphs = st.lists(st.tuples(units, units, st.sampled_from((0.05, 0.1, 0.4, 0.7, 1.0))), max_size=30)
starts = st.dictionaries(units, st.sampled_from((0.5, 0.6, 0.8)), max_size=3)


def leaving(edges: list[tuple[int, int, float]]) -> Plain:
    found: Plain = {}
    for source, target, weight in edges:
        found.setdefault(source, []).append((target, weight))
    return found


def walk(edges: Plain, seeds: dict[int, float], limit: int = 1000, stop: float = 0.1) -> dict[int, float]:
    return spread(
        lambda units: {unit: edges.get(unit, []) for unit in units},
        seeds,
        decay=0.8,
        min_edge=0.1,
        stop=stop,
        limit=limit,
    )


def one_at_a_time(edges: Plain, seeds: dict[int, float], limit: int) -> dict[int, float]:
    """TEMPR's algorithm as it is written, without reading ahead."""
    queue, visited = sorted(((-a, u) for u, a in seeds.items())), dict[int, float]()
    while queue and len(visited) < limit:
        negative, unit = queue.pop(0)
        if unit in visited:
            continue
        visited[unit] = -negative
        for other, weight in edges.get(unit, []):
            if weight >= 0.1 and -negative * weight * 0.8 > 0.1:
                queue = sorted([*queue, (negative * weight * 0.8, other)])
    return visited


def test_activation_falls_by_weight_and_decay_at_each_hop_and_takes_the_best_path() -> None:
    found = walk({1: [(2, 0.5), (3, 1.0)], 3: [(2, 1.0), (4, 0.05)]}, {1: 1.0})
    assert found == pytest.approx({1: 1.0, 3: 0.8, 2: 0.64})


def test_it_stops_below_a_tenth() -> None:
    chain = {unit: [(unit + 1, 1.0)] for unit in range(50)}
    assert len(walk(chain, {0: 1.0})) == 11  # 0.8 ** 10 = 0.107


@given(graphs.map(leaving), starts, st.integers(0, 12))
def test_reading_ahead_changes_nothing(edges: Plain, seeds: dict[int, float], limit: int) -> None:
    assert walk(edges, seeds, limit) == pytest.approx(one_at_a_time(edges, seeds, limit))


@given(graphs.map(leaving), starts, st.integers(0, 12))
def test_the_most_active_come_first_and_no_more_than_the_budget(
    edges: Plain, seeds: dict[int, float], limit: int
) -> None:
    found = list(walk(edges, seeds, limit).values())
    assert len(found) <= limit
    assert found == sorted(found, reverse=True)


def test_many_are_read_at_once() -> None:
    readings: list[int] = []

    def star(units: Sequence[int]) -> Edges:
        readings.append(len(units))
        return {unit: [(other, 0.9) for other in range(1, 200)] if unit == 0 else [] for unit in units}

    assert len(spread(star, {0: 1.0}, decay=0.8, min_edge=0.1, stop=0.1, limit=100)) == 100
    assert sum(readings) <= 100 and len(readings) <= 2 + 100 / AHEAD + 1


# Over a real bank


@pytest.fixture
def told(memory: Memory) -> Memory:
    """An exchange about one trip, a dated plan of it, and something else long after."""
    for minutes, text in enumerate(
        (
            "Carlos and I hiked up the volcano on Sunday.",
            "The hike up the volcano took us nine hours.",
            "Our knees hurt after the volcano hike.",
            "I paid the electricity bill.",
        )
    ):
        at = START + timedelta(minutes=minutes)
        session = "bills" if "bill" in text else "may"
        memory.add({"role": "user", "name": "Ana", "content": text, "timestamp": at}, session=session)
    later = START + timedelta(days=200)
    memory.add(
        {"role": "user", "name": "Ana", "content": "Carlos wants to hike again soon.", "timestamp": later},
        session="november",
        metadata={"project": "hills"},
    )
    memory.flush()
    return memory


def searched(memory: Memory, vector: NDArray[np.float32], where: Filter | None = None) -> Search:
    """The bank as a question sees it."""
    return memory._bank.store.search(SearchQuery(vector, where=where or Filter()))


def found(memory: Memory, question: str, where: Filter | None = None, limit: int = 100) -> list[str]:
    vector = memory._bank.embedder.embed([question])[0]
    seeds = by_meaning(memory._bank.store, vector, 10, Filter(kinds=frozenset({"turn"})))
    scored = graph(
        searched(memory, vector, where),
        seeds,
        limit,
        where or Filter(),
        replace(MID, graph_seeds=1, graph_seed_similarity=0.3),
    )
    assert [one.score for one in scored] == sorted((one.score for one in scored), reverse=True)
    rows = memory._bank.store.units([one.unit for one in scored])
    assert all(row.kind in ("turn", "fact") for row in rows.values())
    return [rows[one.unit].text for one in scored]


def test_what_was_said_beside_the_hit_is_found_and_what_has_nothing_to_do_with_it_is_not(
    told: Memory,
) -> None:
    texts = found(told, "How long was the hike up the volcano?")
    assert any("nine hours" in text for text in texts) and any("knees" in text for text in texts)
    assert not any("electricity" in text for text in texts)


def test_a_shared_name_leads_across_sessions(told: Memory) -> None:
    assert any("again soon" in text for text in found(told, "Did Carlos and Ana hike up the volcano?"))


def test_an_event_leads_back_to_its_turn(told: Memory) -> None:
    vector = told._bank.embedder.embed(["hike up the volcano on Sunday"])[0]
    [seed] = by_meaning(told._bank.store, vector, 1, Filter(kinds=frozenset({"event"})))
    scored = graph(searched(told, vector), [seed], 1, Filter(), replace(MID, graph_seed_similarity=0.0))
    rows = told._bank.store.units([one.unit for one in scored])
    assert [(row.kind, row.id) for row in rows.values()] == [
        ("turn", told._bank.store.units([seed.unit])[seed.unit].turns[0])
    ]


def test_hard_filters_let_nothing_out(told: Memory) -> None:
    question = "Did Carlos and Ana hike up the volcano?"
    first_days = Interval(START, START + timedelta(days=2))
    assert not any("again soon" in text for text in found(told, question, Filter(between=first_days)))
    assert found(told, question, Filter(between=Interval(None, START))) == []
    assert found(told, question, Filter(known_at=START - timedelta(days=1))) == []
    assert found(told, question, Filter(networks=frozenset(NETWORKS) - {"world"})) == []
    assert found(told, question, Filter(metadata={"project": "hills"})) == []  # the seed is outside


@pytest.mark.parametrize("kind", ["turn", "event", "narrative"])
def test_only_the_kinds_that_are_asked_for_come_out(told: Memory, kind: str) -> None:
    vector = told._bank.embedder.embed(["Did Carlos and Ana hike up the volcano?"])[0]
    seeds = by_meaning(told._bank.store, vector, 10, Filter())
    scored = graph(
        searched(told, vector, Filter(kinds=frozenset({kind}))),
        seeds,
        100,
        Filter(kinds=frozenset({kind})),
    )
    assert {row.kind for row in told._bank.store.units([one.unit for one in scored]).values()} == {kind}


def test_the_budget_bounds_the_walk(told: Memory) -> None:
    assert len(found(told, "Did Carlos and Ana hike up the volcano?", limit=1)) <= 1
    assert found(told, "Did Carlos and Ana hike up the volcano?", limit=0) == []


def test_no_seed_finds_nothing(told: Memory) -> None:
    vector = told._bank.embedder.embed(["anything"])[0]
    assert graph(searched(told, vector), [], 100, Filter()) == []
    assert graph(searched(told, vector), [Scored(1, 0.4)], 100, Filter()) == []
    assert graph(searched(told, vector), [Scored(10_000, 0.9)], 100, Filter()) == []


# What the store gives a walk


def test_neighbours_are_the_links_of_each_unit_at_once(told: Memory) -> None:
    store, units = told._bank.store.graph, range(1, 12)
    expected = {link for unit in units for link in store.links(unit)}
    assert set(store.neighbours(list(units))) == expected
    strong = store.neighbours(list(units), ("temporal",), 0.9)
    assert strong and all(link.type == "temporal" and link.weight >= 0.9 for link in strong)


def test_a_name_that_is_everywhere_leads_nowhere(quick: Memory) -> None:
    quick.add_many(
        {"role": "user", "name": "Ana", "content": "Carlos called.", "timestamp": START + timedelta(days=n)}
        for n in range(12)
    )
    quick.flush()
    store = quick._bank.store.graph
    assert any(link.type == "entity" for link in store.neighbours([1], fan_out=100))
    assert not any(link.type == "entity" for link in store.neighbours([1], fan_out=5))


def test_merged_names_lead_to_one_another(quick: Memory) -> None:
    for n, name in enumerate(("Carlos", "Bartholomew")):
        quick.add(
            {"role": "user", "content": f"I met {name}.", "timestamp": START + timedelta(days=90 * n)},
            session=name,
        )
    quick.flush()
    turns = {"I met Carlos.": 0, "I met Bartholomew.": 0}
    for row in quick._bank.store.units(range(1, 10)).values():
        if row.kind == "turn":
            turns[row.text] = row.seq
    one, other = turns.values()

    def joined() -> bool:
        links = quick._bank.store.graph.neighbours([one], ("entity",))
        return any(link.target == other for link in links)

    assert not joined()
    quick.merge_entities("Carlos", "Bartholomew")
    assert joined()
