"""Links: bounded, in both directions, with the weights of the design."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from everwhen import Memory
from everwhen.write.links import SEMANTIC_MOST, TEMPORAL_MOST, least_cosine, temporal_weight

START = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(("hours", "weight"), [(0, 1.0), (6, 0.75), (12, 0.5), (20, 0.3), (23, 0.3)])
def test_nearness_in_time_fades_to_a_floor(hours: float, weight: float) -> None:
    assert temporal_weight(timedelta(hours=hours)) == pytest.approx(weight)


def test_turns_within_a_day_are_linked_both_ways_and_no_further(quick: Memory) -> None:
    for hours in (0, 6, 40):
        quick.add(f"turn at {hours}", at=START + timedelta(hours=hours), session="s")
    quick.flush()
    links = {
        (link.source, link.target, link.weight)
        for unit in (1, 2, 3)
        for link in quick.links(unit)
        if link.type == "temporal"
    }
    assert links == {(1, 2, 0.75), (2, 1, 0.75)}


def test_a_busy_day_has_a_bounded_fan_out(quick: Memory) -> None:
    quick.add_many(
        {"role": "user", "content": "the same words again", "timestamp": START + timedelta(minutes=n)}
        for n in range(60)
    )
    quick.flush()
    for unit in range(1, 61):
        links = quick.links(unit)
        assert len([link for link in links if link.type == "temporal"]) == TEMPORAL_MOST
        assert len([link for link in links if link.type == "semantic"]) <= SEMANTIC_MOST


def test_meaning_links_what_is_alike(memory: Memory) -> None:
    memory.add(
        ["I adopted a puppy from the shelter", "I adopted a little puppy at the shelter", "The rent went up"]
    )
    memory.flush()
    found = {
        (link.source, link.target)
        for unit in (1, 2, 3)
        for link in memory.links(unit)
        if link.type == "semantic"
    }
    assert found == {(1, 2), (2, 1)}


def test_those_who_are_mentioned_together_are_linked_when_read(quick: Memory) -> None:
    quick.add({"role": "user", "name": "Ana", "content": "I met Carlos.", "timestamp": START})
    quick.add(
        {"role": "user", "name": "Bo", "content": "Carlos is late.", "timestamp": START + timedelta(days=90)}
    )
    quick.flush()
    assert any(link.type == "entity" and link.weight == 1.0 and link.target == 2 for link in quick.links(1))


def test_cause_and_effect_are_linked(quick: Memory) -> None:
    quick.add("Maria reverted the change yesterday because it doubled the latency.", at=START)
    verbs = {event.id: event.verb for event in quick.events()}
    units = quick._bank.store.units(range(1, 20))
    found = {
        (verbs[units[link.source].id], verbs[units[link.target].id])
        for unit in units
        for link in quick.links(unit)
        if link.type == "causal"
    }
    assert found == {("double", "revert"), ("revert", "double")}


def test_the_floor_of_links_in_meaning_fits_the_embedder_or_is_set() -> None:
    assert least_cosine("conversation-1", None) == 0.92
    assert least_cosine("openai:text-embedding-3-small", None) == 0.7  # TEMPR's
    assert least_cosine("conversation-1", 0.5) == 0.5
