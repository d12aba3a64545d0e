"""The order in which contradictions are decided, and what happens when no rule decides."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Memory, NotFound, UsageError
from everwhen.facts.bitemporal import more_specific
from everwhen.facts.statements import Predicates, normalised, scope

START, LATER = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)
WHO = ("Ana", "lives in")


def say(memory: Memory, place: str, confidence: float = 0.8, **more: object) -> str:
    return memory.facts.assert_(*WHO, place, valid_from=START, confidence=confidence, **more).status  # type: ignore[arg-type]


def now(memory: Memory) -> list[str]:
    return [fact.object for fact in memory.facts.current(*WHO)]


def test_the_more_recent_wins_however_unsure(quick: Memory) -> None:
    say(quick, "Lisbon", 1.0)
    quick.facts.assert_(*WHO, "Porto", valid_from=LATER, confidence=0.1)
    assert now(quick) == ["Porto"] and quick.facts.review() == []


def test_of_two_with_one_beginning_the_more_specific_wins(quick: Memory) -> None:
    assert say(quick, "Porto", 0.9) == "believed"
    assert say(quick, "Bonfim, Porto", 0.5) == "believed"
    assert say(quick, "Porto", 1.0) == "overruled"
    assert now(quick) == ["Bonfim, Porto"]


def test_then_the_more_confident_wins(quick: Memory) -> None:
    say(quick, "Lisbon", 0.6)
    assert say(quick, "Porto", 0.7) == "believed" and now(quick) == ["Porto"]
    assert say(quick, "Braga", 0.65) == "overruled" and now(quick) == ["Porto"]


def test_else_both_are_kept_for_review(quick: Memory) -> None:
    say(quick, "Lisbon")
    assert say(quick, "Porto") == "disputed"
    assert say(quick, "porto") == "disputed"  # said again: the same item, with more support
    (conflict,) = quick.facts.review()
    assert [side.object for side in conflict.sides] == ["Lisbon", "Porto"]
    assert conflict.sides[1].support == 2 and "equally sure" in conflict.why
    assert now(quick) == ["Lisbon"]


@pytest.mark.parametrize(("keep", "left"), [("Lisbon", ["Lisbon"]), ("PORTO", ["Porto"]), ("neither", [])])
def test_a_conflict_is_resolved_by_naming_the_side(quick: Memory, keep: str, left: list[str]) -> None:
    say(quick, "Lisbon")
    say(quick, "Porto")
    (conflict,) = quick.facts.review()
    with pytest.raises(UsageError, match="neither side"):
        quick.facts.resolve(conflict.id, keep="Braga")
    kept = quick.facts.resolve(conflict.id, keep=keep)
    assert [kept.object] == left if kept else left == []
    assert now(quick) == left and quick.facts.review() == []
    with pytest.raises(UsageError, match="resolved already"):
        quick.facts.resolve(conflict.id, keep=keep)
    with pytest.raises(NotFound):
        quick.facts.resolve("c0", keep=keep)


def test_a_conflict_is_resolved_by_the_id_of_a_side(quick: Memory) -> None:
    say(quick, "Lisbon")
    say(quick, "Porto")
    (conflict,) = quick.facts.review()
    kept = quick.facts.resolve(conflict.id, keep=conflict.sides[1].id)
    assert kept is not None and kept.id == conflict.sides[1].id and kept.status == "believed"


def test_a_correction_settles_the_conflict(quick: Memory) -> None:
    say(quick, "Lisbon")
    say(quick, "Porto")
    quick.facts.correct(*WHO, "Braga")
    assert quick.facts.review() == [] and now(quick) == ["Braga"]


def test_when_one_side_is_retracted_the_other_stands(quick: Memory) -> None:
    say(quick, "Lisbon")
    say(quick, "Porto")
    quick.facts.retract(quick.facts.review()[0].sides[0].id, reason="a mistake")
    assert now(quick) == ["Porto"] and quick.facts.review() == []


def test_an_inference_cannot_overturn_the_users_word_by_itself(quick: Memory) -> None:
    quick.facts.correct(*WHO, "Lisbon", at=START)
    assert quick.facts.assert_(*WHO, "Porto", valid_from=LATER, origin="inference").status == "disputed"
    assert now(quick) == ["Lisbon"] and len(quick.facts.review()) == 1
    assert quick.facts.assert_(*WHO, "Faro", valid_from=LATER).status == "believed"
    assert now(quick) == ["Faro"]


def test_a_refinement_says_all_that_the_general_says_and_more() -> None:
    assert more_specific("Bonfim, Porto", "porto")
    assert not more_specific("porto", "Bonfim, Porto") and not more_specific("Porto", "porto")
    assert not more_specific("Bonfim, Lisbon", "Porto")


@pytest.mark.parametrize(
    "words", ["lives in", "lives_in", "livesIn", " Resides  in ", "moved to", "relocated-to"]
)
def test_synonyms_and_spellings_are_one_predicate(words: str) -> None:
    assert Predicates().find(words).key == "lives in"


def test_an_undeclared_predicate_keeps_its_spelling() -> None:
    found = Predicates().find("prefers_framework")
    assert (found.name, found.key, found.multi) == ("prefers_framework", "prefers framework", False)
    assert found.slot("FastAPI for services") == "services" and found.slot("FastAPI") == ""


def test_no_words_stand_for_two_predicates() -> None:
    from everwhen.facts.statements import _SHIPPED

    listed = [
        normalised(words) for name, _, _, synonyms in _SHIPPED for words in (name, *synonyms.split("|"))
    ]
    assert sorted({words for words in listed if listed.count(words) > 1}) == []


@pytest.mark.parametrize(
    ("object_", "expected"),
    [("Python for scripting", "scripting"), ("tea when tired", "tired"), ("Python", ""), ("fortune", "")],
)
def test_a_scope_is_what_an_object_is_restricted_to(object_: str, expected: str) -> None:
    assert scope(object_) == expected
