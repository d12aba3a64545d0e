"""The graph of a store: derived units, entities, links and where each thing came from."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

import numpy as np
import pytest

from everwhen.errors import NotFound, UsageError
from everwhen.store.rows import Filter, Mention, Moment, TurnForgotten
from everwhen.store.sql.store import Store
from everwhen.types import Usage
from everwhen.write.links import TEMPORAL_MOST, link_in_time
from everwhen_time import Interval
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_meaning, by_words
from tests.conformance.turns import START, direction, turn
from tests.conformance.units import entity, event, mention, narrative, raw, write

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def calendar(store: Store, **asked: object) -> list[str]:
    return [one.id for one in store.graph.events(**asked)]  # type: ignore[arg-type]


def test_what_extraction_used_counts_with_the_rest(store: Store) -> None:
    store.graph.note_usage("answer", "openai:a", Usage(1, 10, 2, 0.5))
    with store.graph.writing(store.info.model) as writer:
        writer.record_usage("openai:b", Usage(2, 30, 4, 0.25))
    used = store.graph.usage()
    assert (used.requests, used.input_tokens, used.output_tokens) == (3, 40, 6)
    assert used.cost == pytest.approx(0.75)


# Derived units


def test_a_batch_that_fails_leaves_nothing_behind(store: Store) -> None:
    store.append([turn("a")])
    with pytest.raises(RuntimeError), store.graph.writing(store.info.model) as writer:
        unit = writer.add_units([event("e1", "a")], "rules", "1")["e1"]
        writer.mention([Mention(unit, writer.add_entity("Ana", "PERSON"), "Ana", "PERSON")])
        writer.mark_done(["a"], "rules", "1")
        writer.record_usage("openai:b", Usage(2, 30, 4, 0.25))
        raise RuntimeError
    assert calendar(store) == [] == store.graph.entities()
    assert store.jobs.extraction.pending() == 1 and store.graph.usage() == Usage() and store.check() == []


def test_an_event_comes_back_as_it_was_written(reopen: Reopen) -> None:
    store = reopen()
    store.append([turn("a", hours=2), turn("b", hours=1)])
    when = Interval(START, START + DAY, "day")
    write(
        store,
        event(
            "e1", "a", "b", subject="Zoë", verb="not move", object_="🙂", occurred=when, status="negated",
            text="Zoë did not move", polarity=-1, quantity="3", expression="yesterday", inferred=True,
            aliases=("relocate", "Umzug"),
        ),
    )  # fmt: skip
    (found,) = reopen().graph.events()
    assert (found.id, found.subject, found.verb, found.object) == ("e1", "Zoë", "not move", "🙂")
    assert (found.occurred, found.status, found.polarity, found.quantity) == (when, "negated", -1, "3")
    assert (found.expression, found.inferred, found.aliases) == ("yesterday", True, ("relocate", "Umzug"))
    assert (found.text, found.confidence, found.network) == ("Zoë did not move", 0.75, "world")
    assert found.turns == ("b", "a")  # in the order of time
    assert found.said_at == START + 2 * HOUR and found.extractor == "rules/1"  # its first turn's


def test_a_unit_that_is_there_keeps_its_seq_and_its_words(store: Store) -> None:
    store.append([turn("a")])
    first = write(store, event("e1", "a", text="first"))
    second = write(store, event("e1", "a", text="second"), event("e2", "a"))
    assert second["e1"] == first["e1"] and second["e2"] != first["e1"]
    assert dict(store.graph.derived_texts()) == {"e1": "first", "e2": "Ana move Porto"}


def test_a_unit_is_found_by_its_words_its_context_and_its_vector_and_shows_no_context(store: Store) -> None:
    store.append([turn("a", "we did it", vectors=[direction(1.0)])])
    unit = write(store, event("e1", "a", object_="Porto", context="relocate", vectors=[direction(0.0, 1.0)]))
    events = Filter(kinds=frozenset({"event"}))
    for found in (
        by_words(store, "porto", 5, events),
        by_words(store, "relocate", 5, events),
        by_meaning(store, direction(0.0, 1.0), 1, Filter()),
    ):
        assert [one.unit for one in found] == [unit["e1"]]
    row = store.units([unit["e1"]])[unit["e1"]]
    assert (row.kind, row.text, row.turns, row.confidence) == ("event", "Ana move Porto", ("a",), 0.75)


def test_units_that_rest_on_nothing_but_some_turns_are_dropped_but_those_that_stay(store: Store) -> None:
    store.append([turn("a"), turn("b"), turn("c")])
    write(store, event("e1", "a"), event("e2", "a", "b"), event("e3", "b", "c"), narrative("n1", "a"))
    with store.graph.writing(store.info.model) as writer:
        writer.drop_superseded("event", ["a", "b"], but=["e2"])
    assert {id_ for id_, _ in store.graph.derived_texts()} == {"e2", "e3", "n1"}
    assert store.check() == []


def test_turns_that_are_gone_are_told_when_their_units_are_asked_for(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    units = raw(store, "b", "a")
    assert [store.units(units)[unit].id for unit in units] == ["b", "a"]
    with pytest.raises(TurnForgotten), store.graph.writing(store.info.model) as writer:
        writer.unit_of_turns(["a", "gone"])


def test_what_is_still_there_is_told_from_what_is_not(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    unit = write(store, event("e1", "a"))["e1"]
    (first,) = raw(store, "b")
    store.jobs.extraction.enqueue(["a"])
    with store.graph.writing(store.info.model) as writer:
        assert writer.present([unit, first, 10_000]) == {first}


def test_the_first_vector_of_each_turn_comes_in_the_order_given(store: Store) -> None:
    store.append([turn("a", vectors=[direction(1.0), direction(0.0, 0.0, 1.0)])])
    store.append([turn("b", vectors=[direction(0.0, 1.0)])])
    found = store.graph.vectors(["b", "a", "b"])
    np.testing.assert_allclose(found, [direction(0.0, 1.0), direction(1.0), direction(0.0, 1.0)])


def test_similar_units_of_a_kind_come_best_first_above_the_floor_and_no_more_than_asked(store: Store) -> None:
    store.append([turn("a", vectors=[direction(1.0)])])
    seqs = write(
        store,
        event("same", "a", vectors=[direction(1.0)]),
        event("near", "a", vectors=[direction(1.0, 0.5)]),
        event("far", "a", vectors=[direction(0.0, 1.0)]),
    )
    asked = np.stack([direction(1.0), direction(0.0, 1.0)])
    ahead, aside = store.graph.similar(asked, "event", 0.5, 10)
    assert [unit for unit, _ in ahead] == [seqs["same"], seqs["near"]]
    assert ahead[0][1] == pytest.approx(1.0, abs=1e-3) and ahead[1][1] == pytest.approx(0.894, abs=1e-2)
    assert [unit for unit, _ in aside] == [seqs["far"]]
    assert [[unit for unit, _ in one] for one in store.graph.similar(asked[:1], "event", 0.5, 1)] == [
        [seqs["same"]]
    ]


def test_every_derived_text_is_listed(store: Store) -> None:
    store.append([turn("a")])
    write(store, *(event(f"e{i}", "a", object_=f"o{i}") for i in range(1100)), narrative("n", "a"))
    found = dict(store.graph.derived_texts())
    assert len(found) == 1101 and found["e7"] == "Ana move o7" and found["n"] == "what was told"


# The event calendar


def test_events_come_in_the_order_of_what_happened(store: Store) -> None:
    store.append([turn("a", hours=5), turn("b", hours=1)])
    write(
        store,
        event("late", "a", occurred=Interval(START + 3 * DAY, START + 4 * DAY)),
        event("early", "b", occurred=Interval(START, START + DAY)),
        event("until", "b", occurred=Interval(None, START + 2 * DAY)),
    )
    assert calendar(store) == ["early", "until", "late"]


def test_a_window_finds_what_overlaps_it_open_sides_included(store: Store) -> None:
    store.append([turn("a")])
    write(
        store,
        event("day1", "a", occurred=Interval(START, START + DAY)),
        event("day2", "a", occurred=Interval(START + DAY, START + 2 * DAY)),
        event("since2", "a", occurred=Interval(START + DAY, None)),
        event("until1", "a", occurred=Interval(None, START + DAY)),
    )
    assert set(calendar(store, between=Interval(START + DAY, START + 2 * DAY))) == {"day2", "since2"}
    assert set(calendar(store, between=Interval(None, START + DAY))) == {"day1", "until1"}
    assert set(calendar(store, between=Interval(START + 5 * DAY, None))) == {"since2"}


def test_events_are_filtered_by_subject_verb_status_and_unit(store: Store) -> None:
    store.append([turn("a")])
    seqs = write(
        store,
        event("e1", "a", subject="Ana", verb="move"),
        event("e2", "a", subject="Ben", verb="buy", status="planned"),
        event("e3", "a", subject="Ana and Ben", verb="buy up"),
        event("e4", "a", subject="Anabel", verb="buyer"),
    )
    assert set(calendar(store, subject="ana")) == {"e1", "e3"}
    assert set(calendar(store, subject="Ben")) == {"e2", "e3"}
    assert set(calendar(store, verb="buy")) == {"e2", "e3"}
    assert calendar(store, status="planned") == ["e2"]
    assert set(calendar(store, units=[seqs["e4"], seqs["e1"], 10_000])) == {"e1", "e4"}
    assert calendar(store, units=[]) == [] == calendar(store, subject="Ana", status="planned")


def test_the_subject_of_an_event_is_whoever_its_name_was_found_to_be(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    seqs = write(store, event("e1", "a", subject="Nan"), event("e2", "b", subject="Ana"))
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(["a", "b"])
        for name, turn_, unit in (("Nan", "a", seqs["e1"]), ("Ana", "b", seqs["e2"])):
            known = writer.add_entity(name, "PERSON")
            for one in (units[turn_], unit):
                writer.mention([Mention(one, known, name, "PERSON")])
    assert calendar(store, subject="Ana") == ["e2"]
    store.graph.merge(entity(store, "Ana"), entity(store, "Nan"), START)
    assert set(calendar(store, subject="Ana")) == {"e1", "e2"}


def test_events_of_some_turns_come_in_the_order_in_which_they_were_told(store: Store) -> None:
    store.append([turn("a", hours=2), turn("b", hours=1), turn("c", hours=3)])
    seqs = write(
        store,
        event("of a", "a", occurred=Interval(START, START + DAY)),
        event("of b", "b", occurred=Interval(START + DAY, START + 2 * DAY)),
        event("of c", "c"),
        event("of a and c", "a", "c"),
    )
    told = [one.id for one in store.graph.events_told(["a", "b", "gone"])]
    assert told[0] == "of b" and set(told[1:]) == {"of a", "of a and c"}
    assert [one.id for one in store.graph.events_told([], [seqs["of c"]])] == ["of c"]
    assert [one.id for one in store.graph.events_told(["b"], [seqs["of c"], seqs["of b"]])] == [
        "of b",
        "of c",
    ]
    assert store.graph.events_told([]) == []


# Entities


def test_an_entity_is_summed_up_from_what_mentions_it(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=5), turn("c", hours=3)])
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(["a", "b", "c"])
        seq = writer.add_entity("Ana", "OTHER")
        for name, turn_, type_ in (("Ana", "a", "OTHER"), ("Ana", "b", "PERSON"), ("Annie", "b", "PERSON")):
            writer.mention([Mention(units[turn_], seq, name, type_)])
        writer.mention([Mention(units["c"], writer.add_entity("Ben", "PERSON"), "Ben", "PERSON")])
        known = {one.name: one for one in writer.entities()}
        last = writer.last_seen([one.seq for one in known.values()])
    assert known["Ana"].seq == seq and known["Ana"].names == {"Ana", "Annie"}
    assert last == {seq: START + 5 * HOUR, known["Ben"].seq: START + 3 * HOUR}
    ana, ben = store.graph.entities()  # the one who is spoken of most comes first
    assert (ana.id, ana.name, ana.type, ana.aliases) == (known["Ana"].id, "Ana", "PERSON", ("Annie",))
    assert (ana.first, ana.last, ana.mentions) == (START + HOUR, START + 5 * HOUR, 2)
    assert (ben.name, ben.aliases, ben.mentions) == ("Ben", (), 1)


def test_the_units_of_an_entity_come_newest_first_and_no_more_than_asked(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=3), turn("c", hours=2), turn("d")])
    mention(store, {"a": ["Ana"], "b": ["Ana"], "c": ["Ana", "Ben"], "d": ["Ben"]})
    a, b, c = raw(store, "a", "b", "c")
    ana = entity(store, "Ana")
    assert store.graph.units_of_entity(ana, 10) == [b, c, a]
    assert store.graph.units_of_entity(ana, 2) == [b, c]
    assert store.graph.units_of_entity("nobody", 10) == []


def test_who_is_seen_with_whom_is_counted_by_units_most_first(store: Store) -> None:
    store.append([turn("a"), turn("b"), turn("c")])
    seqs = mention(store, {"a": ["Ana", "Ben"], "b": ["Ana", "Ben", "Clara"], "c": ["Dora"]})
    assert store.graph.seen_with(entity(store, "Ana")) == [("Ben", 2), ("Clara", 1)]
    assert store.graph.seen_with(entity(store, "Dora")) == []
    with store.graph.writing(store.info.model) as writer:
        assert writer.mentioned_with(seqs["Ana"]) == {seqs["Ben"], seqs["Clara"]}
        assert writer.mentioned_with(seqs["Dora"]) == frozenset()


def test_merged_entities_are_one_until_it_is_taken_back(reopen: Reopen) -> None:
    store = reopen()
    store.append([turn("a"), turn("b", hours=1)])
    mention(store, {"a": ["Ana"], "b": ["Annie", "Ben"]})
    ana, annie = entity(store, "Ana"), entity(store, "Annie")
    apart = store.graph.entities()
    store.graph.merge(ana, annie, START)
    for one in (store, reopen()):
        (found,) = [known for known in one.graph.entities() if known.id == ana]
        assert (found.name, found.aliases, found.mentions) == ("Ana", ("Annie",), 2)
        assert {known.id for known in one.graph.entities()} == {ana, entity(store, "Ben")}
        assert len(one.graph.units_of_entity(ana, 9)) == 2 and one.graph.seen_with(ana) == [("Ben", 1)]
    undone = store.graph.undo()
    assert undone is not None and undone["action"] == "merge"
    assert store.graph.entities() == apart and store.graph.undo() is None


def test_names_that_are_split_off_have_an_identity_of_their_own_until_it_is_taken_back(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(["a", "b"])
        seq = writer.add_entity("Jordan", "PERSON")
        writer.mention([Mention(units["a"], seq, "Jordan", "PERSON")])
        writer.mention([Mention(units["b"], seq, "the river Jordan", "PERSON")])
    (whole,) = store.graph.entities()
    new = store.graph.split(whole.id, ["The river Jordan"], "PLACE", START)
    found = {one.id: one for one in store.graph.entities()}
    assert set(found) == {whole.id, new} and found[new].type == "PLACE" and found[whole.id].type == "PERSON"
    assert (found[whole.id].mentions, found[whole.id].aliases, found[new].mentions) == (1, (), 1)
    assert store.graph.units_of_entity(new, 9) == raw(store, "b")
    undone = store.graph.undo()
    assert undone is not None and undone["action"] == "split"
    assert store.graph.entities() == [whole]


def test_all_names_are_told_also_after_one_was_given(store: Store) -> None:
    store.append([turn("a")])
    assert store.graph.names() == frozenset()
    mention(store, {"a": ["Ana"]})
    assert store.graph.names() == {"Ana"}
    store.graph.rename(entity(store, "Ana"), "Anna", START)
    assert store.graph.names() == {"Ana", "Anna"}


def test_a_renamed_entity_keeps_its_old_name_for_an_alias(store: Store) -> None:
    store.append([turn("a")])
    mention(store, {"a": ["Ana"]})
    ana = entity(store, "Ana")
    store.graph.rename(ana, "Ana Lima", START)
    (found,) = store.graph.entities()
    assert (found.id, found.name, found.aliases) == (ana, "Ana Lima", ("Ana",))
    with store.graph.writing(store.info.model) as writer:
        (known,) = writer.entities()
    assert known.names == {"Ana", "Ana Lima"}
    undone = store.graph.undo()
    assert undone is not None and undone["action"] == "rename"
    assert [one.name for one in store.graph.entities()] == ["Ana"]


def test_decisions_are_taken_back_one_by_one_the_last_first(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    mention(store, {"a": ["Ana"], "b": ["Annie"]})
    ana, annie = entity(store, "Ana"), entity(store, "Annie")
    store.graph.rename(ana, "Ana Lima", START)
    store.graph.merge(ana, annie, START)
    taken_back = [store.graph.undo() for _ in range(3)]
    assert [one and one["action"] for one in taken_back] == ["merge", "rename", None]
    assert {one.name for one in store.graph.entities()} == {"Ana", "Annie"}


def test_a_decision_about_nobody_is_refused_and_not_logged(store: Store) -> None:
    store.append([turn("a")])
    mention(store, {"a": ["Ana"]})
    ana = entity(store, "Ana")
    for decide in (
        lambda: store.graph.merge(ana, "nobody", START),
        lambda: store.graph.merge("nobody", ana, START),
        lambda: store.graph.split("nobody", ["Ana"], None, START),
        lambda: store.graph.split(ana, ["Ben"], None, START),
        lambda: store.graph.rename("nobody", "Ben", START),
    ):
        with pytest.raises(NotFound):
            decide()
    with pytest.raises(UsageError):
        store.graph.merge(ana, ana, START)
    assert store.graph.undo() is None and [one.name for one in store.graph.entities()] == ["Ana"]


def test_what_people_decided_stays_when_everything_is_read_again(store: Store) -> None:
    store.append([turn("a")])
    mention(store, {"a": ["Ana"]})
    store.graph.rename(entity(store, "Ana"), "Ana Lima", START)
    store.jobs.extraction.enqueue()
    with store.graph.writing(store.info.model) as writer:
        (known,) = writer.entities()
        assert (known.name, known.names) == ("Ana Lima", {"Ana", "Ana Lima"})
        writer.mention([Mention(writer.unit_of_turns(["a"])["a"], known.seq, "Ana", "PERSON")])
    assert [(one.name, one.aliases) for one in store.graph.entities()] == [("Ana Lima", ("Ana",))]


# Links


def test_units_stand_on_the_line_of_their_kind_in_the_order_of_time(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(5)])
    units = raw(store, *(f"t{i}" for i in range(5)))
    other = write(store, event("e1", "t0"))["e1"]
    line = [Moment(unit, "turn", START + place * HOUR) for place, unit in enumerate(units[:4])]
    with store.graph.writing(store.info.model) as writer:
        writer.add_to_timeline([*reversed(line), Moment(other, "event", START + HOUR)])
        assert writer.timeline([units[1]], 1) == line[:3]
        assert writer.timeline([units[0]], 2) == line[:3]
        assert writer.timeline([other], 3) == [Moment(other, "event", START + HOUR)]
        assert writer.timeline([units[4]], 3) == [] == writer.timeline([], 3)
        writer.add_to_timeline([moved := Moment(units[0], "turn", START + 9 * HOUR)])
        assert writer.timeline([units[1]], 1) == line[1:3]
        assert writer.timeline([units[3]], 1) == [line[2], line[3], moved]


def test_a_timeline_has_the_neighbours_of_each_unit_once_however_near_the_units_are(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(12)])
    units = raw(store, *(f"t{i}" for i in range(12)))
    # Several at one instant: the order is that of their numbers.
    line = [Moment(unit, "turn", START + place // 3 * HOUR) for place, unit in enumerate(units)]
    with store.graph.writing(store.info.model) as writer:
        writer.add_to_timeline(line)
        for asked in ([5, 6], [2, 4, 9], [0, 11], [1, 7, 8]):
            expected = sorted({at for one in asked for at in range(max(0, one - 2), min(12, one + 3))})
            found = writer.timeline([units[one] for one in asked], 2)
            assert found == [line[place] for place in expected]


@pytest.mark.parametrize("portions", [(62,), (60, 2), (1, 59, 2)])
def test_neighbours_in_time_are_the_same_in_whatever_portions_they_come(
    store: Store, portions: tuple[int, ...]
) -> None:
    """Turns and events stand on lines of their own: what is new on one changes nothing on the other."""
    ids = [f"t{i}" for i in range(60)]
    store.append([turn(id_) for id_ in ids])
    line = [Moment(unit, "turn", START + place * HOUR) for place, unit in enumerate(raw(store, *ids))]
    events = write(store, event("e1", "t0"), event("e2", "t59")).values()
    first, last = (Moment(unit, "event", START + place * HOUR) for place, unit in enumerate(events))
    order = iter([first, *line[:-1], line[-1], last])  # the last portion has one of each kind
    for portion in portions:
        with store.graph.writing(store.info.model) as writer:
            writer.add_to_timeline(some := list(islice(order, portion)))
            link_in_time(writer, [one.unit for one in some])
    with store.graph.writing(store.info.model) as writer:
        found = writer.links_of([one.unit for one in (*line, first, last)], "temporal")
    assert [[unit for unit, _ in found[one.unit]] for one in (first, last)] == [[last.unit], [first.unit]]
    for one in line:
        gaps = sorted((abs(other.at - one.at), other.unit) for other in line if other is not one)
        assert {unit for unit, _ in found[one.unit]} == {unit for _, unit in gaps[:TEMPORAL_MOST]}


def test_the_lists_of_many_units_are_replaced_and_read_at_once(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(4)])
    a, b, c, d = raw(store, *(f"t{i}" for i in range(4)))
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(b, 0.5)], b: [(a, 0.5)], d: [(a, 0.4)]})
        writer.relink("semantic", {a: [(c, 0.6), (d, 0.8)], b: []})
        assert writer.links_of([a, b, c, d], "semantic") == {a: [(d, 0.8), (c, 0.6)], d: [(a, 0.4)]}
        assert writer.links_of([a, d], "temporal") == {}
        writer.relink("semantic", {})
        assert set(writer.links_of([a, d], "semantic")) == {a, d}


def test_what_was_mentioned_is_known_before_it_is_committed(store: Store) -> None:
    store.append([turn("a", hours=1), turn("b", hours=5)])
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(["a", "b"])
        ana, ben = writer.add_entity("Ana", "PERSON"), writer.add_entity("Ben", "PERSON")
        assert writer.last_seen([ana]) == {}
        said = [Mention(units[one], ana, "Ana", "PERSON") for one in ("b", "a", "a")]
        writer.mention([*said, Mention(units["a"], ben, "Ben", "PERSON")])
        assert writer.last_seen([ana, ben]) == {ana: START + 5 * HOUR, ben: START + HOUR}
        assert writer.mentioned_with(ana) == {ben}
        before = writer.names_version()
        writer.mention([Mention(units["b"], ben, "Benny", "PERSON")])
        assert writer.names_version() != before
        assert {known.name: known.names for known in writer.entities()} == {
            "Ana": {"Ana"},
            "Ben": {"Ben", "Benny"},
        }


def test_units_that_are_written_twice_in_one_batch_are_written_once(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    first = event("e1", "a", "b", "a", object_="Porto")
    with store.graph.writing(store.info.model) as writer:
        seqs = writer.add_units([first, narrative("n1", "b"), first], "rules", "1")
        assert writer.add_units([first, event("e2", "b")], "rules", "1")["e1"] == seqs["e1"]
    assert [(one.id, one.object, one.turns) for one in store.graph.events()] == [
        ("e1", "Porto", ("a", "b")),
        ("e2", "Porto", ("b",)),
    ]
    assert set(store.units(list(seqs.values()))) == set(seqs.values())


def test_links_come_best_first_and_only_of_the_types_asked_for(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(4)])
    a, b, c, d = raw(store, *(f"t{i}" for i in range(4)))
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(b, 0.5), (c, 0.9)]})
        writer.relink("temporal", {a: [(d, 0.7)]})
        assert writer.links_of([a, b], "semantic") == {a: [(c, 0.9), (b, 0.5)]}
    assert [(one.source, one.target, one.type) for one in store.graph.links(a)] == [
        (a, c, "semantic"),
        (a, d, "temporal"),
        (a, b, "semantic"),
    ]
    assert [one.target for one in store.graph.links(a, ["temporal"])] == [d]
    assert [one.target for one in store.graph.links(a, ["semantic"], 1)] == [c]
    assert store.graph.links(b) == []


def test_new_neighbours_of_a_type_replace_the_old_ones_of_that_type(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(3)])
    a, b, c = raw(store, "t0", "t1", "t2")
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(b, 0.5)]})
        writer.relink("causal", {a: [(b, 1.0)]})
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(c, 0.6)]})
    assert {(one.target, one.type) for one in store.graph.links(a)} == {(c, "semantic"), (b, "causal")}


def test_units_that_share_an_entity_are_linked_the_nearest_in_time_first(store: Store) -> None:
    store.append([turn(f"t{i}", hours=hours) for i, hours in enumerate((0, 9, 1, 4))])
    mention(store, {f"t{i}": ["Ana"] for i in range(4)})
    first, late, soon, later = raw(store, *(f"t{i}" for i in range(4)))
    assert {one.type for one in store.graph.links(first)} == {"entity"}
    assert {one.target for one in store.graph.links(first)} == {late, soon, later}
    assert {one.target for one in store.graph.links(first, ["entity"], 2)} == {soon, later}
    assert store.graph.links(first, ["semantic"]) == []


def test_a_merge_links_what_mentions_either(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    mention(store, {"a": ["Ana"], "b": ["Annie"]})
    a, b = raw(store, "a", "b")
    assert store.graph.links(a) == [] == store.graph.neighbours([a])
    store.graph.merge(entity(store, "Ana"), entity(store, "Annie"), START)
    assert [one.target for one in store.graph.links(a)] == [b]
    assert [(one.source, one.target) for one in store.graph.neighbours([a])] == [(a, b)]


def test_the_links_that_leave_some_units_are_read_at_once_above_a_floor(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(4)])
    a, b, c, d = raw(store, *(f"t{i}" for i in range(4)))
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(b, 0.5), (c, 0.9)]})
        writer.relink("temporal", {b: [(d, 0.7)]})
        writer.relink("semantic", {c: [(d, 0.9)]})
    found = store.graph.neighbours([a, b])
    assert {(one.source, one.target) for one in found} == {(a, b), (a, c), (b, d)}
    assert {(one.source, one.target) for one in store.graph.neighbours([a, b], floor=0.7)} == {(a, c), (b, d)}
    assert {one.target for one in store.graph.neighbours([a, b], ["semantic"])} == {b, c}
    assert store.graph.neighbours([]) == []


def test_an_entity_that_too_many_units_mention_links_none(store: Store) -> None:
    store.append([turn(f"t{i}") for i in range(4)])
    said = {f"t{i}": ["Ana"] for i in range(4)}
    said["t0"].append("Ben")
    said["t1"].append("Ben")
    mention(store, said)
    units = raw(store, *(f"t{i}" for i in range(4)))
    assert {one.target for one in store.graph.neighbours(units[:1], ["entity"], fan_out=4)} == set(units[1:])
    assert [one.target for one in store.graph.neighbours(units[:1], ["entity"], fan_out=3)] == [units[1]]


def test_links_go_with_either_end(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    unit = write(store, event("e1", "b"))["e1"]
    (a,) = raw(store, "a")
    with store.graph.writing(store.info.model) as writer:
        writer.relink("causal", {a: [(unit, 1.0)]})
        writer.relink("causal", {unit: [(a, 1.0)]})
    assert [one.target for one in store.graph.links(a)] == [unit] and store.stats().links == 2
    store.jobs.extraction.enqueue(["b"])
    assert store.graph.links(a) == [] and store.stats().links == 0


def test_where_a_unit_came_from_is_told_from_either_end(store: Store) -> None:
    store.append([turn("a"), turn("b"), turn("c")])
    seqs = write(store, event("e1", "a", "b"), event("e2", "c"))
    a, b, c = raw(store, "a", "b", "c")
    assert set(store.graph.provenance([seqs["e1"]])) == {(seqs["e1"], a), (seqs["e1"], b)}
    assert set(store.graph.provenance([b, c])) == {(seqs["e1"], b), (seqs["e2"], c)}
    assert store.graph.provenance([]) == []


def test_what_was_derived_is_counted(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    write(store, event("e1", "a"), event("e2", "a"), narrative("n1", "a"))
    mention(store, {"a": ["Ana", "Ben"]})
    a, b = raw(store, "a", "b")
    with store.graph.writing(store.info.model) as writer:
        writer.relink("semantic", {a: [(b, 0.5)]})
    stats = store.stats()
    assert (stats.events, stats.narratives, stats.entities, stats.links) == (2, 1, 2, 1)
    assert stats.pending == 1 and store.check() == [] == store.graph.check()


def test_another_connection_sees_what_was_derived_at_once(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a")])
    assert by_meaning(two, direction(1.0), 5, Filter())  # it has its index by now
    seqs = write(one, event("e1", "a"))
    assert calendar(two) == ["e1"]
    assert [found.unit for found in by_words(two, "porto", 5, Filter())] == [seqs["e1"]]
    two.jobs.extraction.enqueue()
    assert calendar(one) == [] == by_words(one, "porto", 5, Filter())


def test_the_version_of_the_names_changes_when_a_name_does_and_at_nothing_else(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    seen = []
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(["a", "b"])
        seq = writer.add_entity("Ana", "PERSON")
        writer.mention([Mention(units["a"], seq, "Ana", "PERSON")])
        seen.append(writer.names_version())
        writer.mention([Mention(units["b"], seq, "Ana", "PERSON")])  # the same name once more
        assert writer.names_version() == seen[0]
        writer.mention([Mention(units["b"], seq, "Annie", "PERSON")])
        seen.append(writer.names_version())
    ana = store.graph.entities()[0]
    for act in (lambda: store.graph.rename(ana.id, "Anna", START), store.graph.undo):
        act()
        with store.graph.writing(store.info.model) as writer:
            seen.append(writer.names_version())
    assert len(set(seen)) == len(seen)
