"""Turns read again: the extractor's facts are confirmed or taken back, a person's word stays, the past stays known."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.facts.relearn import REREAD, relearn
from everwhen.facts.statements import FactStatement
from tests.facts.learned import learned

SAID = datetime(2025, 2, 3, 20, 10, tzinfo=UTC)
AGAIN = datetime(2025, 9, 1, tzinfo=UTC)


def found(place: str, turn: str, days: float = 0, **more: object) -> FactStatement:
    at = SAID + timedelta(days=days)
    return learned("Marta", "lives in", place, (turn,), at, **more)


def read(
    memory: Memory, turns: list[str], *facts: FactStatement, at: datetime = AGAIN
) -> list[tuple[str, str]]:
    rows = relearn(memory._bank.store.facts, memory._bank.embedder, turns, facts, at)
    return [(row.object, row.standing) for row in rows]


def lives(memory: Memory) -> list[tuple[str, datetime, datetime | None]]:
    return [
        (fact.object, fact.valid_from, fact.valid_to) for fact in memory.facts.history("Marta", "lives in")
    ]


def test_the_same_again_adds_neither_version_nor_support(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1"), at=SAID)
    before = list(quick.facts.versions())
    assert read(quick, ["t1"], found("Lisbon", "t1")) == []
    assert list(quick.facts.versions()) == before
    assert before[0].support == 1


def test_what_the_turns_no_longer_say_is_taken_back_and_stays_in_what_was_known(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1"), at=SAID)
    assert read(quick, ["t1"], found("Porto", "t1")) == [("Porto", "believed")]
    assert [fact.object for fact in quick.facts.current("Marta", now=AGAIN)] == ["Porto"]
    known = SAID + timedelta(days=1)
    assert [fact.object for fact in quick.facts.as_of(known, "Marta", known_at=known)] == ["Lisbon"]
    (old, _) = quick.facts.history("Marta", "lives in", versions=True)
    assert (old.status, old.reason, old.superseded_at) == ("retracted", REREAD, AGAIN)
    assert old.sources == ("t1",)
    assert quick.doctor() == []


def test_turns_that_say_nothing_any_more_leave_nothing(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1"), at=SAID)
    assert read(quick, ["t1"]) == []
    assert quick.facts.current("Marta", now=AGAIN) == []


def test_a_fact_that_another_turn_supports_stays_and_rests_on_that_one(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1"), at=SAID)
    read(quick, ["t2"], found("Lisbon", "t2", 5), at=SAID)
    read(quick, ["t1"])
    (fact,) = quick.facts.current("Marta", now=AGAIN)
    assert (fact.object, fact.sources) == ("Lisbon", ("t2",))
    read(quick, ["t2"])
    assert quick.facts.current("Marta", now=AGAIN) == []


def test_another_beginning_replaces_the_old_one(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1", valid_from=datetime(2019, 1, 1, tzinfo=UTC)), at=SAID)
    since = datetime(2020, 1, 1, tzinfo=UTC)
    read(quick, ["t1"], found("Lisbon", "t1", valid_from=since))
    assert lives(quick) == [("Lisbon", since, None)]


def test_another_certainty_is_a_version_of_the_same_fact(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1", confidence=0.9), at=SAID)
    read(quick, ["t1"], found("Lisbon", "t1", confidence=0.6))
    (fact,) = quick.facts.current("Marta", now=AGAIN)
    assert (fact.version, fact.confidence) == (2, 0.6)


def test_the_same_certainty_but_for_the_last_digit_is_no_new_version(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1", confidence=0.9), at=SAID)
    read(quick, ["t1"], found("Lisbon", "t1", confidence=0.897))
    (fact,) = quick.facts.current("Marta", now=AGAIN)
    assert (fact.version, fact.confidence) == (1, 0.9)


def test_what_a_person_asserted_from_the_turn_is_never_touched(quick: Memory) -> None:
    quick.facts.assert_("Marta", "lives in", "Lisbon", source="t1", at=SAID)
    assert read(quick, ["t1"], found("Lisbon", "t1")) == []
    read(quick, ["t1"])
    assert [fact.object for fact in quick.facts.current("Marta", now=AGAIN)] == ["Lisbon"]


def test_what_a_person_repeats_confirms_or_ends_becomes_theirs(quick: Memory) -> None:
    for n, place in enumerate(("Lisbon", "Porto", "Faro")):
        fact = learned(f"P{n}", "lives in", place, ("t1",), SAID)
        read(quick, [f"x{n}"], fact, at=SAID)
    quick.facts.assert_("P0", "lives in", "Lisbon", at=SAID + timedelta(days=1))
    quick.facts.confirm(quick.facts.current("P1", now=AGAIN)[0].id, at=SAID + timedelta(days=1))
    quick.facts.end("P2", "lives in", on=SAID + timedelta(days=9), at=SAID + timedelta(days=9))
    read(quick, ["t1"])
    assert [fact.object for n in range(3) for fact in quick.facts.about(f"P{n}")] == [
        "Lisbon",
        "Porto",
        "Faro",
    ]


def test_what_a_person_corrected_or_retracted_is_not_learned_again(quick: Memory) -> None:
    other = learned("Noor", "works at", "the clinic", ("t1",), SAID)
    read(quick, ["t1"], found("Lisbon", "t1"), other, at=SAID)
    quick.facts.correct("Marta", "lives in", "Porto", at=SAID + timedelta(days=1))
    clinic = quick.facts.current("Noor", now=AGAIN)[0].id
    quick.facts.retract(clinic, reason="a joke", at=SAID + timedelta(days=1))
    assert read(quick, ["t1"], found("Lisbon", "t1"), other) == []
    assert [fact.object for fact in quick.facts.current(now=AGAIN)] == ["Porto"]


def test_what_was_taken_back_by_reading_is_learned_when_it_is_read_again(quick: Memory) -> None:
    read(quick, ["t1"], found("Lisbon", "t1"), at=SAID)
    read(quick, ["t1"])
    assert read(quick, ["t1"], found("Lisbon", "t1"), at=AGAIN + timedelta(days=1)) == [
        ("Lisbon", "believed")
    ]


def test_there_and_back_again_are_two_stays(quick: Memory) -> None:
    stays = [found("Lisbon", "t1"), found("Porto", "t2", 10), found("Lisbon", "t3", 20)]
    read(quick, ["t1", "t2", "t3"], *stays, at=SAID)
    before = lives(quick)
    assert read(quick, ["t1", "t2", "t3"], *stays) == []
    assert lives(quick) == before and len(before) == 3
    read(quick, ["t2"])
    assert [stay[0] for stay in lives(quick)] == ["Lisbon", "Lisbon"]


PLACES = st.sampled_from(["Lisbon", "Porto", "Faro"])
READING = st.lists(st.tuples(st.integers(0, 3), PLACES), max_size=5, unique_by=lambda one: one[0])


@settings(deadline=None, max_examples=25)
@given(first=READING, second=READING, cut=st.integers(0, 4))
def test_reading_everything_again_leaves_what_the_last_reading_alone_would(
    first: list[tuple[int, str]], second: list[tuple[int, str]], cut: int
) -> None:
    """At once, for every day; batch by batch, for the present: a fact that rests on turns of both batches keeps the
    beginning that it had. Two stays in one place that adjoin may be one fact or two."""

    def told(memory: Memory) -> list[list[str]]:
        days = [SAID + timedelta(days=n) for n in range(-1, 6)]
        return [[fact.object for fact in memory.facts.as_of(day, "Marta")] for day in days]

    def facts(reading: list[tuple[int, str]]) -> list[FactStatement]:
        return [found(place, f"t{n}", n) for n, place in sorted(reading)]

    turns = [f"t{n}" for n in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        with Memory.open(Path(folder), "a", embedder="fake", cache_entries=0) as memory:
            read(memory, turns, *facts(first), at=SAID)
            for part in (turns[:cut], turns[cut:]):
                read(memory, part, *[one for one in facts(second) if one.sources[0] in part])
            left = told(memory)
        with Memory.open(Path(folder), "b", embedder="fake", cache_entries=0) as memory:
            read(memory, turns, *facts(second), at=SAID)
            wanted = told(memory)
            assert left[-1] == wanted[-1]
            if cut in (0, 4):
                assert left == wanted
