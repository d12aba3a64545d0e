"""Keeping and forgetting in a store: what is removed is gone everywhere, what was forgotten stays away."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from everwhen.errors import Damaged
from everwhen.store.rows import (
    ConflictRow,
    Filter,
    Mention,
    Moment,
    ReembeddedTurn,
    RemovedNodes,
    RemovedUnits,
    Report,
)
from everwhen.store.sql.facts import FactLedger
from everwhen.store.sql.store import Store
from everwhen_time import Interval
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_meaning, by_words, codes_of
from tests.conformance.test_facts import row
from tests.conformance.test_tree import grown, session
from tests.conformance.turns import MODEL, START, direction, turn
from tests.conformance.units import entity, event, mention, narrative, raw, write

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LATER = START + 100 * DAY


def said(store: Store) -> list[str]:
    return [one.id for one in store.turns()]


def found(store: Store, words: str) -> list[str]:
    hits = by_words(store, words, 9, Filter())
    rows = store.units([one.unit for one in hits])
    return [rows[one.unit].id for one in hits]


def retold(id: str, before: str | None = None, context: str = "") -> ReembeddedTurn:
    return ReembeddedTurn(id, before, context, np.stack([direction(0.0, 0.0, 0.0, 1.0)]), MODEL)


def remove(
    store: Store, *turns: str, again: tuple[str, ...] = (), retell: tuple[ReembeddedTurn, ...] = ()
) -> RemovedUnits:
    with store.keep.forgetting() as eraser:
        eraser.remember(turns, LATER)
        return eraser.remove(turns, again, retell)


# Turns


def test_what_is_removed_is_found_nowhere(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    store.append([turn("a", "a secret violin"), turn("b", "nothing", hours=1)])
    assert found(other, "violin") == ["a"]
    gone = remove(store, "a")
    for one in (store, other, reopen()):
        assert said(one) == ["b"] and one.known(["a", "b"]) == {"b": "nothing"}
        assert found(one, "violin") == [] and found(one, "nothing") == ["b"]
        assert len(by_meaning(one, direction(1.0), 9, Filter())) == 1
        assert one.stats().turns == 1 and one.check() == []
    assert (gone.vectors, gone.links, gone.units, gone.entities) == (1, 0, {}, ())


def test_what_was_made_of_a_turn_goes_with_it_and_is_told(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1), turn("c", hours=2)])
    seqs = write(store, event("e1", "a", text="told of it"), event("e2", "b"), narrative("n1", "a", "b"))
    a, c = raw(store, "a", "c")
    with store.graph.writing(store.info.model) as writer:
        writer.mark_done(["c"], "rules", "1")
        writer.relink("semantic", {c: [(a, 0.9)]})
        writer.relink("semantic", {a: [(c, 0.9)]})
    gone = remove(store, "a", again=("b",))
    assert gone.units == {"event": ("e1",), "narrative": ("n1",)}
    assert {"told of it", "what was told"} <= set(gone.texts)
    assert gone.links == 2 and gone.unlinked == {c: 1}
    assert gone.vectors == 3  # of a, e1 and n1
    assert store.graph.events() == [] and store.jobs.extraction.pending() == 1  # b is to be read again
    assert store.graph.links(c) == [] and store.units(list(seqs.values())) == {}
    assert store.check() == []


def test_a_removal_that_fails_or_is_undone_changes_nothing(store: Store) -> None:
    store.append([turn("a", "violin"), turn("b", hours=1)])
    write(store, event("e1", "a"))
    with pytest.raises(RuntimeError), store.keep.forgetting() as eraser:
        eraser.remember(["a"], LATER)
        eraser.remove(["a"], [], [])
        raise RuntimeError
    with store.keep.forgetting() as eraser:
        eraser.remember(["a"], LATER)
        assert eraser.remove(["a"], [], []).units == {"event": ("e1",)}
        eraser.undo()
    assert said(store) == ["a", "b"] and found(store, "violin") == ["a"]
    assert [one.id for one in store.graph.events()] == ["e1"]
    assert store.forgotten(list(store.turns())) == frozenset() and not store.jobs.scrubbing.waits()


def test_a_forgotten_turn_does_not_come_back_and_its_like_does(reopen: Reopen) -> None:
    store = reopen()
    first = turn("a", "ok")
    told_later = turn("b", "ok", recorded=LATER)  # said at another time than it was recorded
    store.append([first, told_later])
    known = [first.turn, told_later.turn]
    assert store.forgotten(known) == frozenset()
    remove(store, "a", "b")
    for one in (store, reopen()):
        assert one.forgotten(known) == {"a", "b"}
        assert one.append([first, told_later]) == [False, False] and said(one) == []
    others = [turn("a", "ok, I said"), turn("b", "ok", hours=1, recorded=LATER), turn("c", "ok")]
    assert store.forgotten([one.turn for one in others]) == frozenset()
    assert store.append(others) == [True, True, True]


def test_a_turn_known_by_its_arrival_stays_away_whenever_it_arrives(store: Store) -> None:
    store.append([turn("a", "ok")])  # said when it was recorded
    remove(store, "a")
    assert store.append([turn("a", "ok", hours=7)]) == [False]


def test_who_is_searched_with_the_end_of_a_turn_that_goes_is_told_and_told_anew(store: Store) -> None:
    store.append([turn("a", "the violin"), turn("b", "and then?", hours=1)])
    store.append([turn("c", "yes", hours=2, context="and then?", before="b")])
    store.append([turn("d", "no", hours=3, context="yes", before="c")])
    (one,) = store.keep.followers(["b"])
    assert one.turn.id == "c" and one.before is not None and one.before.id == "a"
    assert [(one.turn.id, one.before and one.before.id) for one in store.keep.followers(["b", "c"])] == [
        ("d", "a")
    ]
    assert store.keep.followers(["d"]) == [] == store.keep.followers([])
    with store.keep.forgetting() as eraser:
        assert eraser.followers(["b"]) == [one]
        eraser.remove(["b"], [], [retold("c", "a", "the violin")])
    assert store.contexts(["c"]) == {"c": "the violin"} and set(found(store, "violin")) == {"a", "c"}
    assert found(store, "then") == []
    (hit,) = by_meaning(store, direction(0.0, 0.0, 0.0, 1.0), 1, Filter())
    assert store.units([hit.unit])[hit.unit].id == "c" and store.check() == []


def test_the_turns_around_one_are_those_of_its_session(store: Store) -> None:
    store.append([turn(f"t{i}", hours=i) for i in range(6)])
    store.append([turn("other", hours=2, session="other")])
    turns = {one.id: one for one in store.turns()}
    assert sorted(store.keep.around(turns["t2"], 2, 1)) == ["t0", "t1", "t3"]
    assert store.keep.around(turns["t0"], 3, 0) == [] == store.keep.around(turns["other"], 2, 2)


def test_what_comes_after_a_removal_has_a_number_of_its_own(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    (b,) = raw(store, "b")
    remove(store, "b")
    store.append([turn("c")])
    assert raw(store, "c") != [b]


# Who was spoken of


def test_the_turns_about_somebody_name_them_or_are_theirs(store: Store) -> None:
    store.append(
        [turn("a", speaker="Ana"), turn("b", speaker="Ben", hours=1), turn("c", speaker="annie", hours=2)]
    )
    mention(store, {"b": ["Ana", "Annie"]})
    store.graph.merge(entity(store, "Ana"), entity(store, "Annie"), START)
    turns, names = store.keep.turns_about(entity(store, "Ana"))
    assert sorted(turns) == ["a", "b", "c"] and set(names) == {"Ana", "Annie"}


def test_names_that_no_other_turn_says_go_and_so_do_those_who_have_none_left(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    mention(store, {"a": ["Ana", "Ben"], "b": ["Ana"]})
    ben = entity(store, "Ben")
    with store.graph.writing(store.info.model) as writer:
        unit = writer.unit_of_turns(["a"])["a"]
        (ana,) = [one.seq for one in writer.entities() if one.name == "Ana"]
        writer.mention([Mention(unit, ana, "Annie", "PERSON")])
    gone = remove(store, "a")
    assert gone.entities == (ben,)
    (left,) = store.graph.entities()
    assert (left.name, left.aliases, left.mentions) == ("Ana", (), 1)
    with store.graph.writing(store.info.model) as writer:
        (known,) = writer.entities()
        assert known.names == {"Ana"}


def test_a_decision_that_names_who_is_forgotten_cannot_be_taken_back(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    mention(store, {"a": ["Ben"], "b": ["Ana"]})
    store.graph.rename(entity(store, "Ben"), "Benjamin", START)
    remove(store, "a")
    assert store.graph.undo() is None


# Facts


def test_a_fact_loses_the_turns_that_are_forgotten_from_its_sources(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        for id_, start, sources in (("f1", 0, ["a"]), ("f2", 5, ["a", "b"])):
            ledger.insert(row(ledger, id_, id_, start, start + 1))
            ledger.cite(id_, sources, START)

    with store.keep.forgetting() as eraser:
        assert eraser.uncite(["a"]) == {"f1": [], "f2": ["b"]}
    assert store.facts.from_sources(["a"]) == []


def test_whether_a_person_ever_spoke_of_a_fact_is_known(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "learned", "Lisbon", 0, 1, act="learn"))
        ledger.insert(row(ledger, "told", "Porto", 1, 2, act="assert"))

    with store.keep.forgetting() as eraser:
        assert eraser.is_only_learned("learned") and not eraser.is_only_learned("told")
        assert eraser.fact_words("told") == "Ana Porto"
        assert eraser.facts_about(["porto"]) == ["told"] and eraser.facts_about(["ben"]) == []
        assert sorted(eraser.facts_about(["ana"])) == ["learned", "told"]


def test_an_erased_fact_leaves_no_version_conflict_unit_or_quotation(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        old = ledger.insert(row(ledger, "f1", "Lisbon", 0, 1))
        ledger.supersede(old, START + DAY, "revised", "in other words")
        fact = ledger.insert(row(ledger, "f1", "Lisboa", 0, 1, version=2))
        ledger.add_unit(fact, "Ana lives in Lisboa", np.stack([direction(1.0)]), MODEL)
        ledger.insert(row(ledger, "f2", "Porto", 2, 3, reason="after Lisboa"))
        key = ledger.key("ana", "lives in", "Ana", "lives in")
        ledger.open_conflict(ConflictRow("c1", "f1", "f2", "a tie", START, None, None), key.seq)

    with store.keep.forgetting() as eraser:
        assert eraser.erase_facts(["f1"]) == ("Ana lives in Lisboa",)
    assert [(one.id, "Lisboa" in (one.reason or "")) for one in store.facts.every_version()] == [
        ("f2", False)
    ]
    assert store.facts.conflicts() == [] and found(store, "lisboa") == [] and store.check() == []


def test_facts_that_nothing_was_heard_of_since_an_instant_are_old(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "old", "Lisbon", 0, 1))
        heard = ledger.insert(row(ledger, "heard", "Porto", 1, 2))
        ledger.reinforce(heard, START + 9 * DAY, START + 9 * DAY, 0)
        ledger.insert(row(ledger, "new", "Faro", 2, 3, recorded_at=START + 9 * DAY))

    with store.keep.forgetting() as eraser:
        assert eraser.old_facts(START + 5 * DAY) == ["old"] and eraser.old_facts(START) == []


def test_reports_of_change_about_a_name_go_with_what_is_removed(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.report(Report("change", "Ana", START))
        ledger.report(Report("change", "Ben", START))

    with store.keep.forgetting() as eraser:
        eraser.remove([], [], [], reports=["ana"])
    assert [one.ref for one in store.facts.reports(LATER)] == ["Ben"]


# The tree


def test_forgetting_takes_the_nodes_above_a_turn_out_and_has_them_built_again(store: Store) -> None:
    grown(store)
    end = max(one.interval.end for one in store.tree.nodes(ids=["of-s", "day0", "year"]) if one.interval.end)
    with store.keep.forgetting() as eraser:
        out = eraser.uproot(["a"], [session("s")])
        assert eraser.uproot([], []) == RemovedNodes()
    assert set(out.ids) == {"of-s", "day0", "year"} and out.until == end
    assert set(out.texts) == {"summary of of-s", "summary of day0", "summary of year"}
    assert [one.place.id for one in store.tree.nodes()] == ["of-t", "day1"] and store.jobs.tree.pending() == 3


def test_sessions_are_looked_at_again_when_what_was_learned_from_them_may_change(store: Store) -> None:
    grown(store)
    with store.keep.forgetting() as eraser:
        eraser.mark([session("t", 1)])
    assert [one.place.id for one in store.jobs.tree.marks(2)] == ["of-t"] and len(store.tree.nodes()) == 5


# Words that come back


def test_what_is_derived_and_has_a_word_that_no_turn_says_is_an_echo(store: Store) -> None:
    store.append([turn("a", "we sold it"), turn("b", "the piano is here", hours=1)])
    write(store, event("e1", "a", text="the violin was sold"), event("e2", "b", text="the piano came"))
    with store.keep.forgetting() as eraser:
        assert eraser.echoes(["violin", "piano"]) == [("e1", "event", ("a",))]
        assert eraser.echoes([]) == []


def test_a_pseudonym_is_the_same_each_time_and_another_in_another_bank(store: Store, reopen: Reopen) -> None:
    given = store.keep.pseudonym("Ana")
    assert given == store.keep.pseudonym("Ana") == reopen().keep.pseudonym("Ana")
    assert given != store.keep.pseudonym("Ben") and "Ana" not in given and len(given) < 20


# Retention and redaction


def test_rules_of_retention_and_redaction_are_kept(reopen: Reopen) -> None:
    store = reopen()
    assert store.keep.rule("retention") == "" == store.keep.rule("redaction")
    store.keep.set_rule("retention", "keep raw turns 90 days")
    store.keep.set_rule("redaction", "email")
    assert reopen().keep.rule("retention") == "keep raw turns 90 days"
    assert reopen().keep.rule("redaction") == "email"
    store.keep.set_rule("retention", "")
    assert (reopen().keep.rule("retention"), reopen().keep.rule("redaction")) == ("", "email")


def test_turns_can_expire_that_are_old_were_read_and_have_their_words(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=2), turn("unread", hours=1)])
    write(store, event("e1", "a"), event("e2", "b"))
    assert store.keep.said_before(START + HOUR) == ["a"] and store.keep.said_before(START) == []
    with store.keep.forgetting() as eraser:
        eraser.expire(["a"], [], LATER)
    assert store.keep.said_before(LATER) == ["b"]


def test_an_expired_turn_loses_its_words_and_what_was_made_of_it_stays(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    store.append(
        [turn("a", "a secret violin", mood="fine"), turn("b", "next", hours=1, context="violin", before="a")]
    )
    write(store, event("e1", "a"))
    assert found(other, "violin")[0] == "a"
    with store.keep.forgetting() as eraser:
        gone = eraser.expire(["a"], [retold("b")], LATER)
    assert (gone.vectors, gone.units, gone.texts) == (1, {}, ())
    for one in (store, other):
        assert said(one) == ["b"] and [kept.text for kept in one.turns(ids=["a"])] == [""]
        assert found(one, "violin") == [] and found(one, "porto") == ["e1"]
        (left,) = one.graph.events()
        assert (left.turns, left.said_at) == (("a",), START) and one.contexts(["b"]) == {"b": ""}
        assert one.keep.unfound() == [] == one.check()
    assert store.jobs.extraction.enqueue() == 1  # there is nothing in it to be read again


def test_events_and_narratives_from_before_an_instant_are_dropped(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=5)])
    write(store, event("e1", "a", text="old event"), event("e2", "b"), narrative("n1", "a"))
    with store.keep.forgetting() as eraser:
        assert eraser.drop_old("event", START + HOUR) == (("e1",), ("old event",))
        assert eraser.drop_old("event", START + HOUR) == ((), ())
    assert {id_ for id_, _ in store.graph.derived_texts()} == {"e2", "n1"}
    assert said(store) == ["a", "b"] and found(store, "old") == []


def test_a_tree_is_dropped_whole_or_not_at_all(store: Store) -> None:
    grown(store)
    with store.keep.forgetting() as eraser:
        assert eraser.drop_old("node", START + 30 * DAY) == ((), ())  # the year has not ended
        ids, texts = eraser.drop_old("node", START + 400 * DAY)
    assert set(ids) == {"of-s", "of-t", "day0", "day1", "year"} and "summary of year" in texts
    assert store.tree.nodes() == []


def test_identities_that_nothing_mentions_any_more_are_dropped(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    mention(store, {"a": ["Ben"], "b": ["Ana"]})
    ben = entity(store, "Ben")
    with store.keep.forgetting() as eraser:
        assert eraser.drop_unspoken() == ()
        eraser.expire(["a"], [], LATER)
        assert eraser.drop_unspoken() == (ben,)
    with store.graph.writing(store.info.model) as writer:
        assert [one.name for one in writer.entities()] == ["Ana"]


# Everything


def test_everything_goes_but_the_settings_and_what_must_not_come_back(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    grown(store)
    gone = turn("g", "ok")
    store.append([gone])
    remove(store, "g")
    write(store, event("e1", "a"))
    mention(store, {"b": ["Ben"]})

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "f1", "Lisbon", 0))

    store.keep.set_rule("retention", "keep raw turns 90 days")
    with store.keep.forgetting() as eraser:
        eraser.remove_everything()
    for one in (store, other):
        stats = one.stats()
        assert (stats.turns, stats.events, stats.entities, stats.links, stats.nodes) == (0, 0, 0, 0, 0)
        assert said(one) == [] == list(one.facts.every_version()) and found(one, "summary porto") == []
        assert by_meaning(one, direction(1.0), 9, Filter()) == []
        assert one.keep.rule("retention") == "keep raw turns 90 days" and one.info.zone == "UTC"
    assert store.append([gone, turn("new")]) == [False, True] and store.check() == []


def test_the_files_are_to_be_scrubbed_after_a_removal_and_not_before(reopen: Reopen, tmp_path: Path) -> None:
    store = reopen()
    store.append([turn("a", "periwinkle")])
    assert not store.jobs.scrubbing.waits()
    remove(store, "a")
    assert store.jobs.scrubbing.waits()
    assert store.jobs.scrubbing.run() and not store.jobs.scrubbing.waits()
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"periwinkle" in path.read_bytes()]
    assert left == [] == store.check()


# Copies


def filled(store: Store) -> None:
    grown(store)
    write(store, event("e1", "a"))
    mention(store, {"a": ["Ana"]})

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "f1", "Lisbon", 0))

    store.append([turn("gone", "ok")])
    remove(store, "gone")


def test_a_snapshot_stands_still_while_others_write(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    filled(store)
    with store.keep.snapshot() as snapshot:
        before = snapshot.counts()
        other.append([turn("late", hours=99)])
        assert snapshot.counts() == before and before["turn"] == 2
        assert snapshot.values()["embedder"] == "fake"
        found = Counter(record["kind"] for record in snapshot.records())
        assert found == Counter(before)
    assert len(said(store)) == 3


def test_a_bank_made_from_the_records_of_a_snapshot_takes_over_and_is_the_same(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    filled(store)
    turns, events = list(store.turns()), store.graph.events()
    with store.keep.snapshot() as snapshot:
        records, counts = list(snapshot.records()), snapshot.counts()
    with store.keep.forgetting() as eraser:
        eraser.remove_everything()
    half = len(records) // 2
    loader = store.keep.loader("an export")
    loader.put(records[:half], 1000, "chain")
    loader.close()
    assert said(store) == []  # nobody sees it before it is whole
    loader = store.keep.loader("an export")
    assert (loader.offset, loader.chain) == (1000, "chain")
    loader.put(records[half:], 2000, "end")
    loader.finish(counts, store.info.name)
    loader.close()
    store.keep.take_over()
    for one in (store, other):
        one.refresh()
        assert list(one.turns()) == turns and one.graph.events() == events
        assert found(one, "porto") == ["e1"] and one.stats().nodes == 5 and one.check() == []
        assert one.append([turn("gone", "ok")]) == [False]
        with one.keep.snapshot() as snapshot:
            assert list(snapshot.records()) == records


def test_a_load_from_another_source_begins_anew_and_a_short_one_is_refused(store: Store) -> None:
    filled(store)
    with store.keep.snapshot() as snapshot:
        counts = snapshot.counts()
        records = [record for record in snapshot.records() if record["kind"] == "turn"]
    loader = store.keep.loader("one")
    loader.put(records, 10, "x")
    loader.close()
    loader = store.keep.loader("another")
    assert (loader.offset, loader.chain) == (0, "")
    with pytest.raises(Damaged):
        loader.finish(counts, "b")
    loader.close()
    assert len(said(store)) == 2


# Mending


def test_units_with_bad_vectors_are_named_and_given_others(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    store.append([turn("a"), turn("b")])
    write(store, event("e1", "a"))
    assert store.keep.badly_embedded(8) == {} == store.keep.badly_embedded(8)
    assert store.keep.badly_embedded(16) == {"a": "turn", "b": "turn", "e1": "event"}
    store.keep.put_vectors({"b": 3 * direction(1.0)[None]}, {}, MODEL)
    assert store.keep.badly_embedded(8) == {"b": "turn"}
    store.keep.put_vectors(
        {"b": direction(0.0, 0.0, 0.0, 1.0)[None], "gone": direction(1.0)[None]}, {"b": b"\x01x"}, MODEL
    )
    assert store.keep.badly_embedded(8) == {}
    (b,) = raw(store, "b")
    for one in (store, other):
        assert [hit.unit for hit in by_meaning(one, direction(0.0, 0.0, 0.0, 1.0), 1, Filter())] == [b]
        assert codes_of(one, [b]) == {b: b"\x01x"}


def test_derived_units_of_turns_that_were_not_read_to_the_end_are_unfinished(store: Store) -> None:
    store.append([turn("a"), turn("b")])
    write(store, event("e1", "a"))
    assert store.keep.unfinished() == []
    with store.graph.writing(store.info.model) as writer:
        writer.add_units([event("e2", "b")], "rules", "1")
    assert store.keep.unfinished() == ["b"]


def test_a_derived_unit_has_the_time_it_is_about_else_that_of_its_turn(store: Store) -> None:
    store.append([turn("a", hours=5.0)])
    may = Interval(START - timedelta(days=60), START - timedelta(days=29), "month")
    until = Interval(None, START, "year")
    write(store, event("e1", "a", occurred=may), event("e2", "a"), event("e3", "a", occurred=until))
    said = (START + timedelta(hours=5), "UTC", "day")
    dates = store.keep.unit_dates(["e1", "e2", "e3", "gone"])
    assert dates == {"e1": (may.start, "UTC", "month"), "e2": said, "e3": said}


def test_words_vectors_and_places_of_units_are_read(store: Store) -> None:
    store.append([turn("a", vectors=[direction(1.0), direction(0.0, 1.0)])])
    unit = write(store, event("e1", "a", text="a word", vectors=[direction(0.0, 0.0, 1.0)]))["e1"]
    (a,) = raw(store, "a")
    with store.graph.writing(store.info.model) as writer:
        writer.add_to_timeline([Moment(unit, "event", START)])
    assert store.keep.unit_texts(["e1", "gone"]) == {"e1": "a word"}
    first = store.keep.first_vectors([a, unit, 10_000])
    assert set(first) == {a, unit}
    np.testing.assert_allclose(first[a], direction(1.0))
    np.testing.assert_allclose(first[unit], direction(0.0, 0.0, 1.0))
    assert store.keep.placed([a, unit]) == {unit: "event"}
