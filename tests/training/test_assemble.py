"""What the networks learn from, as arrays of tokens: answers stand at the right tokens, and nothing is mixed up."""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import assemble
from banks import write_json

TOKENIZER = Path(__file__).parents[2] / "src/everwhen/models/conversation_1/tokenizer.json"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(TOKENIZER))


@pytest.fixture
def data(tokenizer: Tokenizer) -> assemble.Data:
    return assemble.Data(tokenizer)


def words(tokenizer: Tokenizer, ids: Any) -> str:
    return str(tokenizer.decode([int(one) for one in ids]))


def rows(packed: Any, name: str) -> list[np.ndarray]:
    return np.split(packed[f"{name}.flat"], packed[f"{name}.ends"][:-1])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Bell Street", "bell street"),
        ("bell street.", "bell street"),
        ("Mira", "mira"),
        ("kitchenette", "kitchenette"),
        ("flat", "flat"),
    ],
)
def test_a_span_covers_the_tokens_of_the_answer(data: assemble.Data, answer: str, found: str) -> None:
    line = "Mira: Got the kitchenette-flat on Bell Street!"
    (numbers,) = data.add_bank([[("Mira", line.removeprefix("Mira: "))]])
    data.add_question("Where?", numbers, line, answer, "span", "true", assemble.BY_HAND)
    ((first, last),) = data.span
    assert words(data.tokenizer, data.own[0][first : last + 1]) == found


@pytest.mark.parametrize("answer", ["Mill Lane", "", " . "])
def test_an_answer_that_is_not_there_has_no_span(data: assemble.Data, answer: str) -> None:
    data.add_bank([[("Mira", "Bell Street")]])
    data.add_question("Where?", [0], "Mira: Bell Street", answer, "span", "", assemble.RAW)
    assert data.span == [(-1, -1)]


def test_an_answer_beyond_the_tokens_of_a_turn_has_no_span(data: assemble.Data) -> None:
    long = "so " * assemble.OWN + "Bell Street"
    data.add_bank([[("Mira", long)]])
    data.add_question("Where?", [0], f"Mira: {long}", "Bell Street", "span", "", assemble.RAW)
    assert len(data.own[0]) == assemble.OWN
    assert data.span == [(-1, -1)]


def test_yes_and_no_have_no_span(data: assemble.Data) -> None:
    data.add_bank([[("Mira", "yes")]])
    data.add_question("Really?", [0], "Mira: yes", "yes", "yes", "denied", assemble.FILTERED)
    assert (data.span, data.kind, data.status, data.trust) == ([(-1, -1)], [1], [1], [1])


def test_the_turn_before_ends_with_its_session(data: assemble.Data) -> None:
    numbers = data.add_bank([[("Ana", "one"), ("Ben", "two")], [("Ana", "three")]])
    assert numbers == [[0, 1], [2]]
    assert [words(data.tokenizer, ids) for ids in data.before] == ["", "ana : one", ""]
    assert data.first_of_session == [1, 0, 1]


def test_of_a_long_turn_before_the_end_is_kept(data: assemble.Data) -> None:
    data.add_bank([[("Ana", "so " * 50 + "Leeds"), ("Ben", "two")]])
    assert len(data.before[1]) == assemble.BEFORE
    assert words(data.tokenizer, data.before[1]).endswith("leeds")


def test_examples_repeated_from_the_prompt_are_not_usable() -> None:
    def usable(kind: str, question: str, answer: str) -> bool:
        return assemble.is_usable({"kind": kind, "question": question, "answer": answer})

    assert usable("fact", "What did Ana buy?", "a kettle")
    assert not usable("fact", "What did Tess buy?", "a kettle")
    assert not usable("fact", "What did Ana buy?", "a copper pan")
    assert not usable("no", "Did Ana buy it?", "no")
    assert usable("none", "How much was it?", "Not told")
    assert not usable("none", "How much was it?", "ten euros")


