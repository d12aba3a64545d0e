"""Whom a question describes: "my sister" is Ana where the memory was told so, and nobody where it was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from everwhen import Memory
from everwhen.recall.names import DescribedNames
from everwhen.store.rows import NOW as PRESENT
from everwhen.store.rows import AsOf
from tests.conftest import made_once

START = datetime(2025, 3, 3, 9, tzinfo=UTC)
NOW = START + timedelta(days=60)
FAMILY = (
    "My sister Ana is visiting next weekend.",
    "Ana starts at the zoo in May.",
    "My brother's old dog sleeps all day.",
    "Kjell is our electrician.",
    "Kjell's number is 415 55 018.",
    "My boss is Martin Huber, he's from Graz.",
    "We named the puppy Waffles!",
    "My best friend Tess married Joe in May.",
    "Tess bought a flat in Bath.",
    "Rui is married to my cousin Bea.",
    "my sister has adopted a parrot, because of course she has",
)


def tell(memory: Memory, said: Sequence[str], name: str | None = None) -> None:
    for days, text in enumerate(said):
        who = {"name": name} if name else {}
        memory.add({"role": "user", "content": text, **who}, at=START + timedelta(days=days))
    memory.flush()


def names(memory: Memory, then: AsOf = PRESENT, *, in_turns: bool = False) -> DescribedNames:
    return DescribedNames(memory._bank.store, memory._bank.reader, NOW, then, in_turns)


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    def make(home: object) -> None:
        with Memory.open(home, "family") as opened:  # type: ignore[arg-type]
            tell(opened, FAMILY)

    with Memory.open(made_once(tmp_path_factory, "family", make), "family") as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Where does my sister work?", "Where does my sister Ana work?"),
        ("What's the electrician's phone number?", "What's the electrician Kjell's phone number?"),
        ("Where is my boss from?", "Where is my boss Martin Huber from?"),
        ("Where did my sister's boss grow up?", "Where did my sister Ana's boss grow up?"),
    ],
)
def test_a_description_gets_the_name_that_facts_know(family: Memory, asked: str, read: str) -> None:
    assert names(family).put_in(asked)[0] == read


@pytest.mark.parametrize(
    "asked",
    [
        "Where does my brother live?",  # his dog was told, not his name
        "Where does my uncle live?",
        "Where does my sister Ana work?",
        "Who is my sister?",
        "What is my sister's name?",
        "Do you know who my sister is?",
        "Did I tell you my sister's name?",
        "Where does my sister in law live?",
        "Where did my former boss live?",
        "Where is the garden?",
        "Did we eat the same at my own place?",
        "Where does Ana work?",
    ],
)
def test_who_is_not_known_or_named_already_stays_as_asked(family: Memory, asked: str) -> None:
    assert names(family).put_in(asked) == (asked, {})


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Where did my best friend buy a flat?", "Where did my best friend Tess buy a flat?"),
        ("What kind of bird did Ana adopt?", "What kind of bird did my sister Ana adopt?"),
    ],
)
def test_turns_propose_what_facts_do_not_know(family: Memory, asked: str, read: str) -> None:
    assert names(family, in_turns=True).put_in(asked)[0] == read


def test_only_what_had_been_said_by_then_counts(family: Memory) -> None:
    asked = "What's the electrician's phone number?"
    before, after = (AsOf(as_of=START + timedelta(days=days)) for days in (2, 3))
    assert names(family, before).put_in(asked)[0] == asked
    assert names(family, after).put_in(asked)[0] == "What's the electrician Kjell's phone number?"


def test_two_of_a_kind_are_nobody(memory: Memory) -> None:
    tell(memory, ["My son Ben plays chess.", "My son Leo swims."])
    assert names(memory).put_in("What does my son play?") == ("What does my son play?", {})


def test_among_people_my_is_whoever_has_one(memory: Memory) -> None:
    tell(memory, ["My sister Ana is here."], "Ben")
    tell(memory, ["Nice! Mine is in Oslo."], "Mo")
    assert names(memory).put_in("Where is my sister?")[0] == "Where is my sister Ana?"
    assert names(memory).put_in("Where is Ben's sister?")[0] == "Where is Ben's sister Ana?"
    assert names(memory).put_in("Where is Mo's sister?")[0] == "Where is Mo's sister?"


def test_recall_says_whom_it_took_a_description_for(family: Memory) -> None:
    found = family.recall("Where does my sister work?", at=NOW)
    assert found.query == "Where does my sister work?"
    assert "read 'my sister' as Ana" in found.trace["notes"]
    assert "Ana starts at the zoo in May." in [one.text for one in found.memories[:2]]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What's the electrician's phone number?", "415 55 018"),
        ("When does my sister start at the zoo?", "May 2025"),
        ("Where did my best friend buy a flat?", "Bath"),
        ("What kind of bird did Ana adopt?", "parrot"),
    ],
)
def test_what_was_told_of_the_name_answers_for_the_description(family: Memory, asked: str, said: str) -> None:
    answer = family.ask(asked, at=NOW, model="none")
    assert not answer.abstained and said in answer.text


def test_what_was_told_of_another_is_still_refused(family: Memory) -> None:
    assert family.ask("Where did my brother buy a flat?", at=NOW, model="none").abstained


def test_the_past_is_asked_of_who_it_was_then(memory: Memory) -> None:
    told = {
        "2024-01-08": "My boss is Martin Huber.",
        "2025-01-08": "My new boss is Petra Lang, since yesterday.",
    }
    for day, text in told.items():
        memory.add(text, at=f"{day}T12:00:00Z")
    memory.flush()
    asked = "Where did my boss move the team in February 2024?"
    assert names(memory).put_in(asked)[0] in (asked, asked.replace("boss", "boss Martin Huber"))
    before = memory.recall("What does my boss like?", as_of="2024-06-01")
    assert before.trace["notes"] == ["read 'my boss' as Martin Huber"]


def test_the_sister_of_another_speaker_is_left_alone(memory: Memory) -> None:
    tell(memory, ["My sister Ana is here.", "Ana moved to Porto."], "Ben")
    tell(memory, ["Nice! My sister lives in Oslo."], "Mo")
    assert names(memory).put_in("Where does my sister live?")[1] == {}
    assert names(memory).put_in("Where does Ben's sister live?")[1] == {"Ben's sister": "Ana"}


def test_an_owner_is_meant_by_the_whole_name(memory: Memory) -> None:
    tell(memory, ["Tom Smith's sister is called Eve.", "Eve moved to Cork."])
    assert names(memory).put_in("Where does Tom Smith's sister live?")[1] == {"Smith's sister": "Eve"}
    assert names(memory, in_turns=True).put_in("Where does Anna Smith's sister live?")[1] == {}


def test_what_the_assistant_says_of_itself_describes_nobody(memory: Memory) -> None:
    memory.add(
        [
            {"role": "assistant", "content": "My sister Vera bought a yacht. Just kidding."},
            {"role": "user", "content": "My sister was sick all of Sunday and ate nothing but rice."},
        ],
        at=START,
    )
    memory.flush()
    assert names(memory, in_turns=True).put_in("What did Vera eat on Sunday?")[1] == {}


def test_under_a_filter_no_name_comes_from_what_it_leaves_out(memory: Memory) -> None:
    memory.add("My sister Ana is visiting.", metadata={"project": "secret"}, at=START)
    memory.add("My sister likes tea.", metadata={"project": "open"}, at=START + timedelta(days=1))
    memory.flush()
    asked = "What does my sister like?"
    assert memory.recall(asked, at=NOW).trace["notes"]
    assert not memory.recall(asked, at=NOW, metadata={"project": "open"}).trace["notes"]
    assert not memory.recall(asked, at=NOW, after=START + timedelta(hours=1)).trace["notes"]


def test_what_is_forgotten_names_nobody(memory: Memory) -> None:
    tell(memory, ["My sister Ana is visiting.", "Ana likes tea."])
    assert names(memory).put_in("Where is my sister?")[1] == {"my sister": "Ana"}
    [told, _] = memory.turns()
    memory.forget(turns=told.id)
    assert names(memory, in_turns=True).put_in("Where is my sister?")[1] == {}


def test_any_name_of_a_speaker_may_stand_in_a_question(memory: Memory) -> None:
    tell(
        memory,
        ["My sister Ana is visiting.", "my sister has adopted a parrot, because of course"],
        r"CORP\zed",
    )
    tell(memory, ["Nice."], "Mo")
    words, _ = names(memory, in_turns=True).put_in("What kind of bird did Ana adopt?")
    assert words == r"What kind of bird did CORP\zed's sister Ana adopt?"
