"""Recall and facts: what holds is shown with its validity and confidence, what held before as a dated note."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, UsageError
from everwhen.models.embedder import count_tokens
from everwhen.types.recall import MID


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


NOW = day(2025, 8)


@pytest.fixture
def marta(home: Path) -> Iterator[Memory]:
    """Facts as somebody asserted them; what extraction would find in the turns stays out."""
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0, extract="none") as quick:
        yield told(quick)


def told(quick: Memory) -> Memory:
    first = quick.add("I live in Lisbon, in Graça", at=day(2025, 2), session="a").turns[0]
    second = quick.add("I moved to Porto yesterday", at=day(2025, 6), session="b").turns[0]
    quick.add("the weather is fine", at=day(2025, 7), session="c")
    facts = quick.facts
    facts.assert_("Marta", "lives in", "Lisbon", valid_from=day(2021, 3), at=day(2025, 2), source=first)
    facts.assert_("Marta", "lives in", "Porto", valid_from=day(2025, 5, 31), at=day(2025, 6), source=second)
    return quick


def shown(memory: Memory, query: str = "where does Marta live", **more: object) -> list[str]:
    found = memory.recall(query, **{"at": NOW, "kinds": ["fact"], **more})  # type: ignore[arg-type]
    return [one.text for one in found]


def test_the_current_fact_is_shown_with_its_predecessor_as_a_note(marta: Memory) -> None:
    (text,) = shown(marta)
    assert text == (
        "Marta lives in Porto (since 2025-05-31, confidence 1.00)\n"
        "before: Marta lived in Lisbon (2021-03-01 to 2025-05-31)"
    )


def test_a_fact_leads_back_to_its_turns(marta: Memory) -> None:
    found = marta.recall("where does Marta live", at=NOW)
    (fact,) = [one for one in found if one.kind == "fact"]
    marta.facts.assert_("Marta", "resides in", "Porto", at=day(2025, 6), source="her letter")
    assert fact.turns == (marta.turns()[1].id,) and fact.occurred is not None
    (again,) = marta.recall("where does Marta live", at=NOW, kinds=["fact"])
    assert again.turns == fact.turns  # a letter is a source, and no turn
    assert fact.metadata["object"] == "Porto" and fact.why.ranks
    assert "fact: Marta lives in Porto" in found.as_context(cut=0)


def test_an_old_turn_comes_with_what_has_changed_since(marta: Memory) -> None:
    found = marta.recall("Graça", at=NOW)
    assert found.memories[0].text == "I live in Lisbon, in Graça"
    assert [one.metadata["object"] for one in found if one.kind == "fact"] == ["Porto"]


def test_what_a_turn_says_itself_is_not_said_again_beside_it(quick: Memory) -> None:
    said = quick.add("the rowing boat is green", at=day(2025, 2)).turns[0]
    quick.facts.assert_("Ferdinand", "weighs", "80 kilos", at=day(2025, 2), source=said)
    assert [one.kind for one in quick.recall("which colour has the rowing boat?", at=NOW)] == ["turn"]


def test_as_of_shows_what_held_then(marta: Memory) -> None:
    (text,) = shown(marta, as_of=day(2024))
    assert text == "Marta lived in Lisbon (from 2021-03-01 to 2025-05-31, confidence 1.00)"


def test_known_at_shows_what_was_believed_then(marta: Memory) -> None:
    assert [text.split(",")[0] for text in shown(marta, known_at=day(2025, 3))] == [
        "Marta lives in Lisbon (since 2021-03-01"
    ]


def test_a_window_shows_everything_that_held_in_it(marta: Memory) -> None:
    texts = shown(marta, between=(day(2020), day(2026)))
    assert len(texts) == 2 and any("Lisbon (from" in text for text in texts)


def test_a_retracted_fact_is_not_shown_and_says_why(marta: Memory) -> None:
    for fact in marta.facts.current("Marta") + marta.facts.as_of(day(2024), "Marta"):
        marta.facts.retract(fact.id, reason="wrong")
    found = marta.recall("where does Marta live", at=NOW)
    assert all(one.kind == "turn" for one in found)
    assert any("does not hold" in one.reason for one in found.dropped)


def test_faded_facts_are_left_out_on_request(marta: Memory) -> None:
    assert shown(marta, min_confidence=0.5) and not shown(marta, min_confidence=0.95)
    assert not shown(marta, min_confidence=0.5, at=day(2030))
    with pytest.raises(UsageError, match="min_confidence"):
        shown(marta, min_confidence=7)


def test_facts_without_an_end_are_the_current_ones(quick: Memory) -> None:
    tell = quick.facts.assert_
    tell("Ana", "lives in", "Porto", valid_from=day(2024, 1), at=day(2024, 1))
    tell("Ana", "lives in", "Leeds", valid_from=day(2025, 1), at=day(2025, 1))
    then = {"at": day(2025, 6), "kinds": ["fact"], "between": None}

    def objects(**more: Any) -> set[str]:
        return {one.metadata["object"] for one in quick.recall("Ana lives in", **then | more)}

    assert objects(metadata={"valid_to": None}) == {"Leeds"}
    assert objects(as_of=day(2024, 6)) == {"Porto"}
    assert objects(as_of=day(2024, 6), metadata={"valid_to": None}) == set()  # that one has ended since


def test_what_only_age_has_made_unsure_is_told_as_old_and_never_as_doubt(marta: Memory) -> None:
    said = "Marta lives in Porto (since 2025-05-31, {})"
    for at, words in (
        (day(2025, 7), "confidence 1.00"),
        (day(2027), "old: last confirmed 19 months ago"),
        (day(2031), "old: last confirmed 5 years ago"),
    ):
        found = marta.recall("where does Marta live", at=at, kinds=["fact"])
        assert found.memories[0].text.splitlines()[0] == said.format(words)
        assert found.tokens == count_tokens(found.as_context(cut=0))
    (porto,) = marta.facts.current("Marta")
    marta.facts.confirm(porto.id, day(2031))
    assert shown(marta, at=day(2031, 2))[0].startswith(said.format("confidence 1.00"))
    marta.facts.assert_("Marta", "has pet", "a parrot", confidence=0.3, at=day(2031))
    assert "confidence 0.30" in shown(marta, "Marta's pet, a parrot", at=day(2031, 2))[0]  # that is doubt


def test_facts_are_chosen_by_their_domain(marta: Memory) -> None:
    marta.facts.assert_("Marta", "prefers editor", "Inkscape", domain="tech_preference", at=day(2025, 6))
    assert len(shown(marta, "Marta", metadata={"domain": "tech_preference"})) == 1
    assert shown(marta, "Marta", metadata={"domain": "api_version"}) == []


def test_a_recipe_can_leave_facts_as_they_are(marta: Memory) -> None:
    plain = MID.without("facts")
    assert plain.name == "mid-facts" and not plain.facts
    assert "(since" not in "".join(one.text for one in marta.recall("Marta Porto", recipe=plain))


@pytest.mark.parametrize("grain", ["second", "day", "month", "year"])
def test_the_budget_counts_the_tokens_of_facts_exactly(quick: Memory, grain: str) -> None:
    from everwhen.facts.relearn import relearn
    from tests.facts.learned import learned

    for number, (who, what) in enumerate(
        [("Ana", "tea"), ("3M", "steel!"), ("Zoë", "naïve 🙂"), ("ben", "東京 (x)")]
    ):
        begin = day(1999) + timedelta(days=371 * number)
        for step in (0, 40):
            said = learned(who, "drinks", f"{what} {step}", (), begin + timedelta(days=step), grain=grain)
            relearn(quick._bank.store.facts, quick._bank.embedder, (), [said], said.at)
    for between in (None, (day(1990), day(2030))):
        found = quick.recall("drinks tea steel naïve 東京 Ana", between=between, max_tokens=100_000)
        assert len(found) >= 4 and found.tokens == count_tokens(found.as_context(cut=0))


def test_without_facts_recall_is_what_it_was(quick: Memory) -> None:
    quick.add_many(
        [{"content": f"line {i} about gardens and tea", "session": f"s{i // 5}"} for i in range(50)]
    )
    quick.flush()  # what is extracted meanwhile would be found by the second alone
    found, plain = quick.recall("tea in gardens"), quick.recall("tea in gardens", recipe=MID.without("facts"))
    assert (
        found.memories == plain.memories and found.tokens == plain.tokens and found.dropped == plain.dropped
    )


def test_facts_can_be_given_the_vectors_of_another_embedder(marta: Memory) -> None:
    marta.reembed("fake")
    assert len(shown(marta)) == 1 and marta.doctor() == []


def test_a_question_about_the_past_gets_the_facts_of_that_past(marta: Memory) -> None:
    assert [text.split(" (")[0] for text in shown(marta, "where did Marta live in 2022")] == [
        "Marta lived in Lisbon"
    ]
    for question in ("where did Marta use to live, originally", "where did Marta live before she moved"):
        assert {text.split(" (")[0] for text in shown(marta, question)} >= {"Marta lived in Lisbon"}, question
    assert shown(marta, "where does Marta live now")[0].startswith("Marta lives in Porto")
