"""A turn ends what it does not name, and nothing that only sounds alike: "I quit", but not "I quit smoking"."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Memory
from everwhen.ingest import endings
from everwhen.ingest.ending_sentences import Known, ending, ends_at, shapes
from everwhen.ingest.extract.grammar.parsing import parsed
from everwhen.models.reader import PackagedReader
from everwhen.relations import Relation, in_words, relations

RELATIONS = {one.name: one for one in relations()}
BEFORE, AFTER = datetime(2025, 5, 7, 9, tzinfo=UTC), datetime(2025, 6, 16, 9, tzinfo=UTC)

ENDS = [
    ("I work at Siemens.", "I quit last week.", "works at", "2025-06-09"),
    ("I work at Siemens.", "I handed in my notice on Friday.", "works at", "2025-06-13"),
    ("I live in Leeds.", "We moved yesterday, everything is still in boxes.", "lives in", "2025-06-15"),
    ("My boyfriend is Tom.", "Tom and I split up.", "partner", "2025-06-16"),
    ("We have a dog called Rex.", "Rex died on Thursday.", "has pet", "2025-06-12"),
]
ENDS_NOTHING = [
    ("I work at Siemens.", "I quit smoking last week.", "works at"),
    ("I work at Siemens.", "My sister quit her job at the bank.", "works at"),
    ("I work at Siemens.", "I might quit, who knows.", "works at"),
    ("I live in Leeds.", "I moved the sofa yesterday.", "lives in"),
    ("My boyfriend is Tom.", "Our band broke up.", "partner"),
    ("We have a dog called Rex.", "Rex ate my shoe yesterday.", "has pet"),
]


@pytest.mark.parametrize(("told", "turn", "predicate", "on"), ENDS, ids=[one[1] for one in ENDS])
def test_a_turn_ends_what_it_does_not_name_on_the_day_it_says(
    memory: Memory, told: str, turn: str, predicate: str, on: str
) -> None:
    memory.add(told, at=BEFORE)
    memory.add(turn, at=AFTER)
    memory.flush()
    ended = [fact.valid_to for fact in memory.facts.history("user", predicate)]
    assert ended and all(end is not None and end.date().isoformat() == on for end in ended)


@pytest.mark.parametrize(("told", "turn", "predicate"), ENDS_NOTHING, ids=[one[1] for one in ENDS_NOTHING])
def test_what_only_sounds_like_an_end_ends_nothing(
    memory: Memory, told: str, turn: str, predicate: str
) -> None:
    memory.add(told, at=BEFORE)
    memory.add(turn, at=AFTER)
    memory.flush()
    assert [fact.valid_to for fact in memory.facts.history("user", predicate)] in ([None], [None, None])


def test_an_end_of_somebody_else_is_that_persons_own(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    memory.add("Sarah works at Bosch.", at=BEFORE)
    memory.add("Sarah quit last week.", at=AFTER)
    memory.flush()
    assert [fact.valid_to for fact in memory.facts.history("user", "works at")] == [None]
    (sarah,) = memory.facts.history("Sarah", "works at")
    assert sarah.valid_to is not None


def test_the_fact_holds_again_when_the_turn_that_ended_it_is_forgotten(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    (turn,) = memory.add("I quit last week.", at=AFTER).turns
    memory.flush()
    memory.reextract()
    memory.flush()
    assert memory.facts.current("user", "works at", now=AFTER) == []
    memory.forget(turns=[turn])
    memory.flush()
    assert [fact.object for fact in memory.facts.current("user", "works at", now=AFTER)] == ["Siemens"]
    assert memory.doctor() == []


def test_who_asks_hears_that_it_ended_and_when(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    memory.add("I quit last week.", at=AFTER)
    memory.flush()
    now = memory.ask("Where do I work?", at=AFTER, model="none")
    assert now.abstained and "ended on 9 June 2025" in now.text
    assert [one.quote for one in now.citations] == ["I quit last week."]
    still = memory.ask("Do I still work at Siemens?", at=AFTER, model="none")
    assert not still.abstained and still.text.startswith("No")
    assert memory.ask("Where did I work in May 2025?", at=AFTER, model="none").trace["short"] == "Siemens"


@pytest.mark.parametrize("relation", [one for one in relations() if one.ends], ids=lambda one: one.name)
def test_every_sentence_of_the_table_is_an_end_of_its_relation(relation: Relation) -> None:
    known = Known("user", relation, "Otto", f"user {relation.name} Otto.")
    for text in relation.ends:
        (parse,) = parsed([f"{text.replace('{value}', 'Otto')}."])
        found = shapes(parse)
        assert relation.name in ends_at(parse.text, found), text
        assert found and (ending(found, known, own=True) or not found[0].is_done), text


def test_the_chance_of_an_end_is_high_for_plain_ends_and_low_for_plain_news() -> None:
    job = Known("user", RELATIONS["works at"], "Siemens", "I work at Siemens.")
    reader = PackagedReader()

    def chance(text: str) -> float:
        (parse,) = parsed([text])
        found = shapes(parse)
        return endings.curve().chance(endings.read(reader, [(job, True, text, 0, found)])[0])

    assert min(map(chance, ["I got fired.", "I left Siemens in May.", "They laid me off."])) > 0.7
    assert max(map(chance, ["The canteen is great.", "I got a raise.", "I'm on holiday."])) < 0.5


def test_a_fact_is_told_in_words() -> None:
    assert in_words("Kim", "partner", "Tom") == "Kim's partner is Tom"
    assert in_words("Kim", "works_at", "Siemens") == "Kim works at Siemens"
    assert in_words("Kim", "admires", "Ada") == "Kim admires Ada"
