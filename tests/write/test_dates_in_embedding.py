"""`date_in_embedding`: the date is part of what is embedded, of turns and of all that is derived from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from everwhen import Memory
from everwhen.models.embedder import LocalTime, embed_derived, shared_embedder, with_date
from everwhen.tree.base import NodeDraft
from everwhen.tree.extractive import Extractive

ZONE = "Asia/Tokyo"
SAID = datetime(2024, 6, 3, 9, tzinfo=UTC)


def vector(memory: Memory, id_: str) -> NDArray[np.float32]:
    [unit] = [one for one in memory._bank.store.units(range(1, 200)).values() if one.id == id_]
    return memory._bank.store.keep.first_vectors([unit.seq])[unit.seq]


def is_vector_of(memory: Memory, id_: str, text: str) -> bool:
    [expected] = shared_embedder("fake").embed([text])
    return bool(np.allclose(vector(memory, id_), expected, atol=1e-5))


class Retelling(Extractive):
    """A consolidator that words its nodes itself, as a model does."""

    name = "retelling"

    def consolidate(self, tasks: Any) -> list[NodeDraft]:
        from dataclasses import replace

        return [
            replace(one, text="A quiet day.", consolidator=self.name, by_meaning=True)
            for one in super().consolidate(tasks)
        ]


def told(home: Path, bank: str, **settings: Any) -> Memory:
    memory = Memory.open(home, bank, embedder="fake", reader="none", zone=ZONE, **settings)
    memory.add(
        {
            "role": "user",
            "name": "Ana",
            "content": "I moved to Porto in May 2023.",
            "timestamp": SAID,
            "id": "t1",
        },
        session="s",
    )
    memory.flush()
    memory.facts.assert_("Ben", "lives in", "Lyon", valid_from="2021-03-04", at=SAID)
    memory.facts.assert_("Ben", "owns", "a kayak", at=SAID)
    return memory


@pytest.fixture
def dated(home: Path) -> Iterator[Memory]:
    with told(home, "dated", date_in_embedding=True) as memory:
        yield memory


def expected(memory: Memory, dates: bool) -> dict[str, str]:
    """By id what should have been embedded of each derived unit."""
    [event] = memory.events()
    assert event.occurred is not None and event.occurred.grain == "month"
    lives, owns = memory.facts.current("Ben", "lives in"), memory.facts.current("Ben", "owns")
    [text] = memory._bank.store.keep.unit_texts([event.id]).values()
    return {
        event.id: f"[May 2023] {text}" if dates else text,
        lives[0].id: "[04 March 2021] Ben lives in Lyon" if dates else "Ben lives in Lyon",
        owns[0].id: "[03 June 2024] Ben owns a kayak" if dates else "Ben owns a kayak",
    }


def test_events_and_facts_are_embedded_with_the_time_they_are_about(dated: Memory) -> None:
    for id_, text in expected(dated, dates=True).items():
        assert is_vector_of(dated, id_, text), text


def test_by_default_no_date_is_embedded(home: Path) -> None:
    with told(home, "plain") as memory:
        for id_, text in expected(memory, dates=False).items():
            assert is_vector_of(memory, id_, text), text


def test_what_is_stored_and_shown_has_no_date(dated: Memory) -> None:
    assert not any(one.text.startswith("[") for one in dated.recall("Ben Ana Porto", kinds=["event", "fact"]))


def test_embedding_again_gives_the_same_and_obeys_the_setting(home: Path) -> None:
    with told(home, "again", date_in_embedding=True) as memory:
        known = expected(memory, dates=True)
        memory.reembed("fake")
        assert all(is_vector_of(memory, id_, text) for id_, text in known.items())
    with Memory.open(home, "again", date_in_embedding=False) as memory:
        memory.reembed("fake")
        assert all(is_vector_of(memory, id_, text) for id_, text in expected(memory, dates=False).items())


def test_doctor_makes_lost_vectors_with_their_dates(dated: Memory) -> None:
    known = expected(dated, dates=True)
    with dated._bank.store._file.transaction() as sql:  # type: ignore[attr-defined]
        sql.raw.execute(
            "DELETE FROM vectors WHERE unit IN (SELECT seq FROM units WHERE kind IN ('event', 'fact'))"
        )
    dated.doctor(fix=True)
    assert all(is_vector_of(dated, id_, text) for id_, text in known.items())


def test_a_node_in_a_models_words_has_the_day_its_window_begins(
    dated: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.tree.building.open_consolidator", lambda settings: Retelling())
    dated.consolidate("end")
    [day] = dated.tree(3)
    assert is_vector_of(dated, day.id, "[03 June 2024] A quiet day.")
    dated.reembed("fake")
    assert is_vector_of(dated, day.id, "[03 June 2024] A quiet day.")


def test_a_node_that_quotes_points_where_its_dated_turns_point(dated: Memory) -> None:
    dated.consolidate("end")
    [day] = dated.tree(3)
    assert vector(dated, day.id) == pytest.approx(vector(dated, "t1"), abs=1e-5)
    assert is_vector_of(dated, "t1", "[03 June 2024] Ana: I moved to Porto in May 2023.")


def test_dated_words_never_enter_the_cache_that_forgetting_cleans(dated: Memory) -> None:
    """Whoever forgets looks in the cache for the bare words: nothing else may be there."""
    [event] = dated.events()
    cache = dated._bank.embedder
    kept = cache._open().execute("SELECT count(*) FROM vectors").fetchone()[0]  # type: ignore[attr-defined]
    text = expected(dated, dates=True)[event.id]
    embed_derived(cache, ["something new"], [LocalTime(SAID, ZONE)])
    assert cache._open().execute("SELECT count(*) FROM vectors").fetchone()[0] == kept, text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("grain", "label"),
    [
        ("second", "04 June 2024"),
        ("day", "04 June 2024"),
        ("week", "04 June 2024"),
        ("month", "June 2024"),
        ("season", "June 2024"),
        ("year", "2024"),
        ("decade", "2024"),
    ],
)
def test_a_date_is_written_as_exactly_as_it_is_known_and_where_it_was(grain: Any, label: str) -> None:
    late = datetime(2024, 6, 3, 20, tzinfo=UTC)
    assert with_date("x", LocalTime(late, ZONE, grain)) == f"[{label}] x"
    assert with_date("x", None) == "x"