def write_inputs(folder: Path) -> None:
    """One tiny piece of everything that the command reads."""
    given = {
        "banks": [{"names": ["Ana", "Ben"], "sessions": [[["Ana", "I row on the Aire"], ["Ben", "Nice"]]]}],
        "questions": [
            {"bank": 0, "session": 0, "turn": 0, "question": "Where does Ana row?", "answer": "the Aire"},
            {"bank": 0, "session": 0, "turn": 1, "question": "Who is it?", "answer": "[Person 1]"},
        ],
    }
    show = {
        "source": "friendsqa",
        "turns": [["Monica Geller", "I cook"], ["Joey Tribbiani", "I eat pizza"]],
        "qa": [
            {"question": "What does Joey eat ?", "answers": [{"turn": 1, "text": "pizza"}]},
            {"question": "Lost?", "answers": [{"turn": 7, "text": "nothing"}]},
        ],
    }
    for name, value in (("questions", given), ("dialogues", [show])):
        (folder / f"{name}.json.xz").write_bytes(lzma.compress(json.dumps(value).encode(), preset=0))
    turns = [["Cleo", "The cello costs 40 euros"], ["Dan", "My canoe leaks badly"]]
    write_json(folder / "made.json.gz", [{"sessions": []}, {"sessions": [{"turns": turns}]}])
    asked = [
        ("a", "fact", 0, "What does the cello cost?", "40 euros"),
        ("b", "fact", 1, "What leaks?", "My canoe"),
        ("c", "no", 1, "Does the canoe float?", "no"),
    ]
    questions = [
        {"id": name, "kind": kind, "places": [[1, 0, turn]], "question": text, "answer": answer}
        for name, kind, turn, text, answer in asked
    ]
    write_json(folder / "asked.json.gz", questions)
    write_json(folder / "kept.json.gz", questions[:1])
    status = {
        "question": "Where does Eli live?",
        "speaker": "Eli",
        "text": "I no longer live in Ghent",
        "status": "ended",
        "kind": "span",
        "answer": "Ghent",
    }
    write_json(folder / "statuses.json.gz", [status])
    by_hand = status | {"text": "In Turin, if I get the job", "status": "supposed", "answer": "Turin"}
    (folder / "written.json").write_text(json.dumps([by_hand]))


def test_the_command_assembles_every_source(
    tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_inputs(tmp_path)
    by_hand = (
        {
            "sessions": [
                {
                    "turns": [
                        ["Mira", "Got the flat on Bell Street"],
                        ["Tom", "Ha"],
                        ["Mira", "On Mill Lane now"],
                    ]
                }
            ],
            "renewals": [
                {"question": "Where?", "holds": [[0, 2]], "older": [[0, 0]], "others": [[0, 1]]},
            ],
        },
        [
            {
                "kind": "para",
                "question": "Where did Mira settle?",
                "answer": "Bell Street",
                "places": [[0, 0]],
                "status": "true",
            }
        ],
    )
    monkeypatch.setattr(assemble, "read_all", lambda: iter([by_hand]))
    monkeypatch.setattr(assemble, "WRITTEN_STATUSES", tmp_path / "written.json")
    paths = {"train": ".", "made": "made.json.gz", "questions": "asked.json.gz", "kept": "kept.json.gz"}
    paths |= {"statuses": "statuses.json.gz", "out": "data.npz"}
    arguments = [part for name, path in paths.items() for part in (f"--{name}", str(tmp_path / path))]
    monkeypatch.setattr(sys, "argv", ["assemble.py", "--tokenizer", str(TOKENIZER), *arguments])
    assemble.main()

    made = np.load(tmp_path / "data.npz")
    own, asked, right = rows(made, "own"), rows(made, "asked"), rows(made, "right")
    answers = []
    for number, question in enumerate(asked):
        first, last = made["span"][number]
        told = own[right[number][0]]
        assert made["bank"][number] == made["bank_of"][right[number][0]]
        answers.append((words(tokenizer, question), words(tokenizer, told[first : last + 1])))
    assert answers == [
        ("where did mira settle?", "bell street"),
        ("where does ana row?", "the aire"),
        ("what does joey eat?", "pizza"),
        ("what does the cello cost?", "40 euros"),
        ("what leaks?", "my canoe"),
    ]
    hand, kept, raw = assemble.BY_HAND, assemble.FILTERED, assemble.RAW
    assert made["trust"].tolist() == [hand, kept, hand, kept, raw]
    assert made["status"].tolist() == [0, -1, -1, -1, -1]
    assert made["bank_of"].tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert made["renew.turns"].tolist() == [[0, 2], [0, 1]]
    assert made["renew.renews"].tolist() == [1, 0]
    statuses = {
        words(tokenizer, told[first : last + 1]): int(status)
        for told, (first, last), status in zip(
            rows(made, "status.own"), made["status.span"], made["status.status"], strict=True
        )
    }
    assert statuses == {"ghent": 4, "turin": 2}
