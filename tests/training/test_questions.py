"""Prompts for each kind of question, and what is read out of the answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import questions

TRAINING = Path(questions.__file__).parent


def bank(name: str, source: str, speakers: tuple[str, str] = ("Ana", "Ben")) -> dict[str, Any]:
    """Six sessions; each has a turn with a number, one with a time, and a mere question. Each plant is in three."""
    things = ("piano", "kayak", "bakery", "garden", "museum", "violin")
    plants = ("birch", "cedar", "daisy", "fern", "maple", "tulip")
    sessions = [
        {
            "turns": [
                [speakers[0], f"My {thing} teacher charges 40 euros, cheaper than expected, near {place}"],
                [speakers[1], "Shall we meet there, perhaps tomorrow morning with your cousin Ella?"],
                [speakers[1], f"Yesterday Ella drew a {plants[s]}, a {plants[s - 1]} and a {plants[s - 3]}"],
            ]
        }
        for s, (thing, place) in enumerate(zip(things, ("Leeds", "Porto") * 3, strict=True))
    ]
    return {"id": name, "source": source, "names": list(speakers), "sessions": sessions}


@pytest.fixture(scope="module")
def banks() -> list[dict[str, Any]]:
    return [bank("a", "topical-chat"), bank("b", "written-assistant", ("user", "assistant"))]


@pytest.fixture(scope="module")
def prompts(banks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return questions.make_prompts(banks, 100, seed=3)


def turn(banks: list[dict[str, Any]], place: list[int]) -> tuple[str, str]:
    speaker, text = banks[place[0]]["sessions"][place[1]]["turns"][place[2]]
    return speaker, text


def test_kinds_come_in_their_shares(prompts: list[dict[str, Any]]) -> None:
    counts = Counter(one["kind"] for one in prompts)
    assert set(counts) == set(questions.KINDS) == set(questions.SHARES) == set(questions.EXAMPLES)
    assert counts["fact"] == 22
    assert counts["yes"] == 7
    assert sum(questions.SHARES.values()) == pytest.approx(1)


def test_a_prompt_has_its_instruction_an_example_and_the_turn_last(
    banks: list[dict[str, Any]], prompts: list[dict[str, Any]]
) -> None:
    for one in prompts:
        speaker, text = turn(banks, one["places"][-1])
        called = {"user": "the user", "assistant": "the assistant"}.get(speaker, speaker)
        assert one["user"].startswith(questions.KINDS[one["kind"]].format(speaker=called))
        assert "For instance:\nQ: " + questions.EXAMPLES[one["kind"]][0] in one["user"]
        assert one["user"].endswith(f"{speaker}: {text}")
        assert "{speaker}" not in one["user"]


def test_at_most_two_turns_stand_before_the_one_that_is_asked_about(prompts: list[dict[str, Any]]) -> None:
    for one in prompts:
        if len(one["places"]) == 1:
            shown = one["user"].partition("Chat:\n")[2].splitlines()
            assert len(shown) == min(questions.CONTEXT, one["places"][0][2]) + 1


def test_turns_fit_their_kind(banks: list[dict[str, Any]], prompts: list[dict[str, Any]]) -> None:
    for one in prompts:
        speaker, text = turn(banks, one["places"][0])
        assert not text.endswith("?"), "a mere question tells nothing"
        if one["kind"] == "count":
            assert "40" in text
        elif one["kind"] == "when":
            assert "Yesterday" in text
        elif one["kind"] == "first":
            assert speaker != "assistant"


def test_lists_and_joins_are_of_one_person_and_different_sessions(
    banks: list[dict[str, Any]], prompts: list[dict[str, Any]]
) -> None:
    for kind, size in (("list", 3), ("join", 2)):
        several = [one for one in prompts if one["kind"] == kind]
        assert len(several) == 5
        for one in several:
            assert len({(place[0], place[1]) for place in one["places"]}) == len(one["places"]) == size
            assert len({(place[0], turn(banks, place)[0]) for place in one["places"]}) == 1


def test_the_same_seed_gives_the_same_prompts_in_every_process(
    tmp_path: Path, banks: list[dict[str, Any]], prompts: list[dict[str, Any]]
) -> None:
    path = tmp_path / "banks.json"
    path.write_text(json.dumps(banks))
    code = f"import json, questions; print(json.dumps(questions.make_prompts(json.load(open({str(path)!r})), 100, 3)))"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(TRAINING)}
    made = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True
    )
    assert json.loads(made.stdout) == prompts
    assert questions.make_prompts(banks, 100, seed=4) != prompts


def read(banks: list[dict[str, Any]], kind: str, text: str) -> list[dict[str, Any]]:
    prompts = [{"id": "x", "kind": kind, "places": [[0, 1, 0]]}]
    return questions.read_answers(prompts, [{"id": "x", "text": text}], banks)


def test_an_answer_of_two_lines_is_read(banks: list[dict[str, Any]]) -> None:
    (one,) = read(banks, "fact", 'Sure!\nQ: Who teaches Ana the kayak?\n\nA: "a teacher".\nQ: more\nA: no')
    assert one == {
        "id": "x",
        "kind": "fact",
        "places": [[0, 1, 0]],
        "bank": "a",
        "speaker": "Ana",
        "question": "Who teaches Ana the kayak?",
        "answer": "a teacher",
    }


@pytest.mark.parametrize(
    "text",
    ["", "Who teaches Ana?", "A: first\nQ: second?", "Q: Why?\nA: so", f"Q: Why {'so ' * 80}?\nA: so"],
)
def test_what_is_no_question_with_an_answer_is_left_out(banks: list[dict[str, Any]], text: str) -> None:
    assert read(banks, "fact", text) == []


def test_a_question_of_the_wrong_form_is_left_out(banks: list[dict[str, Any]]) -> None:
    assert read(banks, "first", "Q: Where does Ana row?\nA: Leeds") == []
    assert len(read(banks, "first", "Q: Where do I row?\nA: Leeds")) == 1


@pytest.mark.parametrize(
    ("kind", "question", "has"),
    [
        ("first", "What is my plan?", True),
        ("first", "What is Mimi's plan?", False),
        ("you", "Where did you go?", True),
        ("you", "Where did Ana go?", False),
        ("when", "Since when does Ana row?", True),
        ("when", "Where does Ana row?", False),
        ("count", "How many boats?", True),
        ("count", "Which boats?", False),
        ("fact", "anything", True),
    ],
)
def test_has_form(kind: str, question: str, has: bool) -> None:
    assert questions.has_form(kind, question) is has


def test_content_words_leave_out_function_words_and_contractions() -> None:
    assert questions.content_words("I don't think the Kayak cost 40 euros") == [
        "kayak",
        "cost",
        "40",
        "euros",
    ]
