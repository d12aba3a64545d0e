"""Who is who: resolution, the veto, nicknames, and what people decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen import Memory, NotFound
from everwhen.store.rows import EntityRow
from everwhen.write.entities import (
    NameIndex,
    can_be_same_first_name,
    introduced,
    is_another,
    key,
    name_similarity,
)
from everwhen.write.extract.base import EntityType, ExtractedEntity


def names(memory: Memory) -> set[str]:
    return {one.name for one in memory.entities()}


def told(memory: Memory, *texts: str) -> None:
    for n, text in enumerate(texts):
        memory.add(
            {"role": "user", "name": "Ana", "content": text, "timestamp": f"2024-05-{n + 1:02d}T10:00:00Z"}
        )


def test_a_name_said_twice_is_one_entity_with_first_and_last_mention(quick: Memory) -> None:
    told(quick, "I met Carlos in Lisbon.", "Carlos called me.", "nothing")
    carlos = quick.entity("carlos")
    assert (carlos.name, carlos.mentions) == ("Carlos", 2)
    assert carlos.first is not None
    assert carlos.last is not None
    assert (carlos.first.day, carlos.last.day) == (1, 2)


def test_two_names_in_one_turn_are_two(quick: Memory) -> None:
    told(quick, "I saw Alice and Alice Cooper yesterday.")
    assert {"Alice", "Alice Cooper"} <= names(quick)


def test_a_nickname_is_the_same_person_where_the_company_is_the_same(quick: Memory) -> None:
    told(quick, "I had lunch with Robert.", "Bob called me again.")
    assert quick.entity("Bob").id == quick.entity("Robert").id
    assert quick.entity("Bob").aliases == ("Bob",)


def test_nicknames_and_spellings() -> None:
    assert can_be_same_first_name("Bob", "Robert")
    assert can_be_same_first_name("Bill", "Will")
    assert not can_be_same_first_name("Bob", "Richard")
    assert name_similarity("Jon", "Joe") == 0.0
    assert name_similarity("Katherine Jones", "Kathrine Jones") > 0.9
    assert name_similarity("Alice", "Alice Chen") == 0.95


WORDS = st.sampled_from(
    [
        "Robert",
        "Bob",
        "Rob",
        "Will",
        "Bill",
        "William",
        "Jones",
        "Jonse",
        "Chen",
        "the",
        "Lisbon",
        "Lisbom",
        "Café",
        "O'Neil",
    ]
)
NAMES = st.one_of(
    st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    st.sampled_from(
        ["Katherine Jones", "Kathrine Jones", "Catherine Jnoes", "The Lisbon Times", "Lisbon Time's"]
    ),
    st.text(min_size=0, max_size=12),
)


@given(known=st.lists(NAMES, max_size=12), said=NAMES)
def test_every_name_that_can_be_same_first_name_the_same_is_compared(known: list[str], said: str) -> None:
    index = NameIndex()
    for seq, name in enumerate(known):
        index.add(name, seq)
    alike = {seq for seq, name in enumerate(known) if name_similarity(said, name) > 0}
    assert alike <= index.like(said)
    assert {seq for seq, name in enumerate(known) if key(name) == key(said)} == set(index.going_by(said))


def test_merge_split_and_rename_are_logged_and_taken_back(quick: Memory) -> None:
    told(quick, "I met Carlos in Lisbon.", "Carl Smith wrote to me.")
    before = quick.entities()
    merged = quick.merge_entities("Carlos", "Carl Smith")
    assert merged.aliases == ("Carl Smith",)
    assert quick.entity("Carl Smith").name == "Carlos"
    split = quick.split_entity("Carlos", ["Carl Smith"])
    assert (split.name, quick.entity("Carlos").aliases) == ("Carl Smith", ())
    assert quick.rename_entity("Carl Smith", "Charles Smith").name == "Charles Smith"
    assert quick.undo_entities() == "rename"
    assert quick.undo_entities() == "split"
    assert quick.undo_entities() == "merge"
    assert quick.undo_entities() is None
    assert quick.entities() == before


def test_what_people_decided_outlives_a_new_extraction(quick: Memory) -> None:
    told(quick, "I met Carlos in Lisbon.", "Carl Smith wrote to me.")
    quick.merge_entities("Carlos", "Carl Smith")
    quick.reextract()
    assert quick.entity("Carl Smith").name == "Carlos"


def test_an_unknown_name_is_an_error_with_the_way_out(quick: Memory) -> None:
    told(quick, "I met Carlos.")
    with pytest.raises(NotFound, match="everwhen show entities"):
        quick.entity("Zaphod")


def test_memories_of_an_entity_and_its_company(quick: Memory) -> None:
    told(quick, "I met Carlos in Lisbon.", "Carlos likes Marta.")
    assert "Carlos" in quick.mentions("Carlos")[0].text
    assert {name for name, _ in quick.seen_with("Carlos")} >= {"Ana", "Lisbon"}


def typed(memory: Memory, name: str) -> list[tuple[str, int]]:
    return sorted((one.type, one.mentions) for one in memory.entities() if key(one.name) == key(name))


def test_a_person_and_a_place_of_one_name_are_two_and_stay_two(quick: Memory, home: Path) -> None:
    told(quick, "My sister Paris called me.", "I moved to Paris.", "I met Paris at work.", "I live in Paris.")
    assert typed(quick, "Paris") == [("LOCATION", 2), ("PERSON", 2)]
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as later:
        later.add({"role": "user", "name": "Ana", "content": "My cousin Paris wrote."}, at="2024-06-01")
        later.flush()
        assert typed(later, "Paris") == [("LOCATION", 2), ("PERSON", 3)]


def test_a_guess_of_the_parser_makes_no_second_identity(quick: Memory) -> None:
    told(quick, "I moved to Porto.", "Porto was great.", "Ah, Porto!", "Porto and Lisbon are far apart.")
    assert len(typed(quick, "Porto")) == 1


@pytest.mark.parametrize(
    ("known", "said", "two"),
    [
        (("Apple", "ORGANIZATION"), ("apple", "CONCEPT"), True),
        (("apple", "CONCEPT"), ("Apple", "ORGANIZATION"), True),
        (("apple", "OTHER"), ("Apple", "ORGANIZATION"), True),
        (("Apple", "ORGANIZATION"), ("apple", "ORGANIZATION"), False),
        (("Apple", "ORGANIZATION"), ("Apple", "PRODUCT"), False),
        (("Python", "PRODUCT"), ("python", "PRODUCT"), False),
        (("Paris", "PERSON"), ("Paris", "LOCATION"), True),
        (("Paris", "OTHER"), ("Paris", "LOCATION"), False),
    ],
)
def test_what_is_said_to_be_another_thing_is_another(
    known: tuple[str, str], said: tuple[str, EntityType], two: bool
) -> None:
    row = EntityRow(1, "n1", *known, frozenset({known[0]}))
    assert is_another(row, ExtractedEntity(*said, ("t",))) is two
    assert not is_another(row, ExtractedEntity(*said, ("t",), sure=False))


@pytest.mark.parametrize(
    ("text", "is_new"),
    [
        ("My cousin Daniel came.", True),
        ("Daniel, the plumber, came.", True),
        ("Daniel from work called.", True),
        ("I met Daniel again.", False),
        ("Daniel called my sister.", False),
    ],
)
def test_somebody_is_introduced_by_what_stands_beside_the_name(text: str, is_new: bool) -> None:
    assert introduced("Daniel", text) is is_new
