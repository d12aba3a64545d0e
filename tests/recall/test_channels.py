"""The ways in which a memory is found: each a ranking, and what a filter keeps out is kept out of all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.recall.candidates import embed, merged, reasons
from everwhen.recall.names import plan
from everwhen.store.rows import Scored
from everwhen.types import Recall
from everwhen.types.recall import CHANNELS, FOUR_WAY, MID
from tests.recall.memories import ASKED, START, gathered, tell

scored = st.lists(st.builds(Scored, st.integers(0, 20), st.floats(-1, 1)), max_size=12)


@given(st.lists(scored, max_size=3))
def test_rankings_of_one_measure_become_one_with_the_best_score_of_each(
    rankings: list[list[Scored]],
) -> None:
    found = merged(rankings)
    best = {
        unit: max(s for one in rankings for u, s in one if u == unit) for one in rankings for unit, _ in one
    }
    assert dict(found) == best and len(found) == len(best)
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)


def test_ranks_count_from_one_in_every_channel_that_found_a_unit() -> None:
    found = {"semantic": [Scored(7, 0.9), Scored(3, 0.2)], "keyword": [Scored(3, 4.0)]}
    assert reasons(found) == {
        7: ({"semantic": 1}, {"semantic": 0.9}),
        3: ({"semantic": 2, "keyword": 1}, {"semantic": 0.2, "keyword": 4.0}),
    }


def test_a_question_is_embedded_as_it_stands() -> None:
    fake = FakeEmbedder()
    named = embed(fake, plan("Where is Ana now?", ASKED, "UTC", ("Ana",)))
    np.testing.assert_allclose(named.vector, fake.embed(["Where is Ana now?"])[0])
    assert named.tokens is None and named.words == ()


def test_those_whom_the_question_names_are_asked_by_themselves_too(quick: Memory) -> None:
    tell(quick, [("Ana", "tea tea tea")] * 40 + [("Ben", "tea, and much else that is long to tell")])
    few = replace(MID, candidates=5, channels=("semantic", "keyword"))
    assert not any(
        row.speaker == "Ben"
        for row in quick._bank.store.units(
            [unit for unit, _ in gathered(quick, "tea", recipe=few).found["keyword"]]
        ).values()
    )
    found = quick.recall("Does Ben like tea?", at=ASKED, recipe=few)
    assert "Ben" in {one.speaker for one in found}


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Three sessions over a year, with events, links and facts."""
    with Memory.open(tmp_path_factory.mktemp("rich"), "rich") as memory:
        for place, days in enumerate((0, 90, 150)):
            tell(
                memory,
                [
                    ("Ana", "I moved to Lisbon and bought a red kayak with Clara."),
                    ("Ben", "Clara and I paddled the kayak on the river yesterday."),
                    ("Ana", "What did Clara think of the kayak trip?"),
                    ("Ben", "Clara loved the kayak trip on the river."),
                ],
                f"s{place}",
                days,
            )
        memory.add(
            [{"content": "The kayak trip with Clara, as the agent has it", "metadata": {"by": "mail"}}],
            session="s1",
            at=START + timedelta(days=90, minutes=9),
        )
        memory.flush()
        memory.facts.assert_("Ana", "owns", "kayak", valid_from=START)
        yield memory


QUERY = "What did Clara think of the kayak trip on the river in June 2025?"
FULL = replace(FOUR_WAY, expand=4, satf=True)


def asked(memory: Memory, **filters: Any) -> Recall:
    return memory.recall(QUERY, at=ASKED, recipe=FULL, **filters)


def test_all_four_channels_find_something_here(rich: Memory) -> None:
    found = asked(rich)
    assert set(found.trace["found"]) == set(CHANNELS)
    assert all(found.trace["found"].values()) and len(found) > 8


@pytest.mark.parametrize(
    "recipe", [FULL, *(replace(FULL, channels=(one,)) for one in CHANNELS), FULL.without("fusion")]
)
def test_what_lies_outside_of_a_window_is_found_by_no_channel(rich: Memory, recipe: Any) -> None:
    start, end = START + timedelta(days=80), START + timedelta(days=90, minutes=2)
    found = rich.recall(QUERY, at=ASKED, recipe=recipe, between=(start, end))
    turns = [one for one in found if one.kind == "turn"]
    assert all(start <= one.said_at < end for one in turns)
    inside = set() if recipe.channels == ("graph",) else {"s1-0", "s1-1"}  # a walk begins at what others find
    assert {one.id for one in turns} == inside


def test_what_was_learned_later_is_found_by_no_channel(rich: Memory) -> None:
    assert len(asked(rich, known_at=START - timedelta(days=1))) == 0


def test_only_the_kinds_asked_for_come_out(rich: Memory) -> None:
    for kind in ("turn", "fact", "event"):
        found = asked(rich, kinds=[kind])
        assert len(found) and {one.kind for one in found} == {kind}


def test_only_the_networks_asked_for_come_out(rich: Memory) -> None:
    assert len(asked(rich, networks=["world"], kinds=["turn"]))
    assert len(asked(rich, networks=["opinion"], kinds=["turn"])) == 0


def test_only_what_has_the_metadata_comes_out_and_no_neighbour_without_it(rich: Memory) -> None:
    found = asked(rich, metadata={"by": "mail"}, kinds=["turn"])
    assert [one.text for one in found] == ["The kayak trip with Clara, as the agent has it"]
    assert len(asked(rich, metadata={"by": "pigeon"})) == 0


def test_a_fact_that_was_told_elsewhere_does_not_come_in_behind_a_turn_that_passes(quick: Memory) -> None:
    for days, city, by in ((0, "Lisbon", "mail"), (30, "Porto", "chat")):
        told = {"name": "Ana", "content": f"I live in {city}.", "metadata": {"by": by}}
        quick.add([told], session="s", at=START + timedelta(days=days))
    quick.flush()
    found = quick.recall("Where does Ana live?", at=ASKED, metadata={"by": "mail"})
    assert [one.text for one in found] == ["I live in Lisbon."]
    assert "Porto" in quick.recall("Where does Ana live?", at=ASKED).as_context()
