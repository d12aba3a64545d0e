"""What an extractor finds becomes what is believed: what ended has an end, and what nobody knew does not begin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.write.changes.learned_facts import learn_facts
from everwhen.write.extract.base import ExtractedFact, FactStatus
from everwhen_time import Interval

SAID = datetime(2025, 2, 3, 20, 10, tzinfo=UTC)


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home, embedder="fake", extract="none") as opened:
        yield opened


Told = tuple[int, str, FactStatus, Interval | None]


def told(day: int, value: str, status: FactStatus = "holds", valid: Interval | None = None) -> Told:
    return day, value, status, valid


def learn(memory: Memory, *several: Told, predicate: str = "takes") -> list[tuple[str, datetime | None]]:
    turns, facts = {}, []
    for day, value, status, valid in several:
        added = memory.add("…", at=SAID + timedelta(days=day))
        turns[added.turns[0]] = memory.turn(added.turns[0])
        facts.append(ExtractedFact("Ana", predicate, value, (added.turns[0],), valid=valid, status=status))
    learn_facts(memory._bank.store, memory._bank.embedder, facts, turns)
    return [(fact.object, fact.valid_to) for fact in memory.facts.history("Ana", predicate)]


@pytest.mark.parametrize("status", ["ended", "denied"])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("words", ["lisinopril", "the lisinopril 10 mg", "Lisinopril 10 mg"])
def test_what_ended_ends_what_is_known_though_the_words_say_less_or_more(
    memory: Memory, status: FactStatus, at_once: bool, words: str
) -> None:
    begins, ends = told(1, "lisinopril 10 mg"), told(40, words, status)
    found = learn(memory, begins, ends) if at_once else (learn(memory, begins), learn(memory, ends))[1]
    assert found == [("lisinopril 10 mg", SAID + timedelta(days=40))]


def test_an_end_is_the_day_that_was_said(memory: Memory) -> None:
    day = datetime(2025, 3, 1, tzinfo=UTC)
    found = learn(memory, told(1, "lisinopril"), told(40, "lisinopril", "ended", Interval(day, None, "day")))
    assert found == [("lisinopril", day)]


def test_what_nobody_knew_neither_begins_nor_ends(memory: Memory) -> None:
    assert learn(memory, told(1, "lisinopril", "ended")) == []
    assert learn(memory, told(2, "aspirin"), told(3, "lisinopril", "denied")) == [("aspirin", None)]


def test_what_was_said_at_the_same_moment_with_an_end_hides_nothing_that_goes_on(memory: Memory) -> None:
    until = Interval(None, SAID + timedelta(days=300), "day")
    found = learn(memory, told(1, "Porto", valid=until), told(1, "Porto"), told(40, "Porto", "ended"))
    assert found[-1] == ("Porto", SAID + timedelta(days=40))


def test_what_ended_may_begin_again(memory: Memory) -> None:
    found = learn(memory, told(1, "aspirin"), told(5, "aspirin", "ended"), told(9, "aspirin"))
    assert found == [("aspirin", SAID + timedelta(days=5)), ("aspirin", None)]


def held(day: int, value: str, first: int, last: int) -> Told:
    return told(
        day, value, "held", Interval(SAID + timedelta(days=first), SAID + timedelta(days=last), "day")
    )


def test_what_held_at_a_time_does_not_hold_now(memory: Memory) -> None:
    assert learn(memory, held(40, "aspirin", 5, 6)) == [("aspirin", SAID + timedelta(days=6))]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_held_at_a_time_ends_neither_itself_nor_what_held_all_the_time(
    memory: Memory, at_once: bool
) -> None:
    begins, later = told(1, "Leeds"), (held(40, "leeds", 5, 6), held(41, "hotel", 7, 8))
    if not at_once:
        learn(memory, begins, predicate="lives in")
    assert learn(memory, *((begins, *later) if at_once else later), predicate="lives in") == [("Leeds", None)]
    assert memory.doctor() == []
