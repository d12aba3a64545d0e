"""Facts from extractors: placed by what was said when, traced to their turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from everwhen import Memory
from everwhen.facts.relearn import relearn
from everwhen.facts.statements import FactStatement
from tests.facts.learned import learned

SAID = datetime(2025, 2, 3, 20, 10, tzinfo=UTC)
MAY = datetime(2025, 5, 1, tzinfo=UTC)


def found(place: str, turn: str, days: float, **more: object) -> FactStatement:
    at = SAID + timedelta(days=days)
    return learned("Marta", "lives in", place, (turn,), at, **more)


def teach(memory: Memory, *facts: FactStatement) -> list[str]:
    bank = memory._bank
    return [row.standing for row in relearn(bank.store.facts, bank.embedder, (), facts, SAID)]


def test_extracted_facts_are_believed_with_their_turns(quick: Memory) -> None:
    turns = quick.add(["I live in Lisbon", "Still Lisbon, yes"], at=SAID).turns
    quick.flush()  # what the rules find is theirs; this is a reading after it
    assert (
        teach(quick, found("Lisbon", turns[0], 0, confidence=0.7), found("lisbon", turns[1], 1))
        == ["believed"] * 2
    )
    (fact,) = quick.facts.current("Marta")
    assert fact.sources == turns and fact.support == 2 and fact.confidence == 1.0
    assert fact.valid_from == SAID and fact.confirmed_at == SAID + timedelta(days=1)
    assert fact.recorded_at == SAID + timedelta(days=1)  # surer since then: a version of its own


def test_an_old_conversation_imported_late_takes_its_place_in_the_past(quick: Memory) -> None:
    teach(quick, found("Porto", "t3", 120))
    teach(quick, found("Lisbon", "t1", 0), found("Évora", "t0", -400))
    assert [fact.object for fact in quick.facts.history("Marta", "lives in")] == ["Évora", "Lisbon", "Porto"]


def test_what_the_words_say_of_time_is_kept_with_its_grain(quick: Memory) -> None:
    teach(quick, found("Porto", "t1", 200, valid_from=MAY, grain="month"))
    (fact,) = quick.facts.current("Marta")
    assert (fact.valid_from, fact.valid.grain) == (MAY, "month")


def test_nothing_to_learn_is_nothing_written(quick: Memory) -> None:
    assert teach(quick) == []
