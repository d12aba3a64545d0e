"""The turn calendar of a store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from everwhen.errors import EverwhenError
from everwhen.store.sql.store import Store
from everwhen_time import Interval
from tests.conformance.conftest import Reopen
from tests.conformance.turns import START, turn


def test_a_turn_comes_back_as_it_was_written(store: Store) -> None:
    written = turn("a", "naïve 🙂 text", hours=1.5, speaker="Zoë", mood="fine", count=3)
    store.append([written])
    (found,) = store.turns()
    assert found.text == "naïve 🙂 text"
    assert (found.id, found.session, found.speaker, found.segment) == ("a", "s", "Zoë", "x-a")
    assert found.said_at == written.turn.said_at
    assert found.metadata == {"mood": "fine", "count": 3}


def test_turns_come_in_the_order_of_time_then_of_arrival(store: Store) -> None:
    store.append([turn("late", hours=5), turn("first", hours=1), turn("second", hours=1)])
    store.append([turn("between", hours=2)])
    assert [found.id for found in store.turns()] == ["first", "second", "between", "late"]


def test_a_long_calendar_is_listed_whole(store: Store) -> None:
    store.append([turn(f"t{i}", hours=i % 7) for i in range(1300)])
    assert len(list(store.turns())) == 1300


def test_the_same_id_again_changes_nothing(store: Store) -> None:
    assert store.append([turn("a", "one")]) == [True]
    assert store.append([turn("a", "two"), turn("b", "three")]) == [False, True]
    assert [found.text for found in store.turns()] == ["one", "three"]
    assert store.known(["a", "b", "c"]) == {"a": "one", "b": "three"}


def test_an_interval_is_half_open(store: Store) -> None:
    store.append([turn(f"t{i}", hours=i) for i in range(4)])
    hour = timedelta(hours=1)
    assert [t.id for t in store.turns(between=Interval(START + hour, START + 3 * hour))] == ["t1", "t2"]
    assert [t.id for t in store.turns(between=Interval(None, START + hour))] == ["t0"]
    assert [t.id for t in store.turns(between=Interval(START + 3 * hour, None))] == ["t3"]


def test_a_turn_is_listed_with_its_neighbours_of_the_same_session(store: Store) -> None:
    store.append([turn(f"t{i}", hours=i // 2) for i in range(6)])
    store.append([turn("other", hours=1, session="other")])
    found = {one.id: one for one in store.turns()}
    assert [one.id for one in store.turns_around(found["t2"], 1)] == ["t1", "t2", "t3"]
    assert [one.id for one in store.turns_around(found["t0"], 2)] == ["t0", "t1", "t2"]
    assert [one.id for one in store.turns_around(found["t5"], 9)] == [f"t{i}" for i in range(6)]
    assert [one.id for one in store.turns_around(found["other"], 3)] == ["other"]


def test_sessions_are_summed_up_from_their_turns(store: Store) -> None:
    store.append([turn("b", hours=9, session="two", speaker="Ben"), turn("a", hours=1, session="one")])
    store.append([turn("c", hours=2, session="one", speaker="Ben")])
    one, two = store.sessions()
    assert (one.id, one.turns, set(one.speakers)) == ("one", 2, {"Ana", "Ben"})
    assert (one.first, one.last) == (START + timedelta(hours=1), START + timedelta(hours=2))
    assert two.id == "two"


def test_the_last_turn_of_a_session_is_that_of_the_instant_asked_for(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=3), turn("other", hours=2, session="else")])
    before = store.last_turn("s", START + timedelta(hours=2))
    assert before is not None and before.id == "a"
    assert store.last_turn("s", START) is None
    assert store.last_turn("nowhere", START) is None


def test_what_was_written_is_there_after_reopening(reopen: Reopen) -> None:
    first = reopen()
    first.append([turn("a", "kept")])
    first.close()
    assert [found.text for found in reopen().turns()] == ["kept"]


def test_a_failing_batch_leaves_nothing_behind(store: Store) -> None:
    good, bad = turn("a"), turn("b")
    object.__setattr__(bad.turn, "text", None)
    with pytest.raises((EverwhenError, TypeError, ValueError)):
        store.append([good, bad])
    assert list(store.turns()) == []
    assert store.check() == []


def test_a_sound_bank_has_no_findings(store: Store) -> None:
    store.append([turn(f"t{i}", f"word{i} said", hours=i, before=f"t{i - 1}") for i in range(20)])
    assert store.check() == []
    stats = store.stats()
    assert (stats.turns, stats.sessions, stats.segments, stats.passages) == (20, 1, 20, 20)
