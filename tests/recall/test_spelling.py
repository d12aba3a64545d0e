"""Names as people misspell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.recall.names import KnownNames, corrected

KNOWN = KnownNames({"Katherine", "John Okafor", "Siobhan", "Jon", "Joan", "Priya", "Niamh"})


def test_without_names_nothing_is_read_as_one() -> None:
    assert KnownNames(()).nearest("Jonh") is None


def nobody_said(_word: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Where does Jonh live?", "Where does John live?"),
        ("What is Cathrine's dog called?", "What is Katherine's dog called?"),
        ("Did Sioban call?", "Did Siobhan call?"),
        ("When did Priyah move?", "When did Priya move?"),
        ("What did Mr Okafer say?", "What did Mr Okafor say?"),
    ],
)
def test_a_misspelt_name_is_read_as_the_nearest_known_one(asked: str, read: str) -> None:
    assert corrected(asked, KNOWN, nobody_said)[0] == read


@pytest.mark.parametrize(
    "asked",
    [
        "Where does John live?",  # right already
        "Where does Joan live?",  # a name of its own, though John is near
        "What did Jane say?",  # nearest to nobody alone: Jon, Joan
        "Where is the jonh?",  # no name: it begins small
        "What happened in Leeds?",
        "When did Ana and Tom meet?",
        "WHEN? WHERE? WHY?",
    ],
)
def test_what_is_no_misspelt_name_stays_as_it_is(asked: str) -> None:
    assert corrected(asked, KNOWN, nobody_said) == (asked, {})


def test_a_word_that_was_said_is_not_misspelt() -> None:
    assert corrected("Who is Jonh?", KNOWN, lambda word: word == "Jonh") == ("Who is Jonh?", {})


def test_two_names_that_are_as_near_are_none() -> None:
    names = KnownNames({"Marian", "Marina", "Karl"})
    assert names.nearest("Mariaa") is None and names.nearest("Marinna") == "Marina"
    assert names.nearest("Kral") == "Karl" and names.nearest("Krall") is None  # a short name has one mistake


def test_recall_finds_what_a_misspelt_person_said_and_says_how_it_was_read(tmp_path: Path) -> None:
    with Memory.open(tmp_path, "talk") as memory:
        at = "2025-01-01T10:00:00Z"
        memory.add({"role": "user", "name": "Siobhan", "content": "My sister gave me a loom."}, at=at)
        memory.add({"role": "user", "name": "Marcus", "content": "My sister gave me a lamp."}, at=at)
        found = memory.recall("What did Sioban get from her sister?")
        assert found.memories[0].speaker == "Siobhan"
        assert "read 'Sioban' as Siobhan" in found.trace["notes"]
        assert memory.recall("What did Siobhan get from her sister?").trace["notes"] == []
