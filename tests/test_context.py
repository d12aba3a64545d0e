"""`memory.context`: a stable part that a prompt cache keeps, and a fresh part for the question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Context, Memory
from everwhen.models.embedder import count_tokens
from everwhen.types import Recall

MONDAY = datetime(2025, 3, 10, 9, 30, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
WEDNESDAY = MONDAY + timedelta(days=2)
TOLD = "My sister Marta keeps bees behind her house in Evora."


@pytest.fixture
def told(quick: Memory) -> Memory:
    quick.add({"role": "user", "content": TOLD}, at=MONDAY)
    quick.facts.assert_("Ana", "lives in", "Porto", at=MONDAY)
    return quick


def test_what_is_known_does_not_depend_on_the_question(told: Memory) -> None:
    one, other = (told.context(query, at=TUESDAY) for query in ("Where are Marta's bees?", "Is it Monday?"))
    assert one.stable == other.stable and "- Ana lives in Porto (since 2025-03-10)\n" in one.stable
    assert TOLD in one.fresh and one.fresh.startswith("Today is 2025-03-11 Tuesday.\n")


def test_what_is_learned_today_is_in_the_stable_part_from_tomorrow_on(told: Memory) -> None:
    first = told.context("hello Marta", at=TUESDAY).stable
    told.facts.assert_("Ana", "lives in", "Lisbon", at=TUESDAY)
    told.facts.assert_("Ana", "works at", "Novo", at=TUESDAY)
    later = TUESDAY + timedelta(hours=5)
    assert told.context("hello Marta", at=later).stable == first
    next_day = told.context("hello Marta", at=WEDNESDAY).stable
    assert "Ana lives in Lisbon" in next_day and "Ana works at Novo" in next_day and "Porto" not in next_day


def test_a_fact_that_turns_out_to_have_ended_before_stays_for_the_day(told: Memory) -> None:
    first = told.context("hello Marta", at=TUESDAY).stable
    moved = MONDAY + timedelta(hours=8)
    told.facts.assert_("Ana", "lives in", "Lisbon", at=TUESDAY, valid_from=moved)
    assert told.context("hello Marta", at=TUESDAY + timedelta(hours=1)).stable == first


def test_the_stable_part_is_renewed_when_told(told: Memory) -> None:
    told.facts.assert_("Ana", "lives in", "Lisbon", at=TUESDAY)
    later = TUESDAY + timedelta(hours=1)
    assert "Ana lives in Lisbon" in told.context("hello", at=later, stable_at=later).stable


def test_a_conversation_keeps_its_stable_part_and_is_told_what_changed(told: Memory) -> None:
    told.facts.assert_("Ana", "owns", "a red bicycle", at=MONDAY)
    first = told.context("hello Marta", at=TUESDAY)
    told.facts.assert_("Ana", "lives in", "Lisbon", at=TUESDAY)
    told.facts.assert_("Ana", "works at", "Novo", at=TUESDAY)
    again = told.context("hello Marta", at=WEDNESDAY, stable_at=first.stable_at)
    assert (again.stable, again.stable_at) == (first.stable, first.stable_at)
    assert again.fresh.startswith("What has become known since")
    assert "- no longer: Ana lives in Porto (since 2025-03-10)\n" in again.fresh
    assert "- Ana lives in Lisbon (since 2025-03-11)\n- Ana works at Novo (since 2025-03-11)\n" in again.fresh
    assert "bicycle" not in again.fresh.partition("</memories>")[0]
    assert again.tokens == count_tokens(again.stable) + count_tokens(again.fresh)


def test_what_a_conversation_was_told_at_its_beginning_and_is_forgotten_is_gone_at_once(told: Memory) -> None:
    first = told.context("hello Marta", at=TUESDAY)
    told.forget(everything=True)
    again = told.context("hello Marta", at=WEDNESDAY, stable_at=first.stable_at)
    assert (again.stable, again.fresh) == ("", "")


def test_a_stable_part_is_made_anew_where_too_much_has_changed(told: Memory) -> None:
    first = told.context("hello Marta", at=TUESDAY, max_tokens=400)
    for place in range(12):
        told.facts.assert_(f"friend {place}", "lives in", f"town number {place}", at=TUESDAY)
    again = told.context("hello Marta", at=WEDNESDAY, stable_at=first.stable_at, max_tokens=400)
    new = told.context("hello Marta", at=WEDNESDAY, max_tokens=400)
    assert (again.stable, again.stable_at) == (new.stable, new.stable_at) != (first.stable, first.stable_at)
    assert again.fresh == new.fresh and again.tokens <= 400


def test_the_day_begins_in_the_zone_of_the_bank(home: Path) -> None:
    with Memory.open(home, "far", zone="Pacific/Auckland", embedder="fake", reader="none") as memory:
        memory.facts.assert_("Ana", "lives in", "Porto", at=datetime(2025, 3, 10, 10, 30, tzinfo=UTC))
        assert memory.context("hello", at=datetime(2025, 3, 10, 10, 59, tzinfo=UTC)).stable == ""
        # Eleven hours and a day line later it is Tuesday there, and Monday in UTC.
        assert "Porto" in memory.context("hello", at=datetime(2025, 3, 10, 11, 1, tzinfo=UTC)).stable


def test_another_process_gets_the_same_stable_part(home: Path) -> None:
    options: dict[str, Any] = {"embedder": "fake", "reader": "none", "cache_entries": 0}
    with Memory.open(home, "again", **options) as memory:
        for place in range(40):
            memory.facts.assert_(f"friend {place % 7}", "owns", f"thing {place}", at=MONDAY)
        first = memory.context("hello", at=TUESDAY, max_tokens=300).stable
    with Memory.open(home, "again", **options) as memory:
        assert memory.context("hello", at=TUESDAY, max_tokens=300).stable == first != ""


def test_what_is_forgotten_is_gone_at_once(memory: Memory) -> None:
    memory.add({"role": "user", "name": "Ana", "content": "I live in Porto with my brother Rui."}, at=MONDAY)
    memory.flush()
    assert "Porto" in memory.context("hello", at=TUESDAY).stable
    memory.forget(everything=True)
    gone = memory.context("Where does Ana live?", at=TUESDAY)
    assert (gone.stable, gone.fresh, gone.tokens) == ("", "", 0)


def test_the_profile_is_part_of_what_is_known(memory: Memory) -> None:
    said = (
        "I can't stand being late.",
        "Every morning I swim.",
        "I always write my lists on paper, never on a screen.",
    )
    memory.add([{"role": "user", "name": "Ana", "content": words} for words in said], at=MONDAY)
    memory.consolidate("end")
    told = [one.text for one in memory.profile() if one.fact is None]
    stable = memory.context("hello", at=TUESDAY).stable
    assert told and all(text in stable for text in told)


def test_passing_things_and_guesses_are_not_put_before_every_question(told: Memory) -> None:
    told.facts.assert_("kettle", "status", "found", at=MONDAY)
    told.facts.assert_("Ana", "plans", "a trip to Faro", at=MONDAY)
    told.facts.assert_("Ana", "likes", "liver", at=MONDAY, confidence=0.5)
    stable = told.context("hello", at=TUESDAY).stable
    assert stable.count("\n- ") == 1 and "Ana lives in Porto" in stable


@pytest.mark.parametrize("most", [1, 20, 60, 160, 500, 2000])
def test_both_parts_together_keep_to_the_budget(quick: Memory, most: int) -> None:
    for place in range(60):
        at = MONDAY - timedelta(hours=place)
        quick.add(f"Marta put {place} jars of honey on shelf number {place}.", at=at)
        quick.facts.assert_(f"jar {place}", "owned by", f"person {place}", at=at)
    found = quick.context("Where is the honey of Marta?", at=TUESDAY, max_tokens=most)
    assert found.tokens == count_tokens(found.stable) + count_tokens(found.fresh) <= most
    if most >= 160:
        assert found.stable and found.fresh
    assert (len(found.recall) > 20) == (most == 2000)


def test_what_the_model_sees_anyway_leaves_its_room_to_the_rest(quick: Memory) -> None:
    said = [f"Marta put {place} jars of honey on a shelf, and then {place} more." for place in range(30)]
    quick.add(said, at=MONDAY)
    alone = quick.context("honey of Marta", at=TUESDAY, max_tokens=600)
    seen = [one.text for one in alone.recall]
    beside = quick.context("honey of Marta", at=TUESDAY, max_tokens=600, shown=seen)
    assert len(beside.recall) >= len(seen) and not {one.text for one in beside.recall} & set(seen)


def test_words_that_ask_for_nothing_recall_nothing(told: Memory) -> None:
    assert told.context("ok", at=TUESDAY).fresh == ""
    assert told.context("ok, Marta", at=TUESDAY).fresh != ""


# Places in a conversation

BOTH = Context("known", "recalled", 2, Recall("", (), 0))
HISTORY: list[Any] = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi!"}]
LAST: dict[str, Any] = {"role": "user", "content": "Where?"}


def test_two_prompts_of_a_conversation_share_all_but_the_last_exchange() -> None:
    later = [*HISTORY, LAST, {"role": "assistant", "content": "There."}, {"role": "user", "content": "Why?"}]
    first, second = BOTH.for_openai([*HISTORY, LAST]), BOTH.for_openai(later)
    shared = next(n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert first[:shared] == [{"role": "system", "content": "known"}, *HISTORY]


def test_a_system_prompt_in_parts_stays_as_it_is() -> None:
    own = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
    assert BOTH.for_openai([own, LAST])[1] == own


def test_without_a_conversation_both_parts_are_system_messages_in_order() -> None:
    assert [one["content"] for one in BOTH.to_openai()] == ["known", "recalled"]
    known, recalled = BOTH.to_anthropic()
    assert known["cache_control"] == {"type": "ephemeral"} and "cache_control" not in recalled
    assert Context("", "", 0, BOTH.recall).to_openai() == Context("", "", 0, BOTH.recall).to_anthropic() == []


def test_the_callers_own_markers_leave_room_for_as_many_as_are_allowed() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    tools = [{"name": "t", **mark}]
    system = [{"type": "text", "text": "Be brief.", **mark}]
    marked = {"role": "user", "content": [{"type": "text", "text": "Hello.", **mark}]}
    body = BOTH.for_anthropic([marked, HISTORY[1], LAST], system, tools)
    assert body["system"][1]["cache_control"] == mark["cache_control"]  # the fourth, and last
    assert body["messages"][1] == HISTORY[1]
