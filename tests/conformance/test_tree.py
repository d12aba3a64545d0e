"""The tree of a store: nodes, what is to be built of them, and what a turn that comes or goes does to both."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from everwhen.store.rows import (
    AsOf,
    BuildMark,
    BuildOutcome,
    BuildResult,
    Filter,
    LevelOne,
    NewNode,
    NodePlace,
)
from everwhen.store.sql.facts import FactLedger
from everwhen.store.sql.store import Store
from everwhen.types import Statement
from everwhen_time import Interval
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_meaning, by_words
from tests.conformance.test_facts import row
from tests.conformance.turns import START, direction, turn
from tests.conformance.units import event, raw, write

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TOP = NodePlace("year", 4, START, START + 365 * DAY)


def day(number: int) -> NodePlace:
    return NodePlace(f"day{number}", 3, START + number * DAY, START + (number + 1) * DAY, parent="year")


def session(name: str, number: int = 0) -> NodePlace:
    start = START + number * DAY
    return NodePlace(f"of-{name}", 2, start, start + HOUR, session=name, parent=f"day{number}")


def node(place: NodePlace, *turns: str, text: str = "", **more: Any) -> NewNode:
    above = {2: day((place.start - START).days), 3: TOP}.get(place.level)
    said = Statement("said so", "Ana", place.start, place.start, turns=turns)
    made = NewNode(
        place=place,
        above=above,
        interval=Interval(place.start, place.end),
        text=text or f"summary of {place.id}",
        children=turns,
        statements=(said,),
        fingerprint=f"{place.id}:{','.join(turns)}:{text}",
        consolidator="extractive",
        version="1",
        first_at=place.start,
        last_at=place.start,
        recorded_at=START,
        turns=turns,
        vectors=np.stack([direction(0.0, 0.0, 1.0)]),
        tokens=3,
    )
    return replace(made, **more)


def the_mark(store: Store, place: NodePlace) -> BuildMark:
    (found,) = [one for one in store.jobs.tree.marks(place.level) if one.place.id == place.id]
    return found


def build(store: Store, made: NewNode) -> BuildOutcome:
    """Mark a node and build it."""
    store.jobs.tree.enqueue([made.place])
    (outcome,) = store.tree.put([BuildResult(the_mark(store, made.place), made)], store.info.model)
    return outcome


def grown(store: Store) -> None:
    """Two sessions on two days, the days, and the year above them."""
    store.append([turn("a"), turn("b", hours=24, session="t")])
    build(store, node(session("s"), "a"))
    build(store, node(session("t", 1), "b"))
    for number, below, told in ((0, "of-s", "a"), (1, "of-t", "b")):
        mark = the_mark(store, day(number))
        store.tree.put([BuildResult(mark, node(day(number), told, children=(below,)))], store.info.model)
    store.tree.put(
        [BuildResult(the_mark(store, TOP), node(TOP, "a", "b", children=("day0", "day1")))], store.info.model
    )


def ids(store: Store, *level: int, **asked: Any) -> list[str]:
    return [one.place.id for one in store.tree.nodes(*level, **asked)]


# What is to be built


def test_the_watermark_is_when_the_newest_turn_was_said(store: Store) -> None:
    assert store.jobs.tree.watermark() is None
    store.append([turn("a", hours=5), turn("b", hours=2)])
    assert store.jobs.tree.watermark() == START + 5 * HOUR


def test_sessions_are_unseen_until_they_are_marked_and_again_when_turns_come(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=3), turn("c", session="t")])
    seen, told = store.jobs.tree.unseen()
    assert [(one.session, one.first, one.last) for one in told] == [
        ("t", START, START),
        ("s", START + HOUR, START + 3 * HOUR),
    ]
    assert len(store.jobs.tree.unseen()[1]) == 2  # looking changes nothing
    store.jobs.tree.enqueue([session("s"), session("t")], seen)
    assert store.jobs.tree.unseen()[1] == [] and store.jobs.tree.pending() == 2
    store.append([turn("d", hours=9, session="t")])
    again, told = store.jobs.tree.unseen()
    assert [(one.session, one.last) for one in told] == [("t", START + 9 * HOUR)]
    store.jobs.tree.enqueue([], seen)  # an older look never takes a newer one back
    store.jobs.tree.enqueue([], again)
    store.jobs.tree.enqueue([], seen)
    assert store.jobs.tree.unseen()[1] == []


def test_a_turn_that_comes_between_the_look_and_the_mark_is_not_lost(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a")])
    seen, _ = one.jobs.tree.unseen()
    two.append([turn("b", session="t")])
    one.jobs.tree.enqueue([session("s")], seen)
    assert [told.session for told in one.jobs.tree.unseen()[1]] == ["t"]


def test_a_session_whose_facts_people_took_back_is_to_be_looked_at_again(store: Store) -> None:
    store.append([turn("a"), turn("b", session="t")])
    seen, _ = store.jobs.tree.unseen()
    store.jobs.tree.enqueue([session("s"), session("t")], seen)

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        fact = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        ledger.cite("f1", ["a"], START)
        ledger.supersede(fact, START + DAY, "corrected", "it was Porto")

    seen, told = store.jobs.tree.unseen()
    assert [one.session for one in told] == ["s"]
    store.jobs.tree.enqueue([session("s")], seen)
    assert store.jobs.tree.unseen()[1] == []


def test_the_sessions_of_some_turns_are_told_whole(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=3), turn("c", session="t")])
    assert [tuple(one) for one in store.tree.sessions_of(["b", "gone"])] == [
        ("s", START + HOUR, START + 3 * HOUR)
    ]
    assert store.tree.sessions_of([]) == []


def test_marks_come_by_level_in_the_order_of_time_and_say_what_waits(store: Store) -> None:
    store.jobs.tree.enqueue([day(1), day(0), session("s"), TOP])
    assert [one.place for one in store.jobs.tree.marks(3)] == [day(0), day(1)]
    assert [one.waits for one in store.jobs.tree.marks(3)] == [
        True,
        False,
    ]  # a session of the first is to be built
    assert store.jobs.tree.marks(2)[0].place == session("s") and not store.jobs.tree.marks(2)[0].waits
    assert store.jobs.tree.marks(4)[0].waits and store.jobs.tree.pending() == 4
    store.jobs.tree.enqueue([day(1)])
    assert store.jobs.tree.pending() == 4  # a node is on the list once


def test_a_restart_notes_the_levels_empties_the_list_and_has_everything_seen_again(reopen: Reopen) -> None:
    store = reopen()
    assert store.tree.levels() is None
    grown(store)
    seen, _ = store.jobs.tree.unseen()
    store.jobs.tree.enqueue([session("s")], seen)
    store.tree.restart("day, year", drop=False)
    assert (
        store.jobs.tree.pending() == 0
        and len(store.jobs.tree.unseen()[1]) == 2
        and len(store.tree.nodes()) == 5
    )
    store.tree.restart("week, year")
    assert store.tree.nodes() == [] and by_words(store, "summary", 9, Filter()) == []
    assert reopen().tree.levels() == "week, year" and store.check() == []


# Writing


def test_a_node_comes_back_as_it_was_written(reopen: Reopen) -> None:
    store = reopen()
    store.append([turn("a"), turn("b", hours=1)])
    told = Statement("Ana moved", "Ana", START, START + HOUR, 2, ("b", "a"), "f1", START + DAY)
    written = node(
        session("s"), "a", "b", text="Zoë 🙂 told", statements=(told,), facts={"f1": ("a",)}, problem="cut short",
        interval=Interval(START, START + HOUR, "hour"), last_at=START + HOUR, recorded_at=START + DAY,
    )  # fmt: skip
    assert build(store, written) == "built"
    (found,) = reopen().tree.nodes()
    for name in (
        "place",
        "interval",
        "text",
        "children",
        "statements",
        "fingerprint",
        "consolidator",
        "version",
    ):
        assert getattr(found, name) == getattr(written, name), name
    assert (found.facts, found.problem) == ({"f1": ("a",)}, "cut short")
    assert (found.first_at, found.last_at, found.recorded_at) == (START, START + HOUR, START + DAY)
    assert found.turns == ("b", "a")
    unit = store.units([found.unit])[found.unit]
    assert (unit.id, unit.kind, unit.level, unit.text) == ("of-s", "node", 2, "Zoë 🙂 told")


def test_a_node_is_found_by_its_words_and_its_vector(store: Store) -> None:
    store.append([turn("a")])
    build(store, node(session("s"), "a", text="a violin was bought"))
    (found,) = store.tree.nodes()
    for hits in (
        by_words(store, "violin", 5, Filter()),
        by_meaning(store, direction(0.0, 0.0, 1.0), 1, Filter(kinds=frozenset({"node"}))),
    ):
        assert [one.unit for one in hits] == [found.unit]


def test_what_is_built_takes_its_mark_and_puts_what_stands_above_it_on_the_list(store: Store) -> None:
    store.append([turn("a")])
    assert build(store, node(session("s"), "a")) == "built"
    assert store.jobs.tree.marks(2) == [] and [one.place for one in store.jobs.tree.marks(3)] == [day(0)]
    store.tree.put(
        [BuildResult(the_mark(store, day(0)), node(day(0), "a", children=("of-s",)))], store.info.model
    )
    assert [one.place for one in store.jobs.tree.marks(4)] == [TOP] and store.jobs.tree.pending() == 1
    store.tree.put([BuildResult(the_mark(store, TOP), node(TOP, "a", children=("day0",)))], store.info.model)
    assert store.jobs.tree.pending() == 0 and store.check() == []


def test_a_node_with_the_same_fingerprint_is_left_as_it_is(store: Store) -> None:
    grown(store)
    (before,) = store.tree.nodes(ids=["of-s"])
    assert build(store, node(session("s"), "a")) == "same"
    assert store.tree.nodes(ids=["of-s"]) == [before] and store.jobs.tree.pending() == 0


def test_a_node_with_another_fingerprint_replaces_the_old_one(store: Store) -> None:
    grown(store)
    assert build(store, node(session("s"), "a", text="quite another summary")) == "rebuilt"
    (found,) = store.tree.nodes(ids=["of-s"])
    assert found.text == "quite another summary" and [one.place for one in store.jobs.tree.marks(3)] == [
        day(0)
    ]
    assert len(by_words(store, "another", 9, Filter())) == 1 and len(store.tree.nodes()) == 5


def test_a_node_that_nothing_is_left_for_is_dropped_and_what_stands_above_is_built_again(
    store: Store,
) -> None:
    grown(store)
    store.jobs.tree.enqueue([session("s"), session("never", 1)])
    marks = [the_mark(store, session("s")), the_mark(store, session("never", 1))]
    assert store.tree.put([BuildResult(mark, None) for mark in marks], store.info.model) == [
        "dropped",
        "same",
    ]
    assert ids(store, 2) == ["of-t"] and [one.place for one in store.jobs.tree.marks(3)] == [day(0)]
    assert store.jobs.tree.pending() == 1


def test_what_was_built_for_a_mark_that_was_made_again_comes_too_late(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a")])
    one.jobs.tree.enqueue([session("s")])
    old = the_mark(one, session("s"))
    two.jobs.tree.enqueue([session("s")])
    new = the_mark(two, session("s"))
    assert one.tree.put([BuildResult(old, node(session("s"), "a", text="of old turns"))], one.info.model) == [
        "late"
    ]
    assert one.tree.nodes() == [] and one.jobs.tree.pending() == 1
    assert two.tree.put([BuildResult(new, node(session("s"), "a"))], one.info.model) == ["built"]
    assert one.tree.put([BuildResult(new, node(session("s"), "a", text="once more"))], one.info.model) == [
        "late"
    ]
    assert [found.text for found in one.tree.nodes()] == ["summary of of-s"]


def test_level_one_is_written_with_its_session_and_what_is_not_kept_goes(store: Store) -> None:
    store.append([turn("a")])
    parts = [NodePlace(f"part{i}", 1, START, START + HOUR, parent="of-s") for i in range(3)]
    first = [replace(node(place, "a"), above=None) for place in parts[:2]]
    build(store, node(session("s"), "a", below=tuple(first)))
    assert ids(store, 1) == ["part0", "part1"]
    third = replace(node(parts[2], "a"), above=None)
    build(store, node(session("s"), "a", text="again", below=(third,), kept=frozenset({"part1"})))
    assert ids(store, 1) == ["part1", "part2"] and ids(store, under=["of-s"]) == ["part1", "part2"]
    store.jobs.tree.enqueue([session("s")])
    store.tree.put([BuildResult(the_mark(store, session("s")), None)], store.info.model)
    assert store.tree.nodes() == []


def test_level_one_of_a_session_that_goes_on_is_written_alone(reopen: Reopen) -> None:
    store = reopen()
    store.append([turn("a")])
    parts = [NodePlace(f"part{i}", 1, START, START + HOUR, "s", parent="of-s") for i in range(2)]
    store.jobs.tree.enqueue([session("s")])
    mark = the_mark(store, session("s"))

    def put(place: NodePlace, *kept: str, waits: bool = True) -> str:
        made = replace(node(place, "a"), above=None)
        alone = BuildResult(mark, None, LevelOne([made], frozenset(kept), waits))
        return store.tree.put([alone], store.info.model)[0]

    assert put(parts[0]) == "built"
    assert put(parts[1], "part0") == "built"
    assert ids(reopen(), 1) == ["part0", "part1"] and store.jobs.tree.pending() == 1
    assert put(parts[0], "part1", waits=False) == "built"
    assert store.jobs.tree.pending() == 0
    assert put(parts[0]) == "late"  # nothing is to be built there any more


# Reading


def test_nodes_come_in_the_order_of_level_and_time(store: Store) -> None:
    grown(store)
    assert ids(store) == ["of-s", "of-t", "day0", "day1", "year"]
    assert ids(store, 3) == ["day0", "day1"] and store.tree.nodes(9) == []
    assert ids(store, ids=["year", "of-t", "gone"]) == ["of-t", "year"]
    assert ids(store, under=["year"]) == ["day0", "day1"] and ids(store, under=["day1", "day0"]) == [
        "of-s",
        "of-t",
    ]
    assert ids(store, ids=[]) == [] == ids(store, under=[])


def test_a_window_finds_the_nodes_that_overlap_it(store: Store) -> None:
    grown(store)
    second = Interval(START + DAY, START + 2 * DAY)
    assert ids(store, between=second) == ["of-t", "day1", "year"]
    assert [one.place.id for one in store.tree.nodes(3, second)] == ["day1"]
    assert ids(store, between=Interval(None, START)) == [] and ids(
        store, between=Interval(START, None)
    ) == ids(store)


def test_the_texts_before_an_instant_are_the_last_ones_oldest_first(store: Store) -> None:
    store.append([turn(f"t{i}", hours=24 * i, session=f"s{i}") for i in range(4)])
    for i in range(4):
        build(store, node(session(f"s{i}", i), f"t{i}", text=f"day {i}"))
    assert store.tree.before(2, START + 3 * DAY, 2) == ["day 1", "day 2"]
    assert store.tree.before(2, START, 2) == [] == store.tree.before(3, START + 9 * DAY, 2)


def test_the_nodes_above_a_turn_go_from_its_session_up(store: Store) -> None:
    grown(store)
    store.append([turn("late", hours=99, session="unbuilt")])
    found = store.tree.paths(["a", "b", "late", "gone"])
    assert {name: [(one.id, one.level) for one in path] for name, path in found.items() if path} == {
        "a": [("of-s", 2), ("day0", 3), ("year", 4)],
        "b": [("of-t", 2), ("day1", 3), ("year", 4)],
    }
    assert store.units([one.unit for one in found["a"]])[found["a"][0].unit].id == "of-s"


def test_every_node_is_listed_for_another_embedder(store: Store) -> None:
    grown(store)
    found = {id_: (text, by, sorted(turns)) for id_, text, by, turns in store.tree.for_reembedding()}
    assert set(found) == set(ids(store))
    assert found["of-s"] == ("summary of of-s", "extractive", ["a"])
    assert found["year"][2] == ["a", "b"]


def test_where_a_node_came_from_is_told_and_a_turn_does_not_lead_up_to_it(store: Store) -> None:
    grown(store)
    (found,) = store.tree.nodes(ids=["day0"])
    (a,) = raw(store, "a")
    unit = write(store, event("e1", "a"))["e1"]
    assert store.graph.provenance([found.unit]) == [(found.unit, a)]
    assert store.graph.provenance([a]) == [(unit, a)]


# Forgetting


def test_uprooting_removes_the_path_above_a_turn_and_has_it_built_again(store: Store) -> None:
    grown(store)
    with store.keep.forgetting() as eraser:
        assert len(eraser.uproot(["a"], [session("s")]).ids) == 3
    assert ids(store) == ["of-t", "day1"]
    assert [[one.place.id for one in store.jobs.tree.marks(level)] for level in (2, 3, 4)] == [
        ["of-s"],
        ["day0"],
        ["year"],
    ]
    assert by_words(store, "summary", 9, Filter(kinds=frozenset({"node"})))
    with store.keep.forgetting() as eraser:
        assert not eraser.uproot(["a"], [session("s")]).ids


def test_nodes_are_counted_and_a_whole_tree_has_no_findings(store: Store) -> None:
    grown(store)
    assert store.stats().nodes == 5 and store.tree.check() == [] == store.check()


def test_a_node_with_nothing_above_and_nothing_to_be_built_there_is_found(store: Store) -> None:
    store.append([turn("a")])
    build(store, replace(node(session("s"), "a"), above=None))
    assert [one.check for one in store.tree.check()] == ["tree"]


def test_the_problem_of_a_node_is_told(store: Store) -> None:
    grown(store)
    build(store, node(session("s"), "a", text="again", problem="the model was silent"))
    assert ["the model was silent" in one.problem for one in store.tree.check()] == [True]


def test_a_version_that_was_replaced_stands_for_those_who_ask_for_the_time_before(store: Store) -> None:
    store.append([turn("a")])

    def built(text: str) -> datetime:
        build(store, node(session("s"), "a", text=text))
        return datetime.now(UTC)

    first, second = built("one"), built("two")
    found = [store.tree.nodes_then(2, AsOf(known_at=moment)) for moment in (START, first, second)]
    assert [[row.text for row in rows] for rows in found] == [[], ["one"], ["two"]]
    assert store.tree.nodes_then(None, AsOf(as_of=START - DAY)) == []
