"""A turn ends what it does not name, and nothing that only sounds alike: "I quit", but not "I quit smoking"."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Memory
from everwhen.models.comparison import PackagedReader
from everwhen.types.facts import Relation, in_words, relations
from everwhen.write.changes import ended_facts
from everwhen.write.changes.ended_facts import KnownFact, ending, shapes
from everwhen.write.extract.grammar import parse_uncached

RELATIONS = {one.name: one for one in relations()}
BEFORE, AFTER = datetime(2025, 5, 7, 9, tzinfo=UTC), datetime(2025, 6, 16, 9, tzinfo=UTC)

ENDS = [
    ("I work at Siemens.", "I quit last week.", "works at", "2025-06-09"),
    ("I work at Siemens.", "They laid me off on Friday.", "works at", "2025-06-13"),
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
    ("We have a dog called Rex.", "My neighbour Rex died last week.", "has pet"),
    ("I work at Siemens.", 'She looked at me and said "I quit".', "works at"),
    ("I work at Siemens.", "I quit on Friday next week.", "works at"),
    ("I work at Siemens.", "I got fired once, back when I was a student.", "works at"),
    ("I work at Siemens.", "In 2019 I quit, it was a mess.", "works at"),
    ("I work at Siemens.", "I left Siemens at 6 and went to the gym.", "works at"),
    ("I live in Leeds.", "We moved away from Slack.", "lives in"),
    ("My boyfriend is Tom.", "It's over! The exam is finally over.", "partner"),
]


@pytest.mark.parametrize(("told", "turn", "predicate", "on"), ENDS, ids=[one[1] for one in ENDS])
def test_a_turn_ends_what_it_does_not_name_on_the_day_it_says(
    memory: Memory, told: str, turn: str, predicate: str, on: str
) -> None:
    memory.add(told, at=BEFORE)
    memory.add(turn, at=AFTER)
    memory.flush()
    ended = [fact.valid_to for fact in memory.facts.history("user", predicate) if fact.valid_to is not None]
    assert [end.date().isoformat() for end in ended] == [on]


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
    assert now.abstained and "worked at Siemens until 9 June 2025" in now.text
    assert memory.turn(now.trace["ended_by"]).text == "I quit last week."
    still = memory.ask("Do I still work at Siemens?", at=AFTER, model="none")
    assert not still.abstained and still.text.startswith("No")
    assert memory.ask("Where did I work in May 2025?", at=AFTER, model="none").trace["short"] == "Siemens"


@pytest.mark.parametrize("relation", [one for one in relations() if one.ends], ids=lambda one: one.name)
def test_a_sentence_of_the_table_is_an_end_of_its_relation_and_has_its_value(relation: Relation) -> None:
    known = KnownFact("user", relation, "Otto", f"user {relation.name} Otto.")
    read = [parse_uncached([f"{text.replace('{value}', 'Otto')}."])[0] for text in relation.ends]
    like = [ending(shapes(parse), known, own=True) for parse in read]
    assert [one is not None and one[1] for one in like] == ["Otto" in parse.text for parse in read]
    assert None not in like


def test_an_end_in_the_same_week_or_the_same_message_ends_what_was_told_before_it(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    memory.add("I quit this week.", at=BEFORE.replace(day=9))
    memory.flush()
    (job,) = memory.facts.history("user", "works at")
    assert job.valid_to is not None and job.valid_from < job.valid_to <= BEFORE.replace(day=9)
    memory.add(["I live in Leeds.", "Well, we moved."], at=AFTER)
    memory.flush()
    assert memory.facts.current("user", "lives in", now=AFTER.replace(month=7)) == []


def test_many_facts_of_one_speaker_hide_no_end(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    memory.flush()
    for place in range(30):
        memory.facts.assert_("user", "likes", f"thing {place}", at=BEFORE)
    memory.add("I quit last week.", at=AFTER)
    memory.flush()
    assert memory.facts.current("user", "works at", now=AFTER) == []


def test_what_has_no_name_ends_nothing_where_two_may_be_meant(memory: Memory) -> None:
    memory.add("I'm in the chess club.", at=BEFORE)
    memory.add("I joined the rowing club, too.", at=BEFORE)
    memory.flush()
    known = memory.facts.history("user", "member of")
    memory.add("I quit.", at=AFTER)
    memory.flush()
    if len(known) > 1:
        assert all(fact.valid_to is None for fact in memory.facts.history("user", "member of"))


def test_somebody_elses_end_is_told_to_who_asks(memory: Memory) -> None:
    memory.add("My friend Sarah works at Bosch.", at=BEFORE)
    memory.add("Sarah quit last week.", at=AFTER)
    memory.flush()
    assert "Sarah worked at Bosch until" in memory.ask("Where does Sarah work?", at=AFTER, model="none").text


def test_what_came_back_is_not_denied(memory: Memory) -> None:
    memory.add("I work at Siemens.", at=BEFORE)
    memory.add("I quit last week.", at=AFTER)
    memory.add("I work at Siemens again.", at=AFTER.replace(month=7))
    memory.flush()
    answer = memory.ask("Do I work at Siemens?", at=AFTER.replace(month=8), model="none")
    assert not answer.text.startswith("No")


def test_the_chance_of_an_end_is_high_for_plain_ends_and_low_for_plain_news() -> None:
    job = KnownFact("user", RELATIONS["works at"], "Siemens", "I work at Siemens.")
    reader = PackagedReader()

    def chance(text: str) -> float:
        (parse,) = parse_uncached([text])
        found = shapes(parse)
        return ended_facts.calibration().chance(ended_facts.read(reader, [(job, True, text, 0, found)])[0])

    assert min(map(chance, ["I got fired.", "I left Siemens in May.", "They laid me off."])) > 0.7
    assert max(map(chance, ["The canteen is great.", "I got a raise.", "I'm on holiday."])) < 0.5


def test_a_fact_is_told_in_words() -> None:
    assert in_words("Kim", "partner", "Tom") == "Kim's partner is Tom"
    assert in_words("Kim", "works_at", "Siemens") == "Kim works at Siemens"
    assert in_words("Kim", "admires", "Ada") == "Kim admires Ada"
