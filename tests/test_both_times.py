"""`known_at=t` answers as the bank answered at t; `as_of` as one that had heard nothing later."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Conflict, Memory, NotFound, Proposal
from everwhen.api.operations.base import BothTimes
from everwhen.api.operations.surface import operations

ASKED = datetime(2025, 12, 31, tzinfo=UTC)
START = datetime(2025, 3, 3, 9, tzinfo=UTC)
SAID = (
    ("Ana", "I met Alice in Lisbon yesterday."),
    ("Ben", "I work at Acme."),
    ("Ana", "I moved to Porto in May 2024."),
    ("Ben", "Alice Cooper called me about the woodworking course."),
    ("Ana", "I live in Porto now."),
    ("Ben", "The woodworking course begins on April 20."),
    ("Ana", "I bought a red bicycle last week."),
    ("Ben", "I left Acme in February and started at Globex."),
    ("Ana", "Bob and I went to the cinema on March 1."),
    ("Ben", "Robert is my brother, he lives in Berlin."),
    ("Ana", "I live in Braga now, since last month."),
    ("Ben", "I adopted a dog named Rex on 12 January 2025."),
)
Act = Callable[[], object]


def answers(memory: Memory, **then: datetime) -> dict[str, list[Any]]:
    """What each reader says, without scores."""
    return {
        "events": [(one.id, one.occurred, one.status, one.turns) for one in memory.events(**then)],
        "events of somebody": [one.id for one in memory.events(subject="Alice Cooper", **then)],
        "timeline": [
            (one.kind, one.ids, one.interval, one.status, one.text, one.turns) for one in memory.timeline(**then)
        ],
        "entities": [
            (one.id, one.name, one.aliases, one.first, one.last, one.mentions) for one in memory.entities(**then)
        ],
        "tree": [
            (one.id, one.level, one.interval, one.parent, one.children, one.text) for one in memory.tree(**then)
        ],
        "turns": [one.id for one in memory.turns(**then)],
        "around": [[one.id for one in memory.turns_around(id_, 1, **then)] for id_ in _ids(memory, then)],
        "turn": [memory.turn(id_, **then).text for id_ in _ids(memory, then)],
        "sessions": [(one.id, one.turns, one.first, one.last) for one in memory.sessions(**then)],
        "grep": [(one.turn.id, one.spans) for one in memory.grep("a", **then)],
        "grep events": [one.event.id for one in memory.grep("moved", calendar="events", **then)],
        "entity": [memory.entity(one, **then).aliases for one in _names(memory, then)],
        "mentions": [
            sorted(unit.id for unit in memory.mentions(one, **then) if unit.kind in ("turn", "event"))
            for one in _names(memory, then)
        ],
        "facts.history": [
            (one.id, one.object, one.valid, one.status) for one in memory.facts.history("Ana", "lives in", **then)
        ],
        "facts.about": [
            (one.id, one.object, one.valid, one.status, one.sources)
            for who in ("Ana", "Ben", "Rex")
            for one in memory.facts.about(who, **then)
        ],
        "facts.stale": [
            (one.fact.id, one.fact.object, one.signal, one.confidence) for one in memory.facts.stale(0.9, ASKED, **then)
        ],
        "facts.review": [
            (type(one).__name__, one.id, _sides(one)) for one in memory.facts.review(**then)
        ],
        "facts.diff": _changes(memory, then),
        "a month of the tree": [one.id for one in memory.tree(at="March 2025", **then)],
        "profile": [
            (one.text, one.fact, one.first, one.last, one.ended, one.turns) for one in memory.profile(**then)
        ],
    }  # fmt: skip


def _ids(memory: Memory, then: Mapping[str, datetime]) -> list[str]:
    return [one.id for one in memory.turns(**then)][:3]


def _names(memory: Memory, then: Mapping[str, datetime]) -> list[str]:
    return [one.name for one in memory.entities(**then)][:3]


def _sides(one: Conflict | Proposal) -> list[str]:
    facts = one.sides if isinstance(one, Conflict) else (one.fact,)
    return [fact.object for fact in facts]


def _changes(memory: Memory, then: Mapping[str, datetime]) -> list[Any]:
    found = memory.facts.diff("2024-01-01", "2026-01-01", **then)
    later = [(old.object, new.object) for old, new in found.changed]
    return [*((one.object, one.valid) for one in (*found.began, *found.ended)), *later]


NO_TIMES = {
    "accessed", "usage", "stats", "flush",  # of the bank itself
    "facts.confidence_at", "facts.get", "facts.versions",  # of a fact that is given; of all of them
    "facts.current", "facts.as_of",  # `as_of` is `current` with its two times
}  # fmt: skip


def test_every_other_reader_takes_both_times() -> None:
    readers = {name: one for name, one in operations().items() if one.spec.scope == "read"}
    assert {name for name, one in readers.items() if not issubclass(one, BothTimes)} == NO_TIMES


def test_what_is_recalled_asked_and_put_into_a_prompt_is_what_was_known(quick: Memory) -> None:
    # Said long before, and heard one after the other.
    hears(quick, "Ana", "I live in Porto.", START, "early")()
    early = quick.context("Where does Ana live?").fresh
    answer = quick.ask("Where does Ana live?", model="none")
    moment = datetime.now(UTC)
    hears(quick, "Ana", "I live in Braga now.", START + timedelta(days=3), "later")()
    quick.flush()
    assert "Braga" in quick.context("Where does Ana live?").fresh
    assert quick.context("Where does Ana live?", known_at=moment).fresh == early
    for found in (
        quick.recall("Where does Ana live?", known_at=moment),
        quick.recall("Where does Ana live?", known_at=moment, kinds=["fact"]),
    ):
        assert "Braga" not in repr([one.text for one in found])
    then = quick.ask("Where does Ana live?", model="none", known_at=moment)
    assert (then.text, then.citations) == (answer.text, answer.citations)
    (first,) = quick.turns(known_at=moment)
    assert [one.id for one in quick.turns(as_of=START)] == [first.id] and len(quick.turns()) == 2
    assert {name for name, _ in quick.seen_with("Ana", known_at=moment)} <= {"Porto"}
    (raw,) = [one for one in quick.mentions("Ana", known_at=moment) if one.id == first.id]
    assert all(one.target in {raw.seq} for one in quick.links(raw.seq, known_at=START))


def dated(memory: Memory, **then: datetime) -> dict[str, list[Any]]:
    """What the readers that rank say: which day, in which order, of which events and turns."""
    answer = memory.when("When is the dentist?", at=ASKED, **then)
    order = memory.compare("Ana bought a bicycle", "Ben adopted Rex", at=ASKED, **then)
    found: dict[str, list[Any]] = {
        "when": [answer and (answer.interval, [one.turn for one in answer.evidence][:1])],
        "compare": [order.order, order.first.query],
        "events about": [(one.id, one.status) for one in memory.events("dentist", **then)],
    }
    found["timeline about"] = [
        (one.kind, one.ids, one.interval) for one in memory.timeline("dentist", **then)
    ]
    return found


def stepped(
    memory: Memory, acts: list[Act], ask: Callable[..., dict[str, list[Any]]]
) -> Iterator[tuple[datetime, dict[str, list[Any]]]]:
    """Do one thing after the other; after each, the moment and what every reader said at it."""
    for act in acts:
        act()
        found = ask(memory)
        yield datetime.now(UTC), found
        time.sleep(0.001)


def hears(memory: Memory, who: str, text: str, at: datetime, session: str) -> Act:
    return lambda: memory.add({"name": who, "content": text, "timestamp": at.isoformat()}, session=session)


def tries(act: Act) -> Act:
    """Somebody may not be known yet, or nothing be open."""

    def tried() -> None:
        with suppress(NotFound, IndexError):
            act()

    return tried


def decisions(memory: Memory) -> list[Act]:
    """What people do besides talking."""
    facts = memory.facts
    return [
        lambda: facts.assert_("Ana", "lives in", "Faro", valid_from=START - timedelta(days=400)),
        lambda: facts.assert_("Rex", "likes", "bones"),
        lambda: facts.assert_("Ana", "lives in", "Madrid", confidence=0.5),
        lambda: facts.report_missing("Acme"),
        tries(lambda: facts.resolve(facts.review()[0].id, "neither")),
        lambda: facts.correct("Ana", "lives in", "Lisbon"),
        tries(lambda: facts.end("Ana", "lives in", on=START + timedelta(days=40))),
        tries(lambda: memory.merge_entities("Bob", "Rex")),
        tries(lambda: memory.rename_entity("Lisbon", "Lisboa")),
        tries(lambda: memory.split_entity("Alice", ["Alice Cooper"])),
        memory.undo_entities,
        memory.consolidate,
        lambda: memory.consolidate(now="end"),
        lambda: memory.consolidate(now="end"),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_known_at_answers_as_the_bank_answered_then(quick: Memory, seed: int) -> None:
    chance = random.Random(seed)
    # What is heard late was often said early: the order of telling is not that of recording.
    acts = [
        hears(quick, who, text, START + timedelta(days=chance.randrange(90), hours=number), f"s{number % 4}")
        for number, (who, text) in enumerate(SAID)
    ]
    acts += decisions(quick)
    chance.shuffle(acts)
    steps = list(stepped(quick, acts, answers))
    assert len({repr(said) for _, said in steps}) > len(steps) // 2
    for step, (moment, before) in enumerate(steps):
        now = answers(quick, known_at=moment)
        for reader, said in before.items():
            assert now[reader] == said, f"{reader} at step {step} of seed {seed}"


def test_as_of_is_what_had_been_said_whenever_it_was_recorded(quick: Memory) -> None:
    hears(quick, "Ana", "I met Alice Cooper in Lisbon on May 2.", START + timedelta(days=70), "later")()
    hears(quick, "Ana", "I met Alice in Rome on March 1.", START, "early")()
    quick.consolidate(now="end")
    then = START + timedelta(days=1)
    (event,) = quick.events(as_of=then)
    assert event.text == "Ana met Alice in Rome on March 1"
    assert {one.name for one in quick.entities(as_of=then)} >= {"Alice", "Rome"}
    assert not {"Lisbon", "Alice Cooper"} & {one.name for one in quick.entities(as_of=then)}
    assert {one.ids for one in quick.timeline(as_of=then) if one.kind == "session"} == {("early",)}
    assert [one.level for one in quick.tree(as_of=then)] == [1, 2, 3, 4, 5]
    assert not quick.events(as_of=START - timedelta(days=1)) and not quick.tree(
        as_of=START - timedelta(days=1)
    )
    assert quick.events(known_at=then) == [] and quick.entities(known_at=then) == []  # all was recorded today
    early, later = quick.turns()  # in the order of saying; they were recorded the other way round
    assert quick.events(as_of=then, known_at=later.recorded_at) == []
    assert [one.id for one in quick.events(as_of=then, known_at=early.recorded_at)] == [event.id]


def test_what_is_forgotten_is_in_no_version_of_then(quick: Memory, home: Path) -> None:
    hears(quick, "Ana", "I met Zephyrine in Lisbon on March 1.", START, "s")()
    quick.consolidate(now="end")
    hears(quick, "Ben", "I work at Acme.", START + timedelta(minutes=5), "s")()
    quick.consolidate(now="end")
    quick.rename_entity("Zephyrine", "Zephyrine Vale")
    moment = datetime.now(UTC)
    assert "Zephyrine" in repr(answers(quick, known_at=moment))
    quick.forget(turns=quick.turns()[0].id)
    assert "Zephyrine" not in repr(answers(quick, known_at=moment))
    quick.close()
    assert b"Zephyrine" not in (home / "banks" / "quick.db").read_bytes()


def test_when_and_compare_and_plans_that_move_are_known_as_they_were(memory: Memory) -> None:
    told = [
        ("Ana", "I have a dentist appointment on June 5.", 0),
        ("Ana", "I bought a red bicycle on February 20.", 1),
        ("Ben", "I adopted a dog named Rex on 12 January 2025.", 2),
        ("Ana", "The dentist is moved to June 12.", 10),
        ("Ben", "I love cooking pasta on Sundays.", 11),
        ("Ana", "The dentist is called off.", 20),
    ]
    acts = [hears(memory, who, text, START + timedelta(days=day), f"s{day}") for who, text, day in told]
    steps = list(stepped(memory, acts, lambda bank, **then: answers(bank, **then) | dated(bank, **then)))
    days = [[one and one[0].start.day for one in said["when"]] for _, said in steps]
    assert days[2:4] == [[5], [12]] and steps[2][1]["compare"] == ["before", "Ben adopted Rex"]
    for step, (moment, before) in enumerate(steps):
        now = answers(memory, known_at=moment) | dated(memory, known_at=moment)
        # All was said in the order in which it was recorded: what had been said by then is what was known.
        said = START + timedelta(days=told[step][2])
        then = answers(memory, as_of=said) | dated(memory, as_of=said)
        for reader, answer in before.items():
            assert now[reader] == answer, f"{reader}, known at step {step}"
            assert then[reader] == answer, f"{reader}, as of step {step}"
