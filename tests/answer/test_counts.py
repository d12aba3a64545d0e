"""Counts, sums, order and yes or no over small talks of our own (`counts.jsonl`), with the real engine.

Written before what counts was built; the lines in even places were looked at while building, the odd ones were not.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen.answer.extractive.turn_replies import missing_name
from everwhen.api.memory import Memory
from everwhen.models.comparison import Passage
from everwhen.recall.question import parse
from everwhen_bench.answers.scores import holds

TALKS = [
    json.loads(line) for line in Path(__file__).with_name("counts.jsonl").read_text("utf-8").splitlines()
]


def right(memory: Memory, talk: dict[str, Any], question: str, gold: str | None) -> bool:
    answer = memory.ask(question, at=datetime.fromisoformat(talk["now"]), model="none")
    if gold is None or answer.abstained:
        return gold is None and answer.abstained
    return holds(answer.trace["short"] or answer.text, gold)


@pytest.mark.parametrize(("place", "least"), [(0, 0.5), (1, 0.5)], ids=["looked at", "not looked at"])
def test_most_counts_sums_and_orders_are_right(tmp_path: Path, place: int, least: float) -> None:
    told: list[tuple[str, bool]] = []
    for talk in TALKS[place::2]:
        with Memory.open(tmp_path, bank=talk["id"]) as memory:
            memory.add_many(
                {
                    "role": "assistant" if len(said) == 3 else "user",
                    "content": said[-1],
                    "timestamp": f"{said[0]}T18:00:0{len(said) - 2}Z",
                    "session": said[0],
                }
                for said in talk["said"]
            )
            memory.flush()
            told += [(question, right(memory, talk, question, gold)) for _, question, gold in talk["asked"]]
    wrong = [question for question, good in told if not good]
    assert 1 - len(wrong) / len(told) >= least, wrong


@pytest.mark.parametrize(
    ("question", "each"),
    [
        ("How many flats did I see?", "which flats did I see?"),
        ("In how many different cities have we lived in total?", "In which cities have we lived?"),
        ("How many times did I swim?", "when did I swim?"),
        ("What is the number of stamps I own?", "which stamps I own?"),
        ("How much did it cost?", ""),
    ],
)
def test_what_is_counted_is_asked_for_by_itself(question: str, each: str) -> None:
    assert parse(question).each == each


def test_a_request_and_a_choice_of_numbers_are_no_counts_and_no_yes_or_no() -> None:
    assert parse("Can you suggest some books?").kind == "what"
    assert parse("Did I raise or lower the number of lessons?").kind == "choice"


def test_a_name_that_nobody_said_is_noticed_and_a_month_is_no_name() -> None:
    said = [Passage("user", "I have been living in harajuku since March.")]
    assert missing_name("How long have I lived in Shinjuku?", said) == "Shinjuku"
    assert missing_name("How long have I lived in Harajuku in May?", said) == ""
