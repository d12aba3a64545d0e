"""An end is of the turn that says it: read again it stays, forgotten it goes, and it ends nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Memory
from everwhen.facts.relearn import relearn
from everwhen.write.changes.learned_facts import words_apart
from tests.facts.learned import learned

Span = tuple[str, datetime, datetime | None, tuple[str, ...]]


def day(month: int, number: int, hour: int = 9) -> datetime:
    return datetime(2025, month, number, hour, tzinfo=UTC)


def spans(memory: Memory, predicate: str) -> list[Span]:
    found = memory.facts.history("user", predicate)
    return [(fact.object, fact.valid_from, fact.valid_to, fact.sources) for fact in found]


def told_and_quit(memory: Memory) -> tuple[str, str, str]:
    said = (
        ("I work at Siemens.", day(1, 1), "a"),
        ("The weather is lovely today.", day(5, 2, 9), "b"),
        ("I quit my job at Siemens.", day(5, 2, 10), "b"),
    )
    first, beside, quit_ = (memory.add(text, at=at, session=name).turns[0] for text, at, name in said)
    return first, beside, quit_


@pytest.mark.parametrize("again", ["a turn beside it is forgotten", "it is read again", "all are read again"])
def test_an_end_that_is_read_twice_stays_until_its_turn_is_forgotten(memory: Memory, again: str) -> None:
    first, beside, quit_ = told_and_quit(memory)
    ended = [("Siemens", day(1, 1), day(5, 2, 10), (first, quit_))]
    assert spans(memory, "works at") == ended
    for _ in range(2):
        if again == "it is read again":
            memory.reextract([quit_])
        elif again == "all are read again":
            memory.reextract()
        memory.flush()
        assert spans(memory, "works at") == ended
    if again == "a turn beside it is forgotten":
        memory.forget(turns=[beside])
        memory.flush()
        assert spans(memory, "works at") == ended
    memory.forget(turns=[quit_])
    memory.flush()
    assert spans(memory, "works at") == [("Siemens", day(1, 1), None, (first,))]
    assert memory.doctor() == []


def test_an_end_goes_with_the_turn_that_no_longer_says_it_and_was_known(quick: Memory) -> None:
    begun = learned("Ana", "works at", "Siemens", ("t1",), day(1, 1))
    again = learned("Ana", "works at", "Siemens", ("t2",), day(2, 1))
    over = learned("Ana", "works at", "Siemens", ("t3",), day(5, 2), valid_from=day(1, 1), valid_to=day(5, 2))
    facts, embedder = quick._bank.store.facts, quick._bank.embedder
    for fact in (begun, again, over):
        relearn(facts, embedder, fact.sources, [fact], fact.at)

    def known(at: datetime) -> list[tuple[datetime | None, tuple[str, ...]]]:
        found = quick.facts.as_of(day(3, 1), "Ana", "works at", known_at=at)
        return [(fact.valid_to, fact.sources) for fact in found]

    relearn(facts, embedder, ["t2"], [], day(7, 1))
    assert known(day(7, 2)) == [(day(5, 2), ("t1", "t3"))]
    relearn(facts, embedder, ["t3"], [], day(8, 1))
    assert known(day(8, 2)) == [(None, ("t1",))]
    assert known(day(6, 1))[0][0] == day(5, 2)  # what was believed then is not overwritten
    assert quick.doctor() == []


def test_a_span_that_its_turn_no_longer_says_does_not_become_open(quick: Memory) -> None:
    span = learned("Ana", "lives in", "Madrid", ("t1",), day(6, 1), valid_from=day(1, 1), valid_to=day(3, 1))
    inside = learned("Ana", "lives in", "Madrid", ("t2",), day(6, 2), valid_from=day(2, 1))
    facts, embedder = quick._bank.store.facts, quick._bank.embedder
    for fact in (span, inside):
        relearn(facts, embedder, fact.sources, [fact], fact.at)
    relearn(facts, embedder, ["t1"], [], day(7, 1))
    assert quick.facts.current("Ana", now=day(8, 1)) == []
    assert quick.doctor() == []


def test_what_only_its_end_speaks_of_is_known_no_longer(memory: Memory) -> None:
    first, _, quit_ = told_and_quit(memory)
    memory.forget(turns=[first])
    memory.flush()
    memory.reextract([quit_])
    memory.flush()
    assert spans(memory, "works at") == []


def test_an_end_that_came_before_its_beginning_is_found_when_it_is_read_again(memory: Memory) -> None:
    quit_ = memory.add("I quit my job at Siemens.", at=day(5, 2), session="b").turns[0]
    memory.add("I work at Siemens.", at=day(1, 8), session="a")
    assert [span[1:3] for span in spans(memory, "works at")] == [
        (day(1, 8), None)
    ]  # the limit that docs/facts.md states
    memory.reextract([quit_])
    memory.flush()
    assert [span[1:3] for span in spans(memory, "works at")] == [(day(1, 8), day(5, 2))]


def test_selling_a_thing_does_not_end_what_is_named_after_it(memory: Memory) -> None:
    memory.add("I own a guitar.", at=day(1, 1), session="a")
    memory.add("I bought a guitar case.", at=day(2, 1), session="b")
    memory.add("I sold my guitar.", at=day(3, 1), session="c")
    assert [span[:3] for span in spans(memory, "owns")] == [
        ("guitar", day(1, 1), day(3, 1)),
        ("guitar case", day(2, 1), None),
    ]


def test_a_state_that_is_over_does_not_hold_now(memory: Memory) -> None:
    for place, text in enumerate(("I lived in Madrid from 2010 to 2015.", "I worked at Shell in 2012.")):
        memory.add(text, at=day(1, 1 + place), session=text)
    memory.add("I got a dog last week.", at=day(1, 9), session="dog")
    assert [fact.object for fact in memory.facts.current("user")] == ["dog"]
    first, last = datetime(2010, 1, 1, tzinfo=UTC), datetime(2016, 1, 1, tzinfo=UTC)
    assert [span[:3] for span in spans(memory, "lives in")] == [("Madrid", first, last)]


@pytest.mark.parametrize(
    ("known", "said", "same"),
    [
        ("lisinopril 10 mg every morning", "lisinopril", True), ("lisinopril 10 mg", "the lisinopril", True),
        ("blue Honda Civic", "Honda", True), ("acoustic guitar", "guitar", True), ("guitar", "old guitar", True),
        ("New York City", "New York", True), ("12 Mill Lane", "Mill Lane", True), ("coffee with milk", "coffee", True),
        ("guitar case", "guitar", False), ("guitar", "guitar case", False), ("olive oil", "olive", False),
        ("Honda key", "Honda", False), ("head of sales", "sales", False), ("guitar", "violin", False),
    ],
)  # fmt: skip
def test_two_names_are_of_one_thing_where_they_share_its_head(known: str, said: str, same: bool) -> None:
    assert (words_apart(known, said) is not None) is same
    assert (words_apart(said, known) is not None) is same


def test_the_same_words_are_nearer_than_some_of_them() -> None:
    names = ["acoustic guitar", "guitar", "old acoustic guitar"]
    assert min(names, key=lambda name: words_apart(name, "Guitar") or 0) == "guitar"
    assert min(names, key=lambda name: words_apart(name, "the acoustic guitar") or 0) == "acoustic guitar"
