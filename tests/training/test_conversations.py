"""Prompts for sessions that a language model writes, and what is read out of its answers."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

import conversations


@pytest.fixture(scope="module")
def plan() -> list[dict[str, object]]:
    return list(conversations.plans(seed=2, small=True))


def test_a_prompt_names_the_two_their_topics_and_the_day() -> None:
    prompt = conversations.people_prompt(
        ["Ana", "Ben"], ["a baker", "a vet"], ["a storm", "a haircut"], datetime(2023, 5, 6)
    )
    assert prompt.startswith("Today is Saturday, 06 May 2023. ")
    for part in ("Ana, a baker", "Ben, a vet", "Ana tells about a storm", "Ben tells about a haircut"):
        assert part in prompt
    assert prompt.endswith("Format of each line: Name: text")


def test_an_assistants_prompt_has_one_topic_and_no_names() -> None:
    prompt = conversations.assistant_prompt("a pilot", "an essay about a novel", datetime(2023, 5, 6))
    assert "between user, a pilot, and assistant" in prompt
    assert "help with an essay about a novel" in prompt
    assert not set(prompt.replace(",", " ").split()) & set(conversations.NAMES)


def test_the_small_plan_has_four_banks_of_people_and_two_of_an_assistant(
    plan: list[dict[str, object]],
) -> None:
    sessions = Counter(one["bank"] for one in plan)
    assert sorted(sessions) == ["assistant-0", "assistant-1", "people-0", "people-1", "people-2", "people-3"]
    assert set(sessions.values()) == {conversations.SESSIONS}
    assert len({one["id"] for one in plan}) == len(plan)
    for bank in sessions:
        own = [one for one in plan if one["bank"] == bank]
        assert len({tuple(one["names"]) for one in own}) == 1  # type: ignore[arg-type]
        times = [one["at"] for one in own]
        assert times == sorted(times)  # type: ignore[type-var]


def test_the_same_seed_gives_the_same_plan(plan: list[dict[str, object]]) -> None:
    assert list(conversations.plans(seed=2, small=True)) == plan
    assert list(conversations.plans(seed=3, small=True)) != plan


def test_lines_of_the_two_are_read_whatever_marks_stand_around_them() -> None:
    text = """Here is the chat:
    Ana: Hello there
    **Ben**: "Good day"
    3. ana: I moved: to Porto
    Carl: not one of them
    a line without a name
    Ben:
    """
    assert conversations.read_lines(text, ["Ana", "Ben"]) == [
        ["Ana", "Hello there"],
        ["Ben", "Good day"],
        ["Ana", "I moved: to Porto"],
    ]


def test_a_repeated_line_ends_the_conversation() -> None:
    text = "Ana: one\nBen: two\nAna: one\nBen: three"
    assert conversations.read_lines(text, ["Ana", "Ben"]) == [["Ana", "one"], ["Ben", "two"]]


def test_short_sessions_and_small_banks_are_left_out(plan: list[dict[str, object]]) -> None:
    def chat(names: list[str], turns: int) -> str:
        return "\n".join(f"{names[i % 2]}: line {i}" for i in range(turns))

    answers = {}
    for bank, sessions, turns in (("people-0", 6, 4), ("people-1", 5, 4), ("people-2", 6, 3)):
        own = [one for one in plan if one["bank"] == bank][:sessions]
        answers |= {str(one["id"]): chat(one["names"], turns) for one in own}  # type: ignore[arg-type]
    (bank,) = conversations.make_banks(plan, answers)
    assert (bank["id"], bank["source"], len(bank["sessions"])) == ("people-0", "written-people", 6)
    assert all(len(session["turns"]) == 4 for session in bank["sessions"])
