"""The facts of a store: two times, one chain for each slot, and what forgetting removes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from everwhen.errors import EverwhenError
from everwhen.store.rows import ConflictRow, DeclaredPredicate, FactRow, Filter, Report
from everwhen.store.sql.facts import FactLedger
from everwhen.store.sql.store import Store
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_meaning, by_words
from tests.conformance.turns import MODEL, START, direction, turn

DAY = timedelta(days=1)


def row(
    ledger: FactLedger, id: str, object_: str, start: float, end: float | None = None, **more: object
) -> FactRow:
    key = ledger.key("ana", "lives in", "Ana", "lives in")
    made = FactRow(
        id=id, version=1, slot=ledger.slot(key.seq, ""), object=object_, object_key=object_.casefold(), domain=None,
        grain="day", valid_from=START + start * DAY, claimed_to=None,
        valid_to=None if end is None else START + end * DAY, stated_at=START, recorded_at=START, confidence=0.5,
        origin="observation", act="assert",
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def valid(store: Store, days: float, known: datetime | None = None) -> list[str]:
    return [found.object for found in store.facts.valid_at(START + days * DAY, {"ana"}, {"lives in"}, known)]


def test_a_version_comes_back_as_it_was_written(store: Store) -> None:
    @store.facts.write
    def written(ledger: FactLedger) -> FactRow:
        return ledger.insert(
            row(
                ledger,
                "f1",
                "Zoë's 🙂 place",
                0,
                3,
                domain="home",
                reason="why",
                confirmed_at=START,
                support=4,
            )
        )

    (found,) = store.facts.valid_at(START, None, None, None)
    assert found == replace(written, key=found.key, subject="Ana", predicate="lives in")
    assert store.facts.newest("f1") == found and store.facts.newest("f2") is None
    assert store.facts.valid_at(START, {"bo", "ana"}, {"lives in"}, None) == [found]
    assert store.facts.valid_at(START, set(), None, None) == []
    assert store.facts.valid_at(START, {"ana"}, set(), START) == []


def test_an_interval_is_half_open_and_an_open_end_goes_on(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "f1", "Lisbon", 0, 3))
        ledger.insert(row(ledger, "f2", "Porto", 3))

    assert [valid(store, days) for days in (-0.1, 0, 2.9, 3, 9999)] == [
        [],
        ["Lisbon"],
        ["Lisbon"],
        ["Porto"],
        ["Porto"],
    ]


def test_two_believed_versions_of_a_slot_never_overlap(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "f1", "Lisbon", 0, 3))
        ledger.insert(row(ledger, "f2", "Porto", 5))

    for start, end in ((-1, 1), (1, 2), (2, None), (-5, None), (4, 6), (7, 8)):
        with pytest.raises(EverwhenError, match="overlap"):
            store.facts.write(
                lambda ledger, start=start, end=end: ledger.insert(row(ledger, "f3", "Braga", start, end))
            )

    @store.facts.write
    def more(ledger: FactLedger) -> None:
        ledger.insert(row(ledger, "f3", "Braga", 3, 5))
        ledger.insert(row(ledger, "f4", "Faro", 0, standing="disputed"))

    assert valid(store, 4) == ["Braga"] and store.check() == []


def test_what_was_believed_at_a_transaction_time_is_still_there(store: Store) -> None:
    later = START + 10 * DAY

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        old = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        ledger.supersede(old, later, "corrected", "it was Porto")
        ledger.insert(row(ledger, "f2", "Porto", 0, recorded_at=later))

    assert valid(store, 1) == ["Porto"]
    assert valid(store, 1, later - DAY) == ["Lisbon"] and valid(store, 1, later) == ["Porto"]
    assert valid(store, 1, START - DAY) == []
    versions = store.facts.history("ana", None, versions=True)
    assert [(one.object, one.outcome, one.reason) for one in versions] == [
        ("Lisbon", "corrected", "it was Porto"),
        ("Porto", None, None),
    ]


def test_confirmations_are_counted_as_they_were_known(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        fact = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        for days in (1, 2):
            ledger.reinforce(fact, START + days * DAY, START + days * DAY, 1)
        ledger.cite("f1", ["t1"], START)
        ledger.cite("f1", ["t1", "t2"], START + 2 * DAY)

    (now,) = store.facts.by_id(["f1"])
    assert (now.support, now.confirmed_at) == (3, START + 2 * DAY)
    (then,) = store.facts.by_id(["f1"], START + DAY)
    assert (then.support, then.confirmed_at) == (2, START + DAY)
    assert store.facts.sources(["f1"]) == {"f1": ["t1", "t2"]}
    assert store.facts.sources(["f1"], START + DAY) == {"f1": ["t1"]}


def test_transaction_time_of_a_key_never_runs_backwards(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        key = ledger.key("ana", "lives in", "Ana", "lives in")
        assert key.last_at is None
        assert ledger.touch(key.seq, START) == START and ledger.touch(key.seq, START - DAY) == START
        found = ledger.find_key("ana", "lives in")
        assert found is not None and found.last_at == START
        assert ledger.find_key("ben", "lives in") is None


def test_a_change_that_fails_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(RuntimeError):

        @store.facts.write
        def change(ledger: FactLedger) -> None:
            ledger.insert(row(ledger, "f1", "Lisbon", 0))
            raise RuntimeError

    assert valid(store, 1) == []


def test_a_change_that_was_rolled_back_can_be_run_again(store: Store) -> None:
    runs = []

    def change(ledger: FactLedger) -> FactRow:
        runs.append(1)
        old = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        ledger.cite("f1", ["a book"], START)
        ledger.supersede(old, START + DAY, "corrected", "it was Porto")
        return ledger.insert(row(ledger, "f2", "Porto", 0, recorded_at=START + DAY))

    def lost(ledger: FactLedger) -> FactRow:
        change(ledger)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.facts.write(lost)
    assert list(store.facts.every_version()) == []
    written = store.facts.write(change)
    assert written.object == "Porto" and len(runs) == 2
    assert valid(store, 1) == ["Porto"] and valid(store, 1, START) == ["Lisbon"]
    assert store.facts.sources(["f1"]) == {"f1": ["a book"]} and store.check() == []


def test_the_neighbours_of_a_place_are_found(store: Store) -> None:
    @store.facts.write
    def both(ledger: FactLedger) -> tuple[FactRow, FactRow]:
        first = ledger.insert(row(ledger, "f1", "Lisbon", 0, 3))
        second = ledger.insert(row(ledger, "f2", "Porto", 5))
        slot = first.slot
        ids = [found.id if found else None for found in (
            ledger.last_started(slot, START + 4 * DAY), ledger.last_started(slot, START - DAY),
            ledger.next_started(slot, START + 4 * DAY), ledger.next_started(slot, second.valid_from),
        )]  # fmt: skip
        assert ids == ["f1", None, "f2", None]
        between = ledger.started_between(slot, first.valid_from, second.valid_from)
        assert [found.id for found in between] == ["f1", "f2"]
        return first, second

    first, second = both
    shown = store.facts.shown([], ["f1", "nobody"], START + 6 * DAY)
    assert {seq: row.id for seq, row in shown.before.items()} == {second.seq: "f1"}
    assert {fact: [row.id for row in rows] for fact, rows in shown.holding.items()} == {"f1": ["f2"]}
    assert first.seq not in shown.before


def test_a_fact_is_found_by_its_words_and_its_vector(store: Store) -> None:
    @store.facts.write
    def change(ledger: FactLedger) -> None:
        fact = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        ledger.add_unit(fact, "Ana lives in Lisbon", np.stack([direction(0.0, 1.0)]), MODEL)

    for found in (
        by_words(store, "lisbon", 5, Filter()),
        by_meaning(store, direction(0.0, 1.0), 5, Filter(kinds=frozenset({"fact"}))),
    ):
        (unit,) = store.units([one.unit for one in found]).values()
        assert (unit.id, unit.kind, unit.text) == ("f1", "fact", "Ana lives in Lisbon")
    assert by_words(store, "lisbon", 5, Filter(metadata={"predicate": "lives in"}))
    assert not by_words(store, "lisbon", 5, Filter(metadata={"domain": "home"}))
    assert by_words(store, "lisbon", 5, Filter(metadata={"valid_to": None}))
    assert not by_words(store, "lisbon", 5, Filter(metadata={"valid_from": None}))
    assert [found.id for found in store.facts.naming("lisbon")] == ["f1"]
    assert store.check() == [] and list(store.facts.texts()) == [("f1", "Ana lives in Lisbon")]


def test_facts_get_new_vectors_with_everything_else(store: Store) -> None:
    store.append([turn("t1")])

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        fact = ledger.insert(row(ledger, "f1", "Lisbon", 0))
        ledger.add_unit(fact, "Ana lives in Lisbon", np.stack([direction(0.0, 1.0)]), MODEL)

    store.replace_vectors("fake", 8, {"t1": direction(0.0, 1.0)[None], "f1": direction(1.0)[None]})
    found = by_meaning(store, direction(1.0), 1, Filter())
    assert [unit.id for unit in store.units([found[0].unit]).values()] == ["f1"] and store.check() == []


def test_an_erased_fact_is_not_found_and_another_keeps_its_sources(store: Store) -> None:
    store.append([turn("t1"), turn("t2")])

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        for id_, sources in (("f1", ["t1"]), ("f2", ["t1", "a book"])):
            fact = ledger.insert(row(ledger, id_, id_, 0 if id_ == "f1" else 5, 3 if id_ == "f1" else None))
            ledger.add_unit(fact, f"Ana lives in {id_}", np.stack([direction(1.0)]), MODEL)
            ledger.cite(id_, sources, START)

    assert sorted(store.facts.from_sources(["t1"])) == ["f1", "f2"] and store.facts.from_sources(["t2"]) == []

    @store.facts.write
    def more(ledger: FactLedger) -> None:
        ledger.uncite("f2", ["t1"])
        ledger.erase(["f1"])

    assert store.facts.newest("f1") is None and store.facts.sources(["f2"]) == {"f2": ["a book"]}
    assert [unit for unit, _ in by_words(store, "f1", 5, Filter(kinds=frozenset({"fact"})))] == []
    assert store.check() == []


def test_conflicts_reports_predicates_and_half_lives_are_kept(reopen: Reopen) -> None:
    first = reopen()

    @first.facts.write
    def change(ledger: FactLedger) -> None:
        key = ledger.key("ana", "lives in", "Ana", "lives in")
        ledger.open_conflict(ConflictRow("c1", "f1", "f2", "a tie", START, None, None), key.seq)
        ledger.open_conflict(ConflictRow("c2", "f1", "f3", "a tie", START, None, None), key.seq)
        ledger.settle("c2", START, "f1")
        ledger.report(Report("missing", "Atlas", START))
        ledger.declare(DeclaredPredicate("drinks", "drinks", True, None, ("sips",)))

    first.facts.set_half_life("home", 12.5)
    second = reopen()
    assert [one.id for one in second.facts.conflicts()] == ["c1"]
    assert second.facts.reports(START) == [Report("missing", "Atlas", START)]
    assert second.facts.reports(START - DAY) == []
    assert second.facts.predicates() == [DeclaredPredicate("drinks", "drinks", True, None, ("sips",))]
    assert second.facts.half_lives() == {"home": 12.5}


def test_a_scan_reads_what_is_in_force_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everwhen.store.sql.facts._PAGE", 200)

    @store.facts.write
    def change(ledger: FactLedger) -> None:
        for number in range(450):
            key = ledger.key(f"s{number}", "likes", f"S{number}", "likes")
            fact = row(ledger, f"f{number}", "tea", 0, 1 if number % 3 == 0 else None)
            ledger.insert(replace(fact, slot=ledger.slot(key.seq, "")))

    now = START + 2 * DAY
    assert len(list(store.facts.fading(now))) == 300
    assert {one.predicate for one in store.facts.fading(now)} == {"likes"}
    assert len(list(store.facts.every_version())) == 450
    assert store.facts.ids() == [f"f{number}" for number in range(450)]
